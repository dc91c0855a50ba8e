"""Every format gives the same matrix, and what is wrong with a file is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io, sparse

from trustream.reading import read_documents, read_matrix, read_vocabulary

COUNTS = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 1]])
WORDS = ["cat", "dog", "tree"]


def write(path: Path) -> Path:
    matrix = sparse.csr_array(COUNTS)
    suffix = path.name.partition(".")[2]
    if suffix == "npz":
        sparse.save_npz(path, matrix)
    elif suffix == "parts.npz":
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        np.savez(path, shape=matrix.shape, **parts)
    elif suffix == "dense.npz":
        np.savez(path, COUNTS)
    elif suffix == "npy":
        np.save(path, COUNTS)
    elif suffix in ("mtx", "mtx.gz"):
        io.mmwrite(path.with_suffix("") if suffix == "mtx.gz" else path, matrix)
        if suffix == "mtx.gz":
            import gzip

            path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    elif suffix == "csv":
        np.savetxt(path, COUNTS, delimiter=",")
    elif suffix == "named.csv":
        np.savetxt(path, COUNTS, delimiter=",", header="cat,dog,tree", comments="")
    elif suffix == "txt":
        path.write_text("Cat, the tree. A TREE!\nnothing known\ndog dog dog tree\n")
    else:
        documents: list[dict[str, Any]] = [
            {"text": "cat tree tree"},
            {"tokens": []},
            {"tokens": ["dog", "dog", "dog", "tree", "unknown"]},
        ]
        path.write_text("\n".join(json.dumps(document) for document in documents))
    return path


@pytest.mark.parametrize(
    "suffix",
    "npz parts.npz dense.npz npy mtx mtx.gz csv named.csv txt jsonl".split(),
)
def test_every_format(suffix: str, tmp_path: Path) -> None:
    matrix = read_matrix(write(tmp_path / f"counts.{suffix}"), WORDS)
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(dense, COUNTS)


def test_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("cat\n dog \n\ntree\n")
    assert read_vocabulary(path) == WORDS
    path.write_text("cat\ndog\ncat\n")
    with pytest.raises(ValueError, match="'cat' twice"):
        read_vocabulary(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "cat", "give a vocabulary"),
        ("a.jsonl", "{", "give a vocabulary"),
        ("a.xyz", "", "by its name; known are"),
        ("a.npz", "not a zip", "cannot read a.npz|pickle"),
        ("a.csv", "1,2\n3,x\n", "could not convert"),
    ],
)
def test_bad_files(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_matrix(path)


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "cat"}\nnonsense\n')
    with pytest.raises(ValueError, match="line 2: not JSON"):
        list(read_documents(path))
    path.write_text('{"words": "cat"}\n')
    with pytest.raises(ValueError, match='line 1: expected an object with "text" or "tokens"'):
        list(read_documents(path))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        read_matrix(tmp_path / "none.npz")


def test_an_archive_of_other_things(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=COUNTS, y=COUNTS)
    with pytest.raises(ValueError, match="expected a sparse matrix"):
        read_matrix(tmp_path / "a.npz")
