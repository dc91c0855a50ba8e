"""A folder of files that are not what a command expects, and a few that are."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sqlite3
from pathlib import Path

import numpy as np
from scipy import sparse

import trustream
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import save_settings

WORDS = "cat dog bird fish bank bond rate coin".split()
HOSTILE = "na\x1b[31mme\u202e[red]"


def make(folder: Path) -> Path:
    """Fill the folder; names that begin with `good` are what commands want."""
    _text(folder)
    _matrices(folder)
    _models(folder)
    _stores(folder)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "nothing").write_bytes(b"")
    (folder / os.fsdecode(b"bytes\xff\xfe.jsonl")).write_bytes(b"\xff\xfe{}\n")
    (folder / f"{HOSTILE}.jsonl").write_text(json.dumps({HOSTILE: HOSTILE}) + "\n")
    return folder


def _text(folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [json.dumps({"id": f"d{i}", "text": " ".join(rng.choice(WORDS, 9))}) for i in range(40)]
    feed = ("\n".join(rows) + "\n").encode()
    (folder / "good.jsonl").write_bytes(feed)
    (folder / "good.txt").write_text("a cat and a dog\nbank bond\n")
    (folder / "good_words.txt").write_text("\n".join(WORDS))
    for name, packed in (("gz", gzip.compress(feed)), ("bz2", bz2.compress(feed)),
                         ("xz", lzma.compress(feed))):  # fmt: skip
        (folder / f"cut.jsonl.{name}").write_bytes(packed[: len(packed) // 2])
        (folder / f"flipped.jsonl.{name}").write_bytes(_flipped(packed, len(packed) // 2))
        (folder / f"false.jsonl.{name}").write_bytes(b"not packed at all\n")
    (folder / "deep.jsonl").write_text("[" * 100_000 + "\n")
    (folder / "deep_object.jsonl").write_text('{"a":' * 50_000 + "1" + "}" * 50_000 + "\n")
    (folder / "nonsense.jsonl").write_text('{"id": 1}\n[]\nnull\n{"text": 3}\n"x"\n{"id": "a"\n')
    (folder / "nul.txt").write_bytes(b"\0" * 1000)
    (folder / "latin.txt").write_bytes("Jos\xe9 ni\xf1o\n".encode("latin-1") * 5)
    (folder / "long_word.txt").write_text("x" * 100_000)
    (folder / "twice_words.txt").write_text("cat\ncat\n")
    (folder / "few_words.txt").write_text("cat\n")
    (folder / "bad.parquet").write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")
    (folder / "bad.xml").write_text("<mediawiki><page><title>a</title>")
    (folder / "bomb.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><mediawiki>&b;</mediawiki>')
    (folder / "good_ratings.csv").write_text(
        "user,item,rating\n" + "".join(f"u{i},{WORDS[i % 8]},{i % 5}\n" for i in range(30))
    )
    (folder / "bad_ratings.csv").write_text("user,item,rating\na,b,x\na,b\n\n,,\n")
    (folder / "hostile_ratings.csv").write_text(f"user,item,rating\n{HOSTILE},{HOSTILE},nan\n")


def _matrices(folder: Path) -> None:
    counts = np.random.default_rng(1).poisson(1.0, (12, len(WORDS)))
    np.save(folder / "good.npy", counts)
    sparse.save_npz(folder / "good.npz", sparse.csr_array(counts))
    packed = (folder / "good.npz").read_bytes()
    (folder / "cut.npz").write_bytes(packed[: len(packed) // 2])
    (folder / "flipped.npz").write_bytes(_flipped(packed, len(packed) // 3))
    (folder / "false.npz").write_bytes(b"PK\x03\x04" + b"x" * 50)
    np.savez(folder / "several.npz", a=counts, b=counts)
    np.savez(folder / "pickled.npz", np.array([{}, None]))
    np.save(folder / "pickled.npy", np.array([{}, None]))
    plain = (folder / "good.npy").read_bytes()
    (folder / "cut.npy").write_bytes(plain[:100])
    # A header that claims far more than any memory holds.
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        huge, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)}
    )
    (folder / "huge.npy").write_bytes(huge.getvalue() + b"\0" * 100)
    np.save(folder / "wide.npy", np.ones((3, 99)))
    np.save(folder / "text.npy", np.array([["a", "b"]]))
    np.save(folder / "negative.npy", -np.ones((3, len(WORDS))))
    np.save(folder / "nan.npy", np.full((3, len(WORDS)), np.nan))
    np.save(folder / "flat.npy", np.ones(8))
    np.save(folder / "number.npy", np.float64(3.0))
    np.save(folder / "solid.npy", np.ones((2, 2, 2)))
    (folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 9\n1 1 x\n")
    (folder / "cut.mtx.gz").write_bytes(gzip.compress(b"%%MatrixMarket matrix\n" * 99)[:40])
    (folder / "bad.csv").write_text("a,b\n1,2\n3\nx,y\n")


def _models(folder: Path) -> None:
    counts = np.load(folder / "good.npy")
    lda = trustream.LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(counts)
    lda.save(folder / "good.model")
    trustream.GaussianMixture(2, max_iter=1, random_state=0).fit(counts).save(
        folder / "mixture.model"
    )
    trustream.TopicRecommender(2, max_iter=1, random_state=0).fit(counts).save(
        folder / "good_recommender.model"
    )
    packed = (folder / "good.model").read_bytes()
    (folder / "cut.model").write_bytes(packed[: len(packed) // 2])
    (folder / "flipped.model").write_bytes(_flipped(packed, 40))
    (folder / "claims.model").write_bytes(b"\xff" * 7 + b"\x7f" + packed[8:])
    (folder / "other.model").write_bytes(
        b"\x02\0\0\0\0\0\0\0{}" + b"\0" * 20
    )  # of no estimator at all


def _stores(folder: Path) -> None:
    from tests.reliability.wrong_calls import call

    for arguments in (
        ["init", "good.db", "--topics", 2, "--min-documents", 1, "--batch", 5],
        ["ingest", "good.db", "good.jsonl"],
        ["train", "good.db", "--steps", 2],
        ["init", "new.db", "--topics", 2],
    ):
        assert call(folder, *arguments).exit_code == 0
    trustream.open_store(folder / "bare.db").close()
    # Its model is no model.
    with trustream.open_store(folder / "spoilt.db", min_documents=1) as store:
        save_settings(store, TopicStream(n_components=2))
        store.save("model", (folder / "flipped.model").read_bytes())
    with sqlite3.connect(folder / "foreign.db") as other:
        other.execute("CREATE TABLE documents (a, b)")
    other.close()
    whole = (folder / "good.db").read_bytes()
    (folder / "cut.db").write_bytes(whole[: len(whole) // 2])
    (folder / "torn.db").write_bytes(whole[:100] + os.urandom(4000) + whole[4100:])
    (folder / "false.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)


def _flipped(content: bytes, place: int) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 0xFF
    return bytes(changed)
