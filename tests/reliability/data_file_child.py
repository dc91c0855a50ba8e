"""Read damaged data files under limits; the child of `test_damaged_data_files`.

python -m tests.reliability.data_file_child NAME,NAME SEED START STOP
"""

from __future__ import annotations

import gzip
import io
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from tests.reliability.fuzz_child import bound_memory, bound_time
from tests.reliability.fuzzed_feeds import mutated, overwritten
from trustream.feeds import read_documents, read_matrix, read_ratings, read_vocabulary

SECONDS = 5
LONGEST = 1500
WORDS = ["cat", "dog", "tree"]
COUNTS = sparse.csr_array(np.array([[1, 0, 2], [0, 0, 0], [0, 3, 1]] * 20))
TOKENS = [
    b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"PK\3\4", b"PK\1\2", b"NUMPY", b"<f8",
    b"|O", b"(1000000000000,)", b"'shape': (", b"99999999999", b"-1", b"nan", b"1e999", b",", b"\n",
    b"[" * 3000, b'"', b"%%MatrixMarket matrix coordinate pattern general\n", b"9" * 5000,
    b"\x1b[2J",
]  # fmt: skip
MARKET_BYTES = b"0123456789 -+.e\n"
MARKET_TOKENS = [
    b"0", b"1", b"-1", b" ", b"\n", b"\n\n", b"1 1 1\n", b"0 0 1\n", b"99999999999 1 1\n", b"1e5",
    b"60 3\n", b"3 3 3\n", b"symmetric", b"skew-symmetric", b"hermitian", b"general", b"pattern",
    b"real", b"complex", b"integer", b"array", b"coordinate", b"nan", b"inf", b"%", b"\r",
    b"9" * 400,
]  # fmt: skip


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _sparse(compressed: bool) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, COUNTS, compressed=compressed)
    return file.getvalue()


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _mtx(matrix: Any) -> bytes:
    file = io.BytesIO()
    scipy_io.mmwrite(file, matrix)
    return file.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    likes = {"user": ["a", "b"] * 50, "item": list(range(100)), "rating": [3.5, 2.0] * 50}
    parquet.write_table(pa.table(likes), file, store_schema=False)
    return file.getvalue()


def seeds(name: str) -> list[bytes]:
    """Files of a kind that are right."""
    if name == "a.npz":
        return [_sparse(True), _sparse(False), _npz(x=COUNTS.toarray())]
    if name == "a.npy":
        return [_npy(COUNTS.toarray()), _npy(np.ones((3, 4, 5), np.float32))]
    if name == "a.mtx":
        return [_mtx(COUNTS), _mtx(COUNTS.toarray())]
    if name == "a.mtx.gz":
        return [gzip.compress(_mtx(COUNTS), mtime=0)]
    if name == "a.csv":
        return [b"cat,dog,tree\n1,2,3\n4,5,6\n", b"1,2\n3,4\n"]
    if name == "a.jsonl":
        return [b'{"text": "cat tree"}\n\n{"tokens": ["dog", "x"]}\n']
    if name == "a.TXT":
        return ["cat tree\ngröße\n".encode()]
    if name == "words":
        return ["cat\ndog\nbäume\n".encode()]
    if name == "ratings.csv":
        return [b"user,item,rating,timestamp\na,b,3,1\nb,7,4.5,2\n"]
    return [_parquet()]


READERS: dict[str, Callable[[Path], Any]] = {
    **{
        name: lambda path: read_matrix(path, WORDS)
        for name in ("a.npz", "a.npy", "a.mtx", "a.mtx.gz", "a.csv", "a.jsonl", "a.TXT")
    },
    "words": read_vocabulary,
    "documents.jsonl": lambda path: list(read_documents(path)),
    "ratings.csv": read_ratings,
    "ratings.pq": read_ratings,
}


def main(names: str, seed: str, start: int, stop: int) -> None:
    """A result or a ValueError of one line, whatever is in the files."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for name in names.split(","):
            path = Path(folder) / name
            path.write_bytes(seeds(name)[0])
            READERS[name](path)  # to load what is needed
        bound_memory()
        for name in names.split(","):
            path = Path(folder) / name
            for number in range(start, stop):
                print(f"{name} {number}", flush=True)
                bound_time(SECONDS)
                path.write_bytes(damaged(seeds(name), f"{name}-{seed}-{number}"))
                try:
                    READERS[name](path)
                except ValueError as error:
                    said = str(error)
                    assert name in said and len(said) < LONGEST and "\n" not in said, said
    print("done", flush=True)


def damaged(files: list[bytes], seed: str) -> bytes:
    """A file with something done to it."""
    rng = random.Random(seed)
    content = rng.choice(files)
    if content.startswith(b"%%Matrix") and rng.random() < 0.7:
        for _ in range(rng.choice([1, 1, 2, 4])):
            content = mutated(content, rng, MARKET_TOKENS, files, MARKET_BYTES)
        return content
    for _ in range(rng.choice([1, 1, 2, 4])):
        if rng.random() < 0.5:
            content = overwritten(content or b"\0", rng, TOKENS)
        else:
            content = mutated(content, rng, TOKENS, files)
    return content


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
