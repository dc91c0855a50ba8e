"""Every format gives the same matrix, or the same documents, and what is wrong is said."""

from __future__ import annotations

import io as streams
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io, sparse

from trustream.feeds import BadRecordError, read_documents, read_matrix, read_vocabulary

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
        (
            "a.npz",
            "not a zip",
            r"cannot read a\.npz: it is no file of NumPy, as \.npy and \.npz are$",
        ),
        ("a.csv", "1,2\n3,x\n", "could not convert"),
    ],
)
def test_bad_files(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_matrix(path)


def damages(path: Path) -> list[bytes]:
    """A file in which something is wrong, in several ways."""
    good = path.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 255]) + good[middle + 1 :]
    return [b"", good[:middle], good[:-5], good[: middle // 4], flipped, b"\xff" + good[1:]]


@pytest.mark.parametrize(
    "suffix", "npz parts.npz dense.npz npy mtx mtx.gz csv named.csv txt jsonl".split()
)
def test_damaged_files(suffix: str, tmp_path: Path) -> None:
    """A matrix or a ValueError in one sentence that names the file; mostly the latter."""
    path = write(tmp_path / f"counts.{suffix}")
    refused = 0
    for content in damages(path):
        path.write_bytes(content)
        try:
            read_matrix(path, WORDS)
        except ValueError as error:
            refused += 1
            assert path.name in str(error) and "\n" not in str(error)
    assert refused >= (1 if suffix == "txt" else 2)


def test_files_that_claim_too_much(tmp_path: Path) -> None:
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=r"cannot read a\.npy: it needs more memory than there is"):
        read_matrix(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": ' + "[" * 100_000, "nested deeper than 200 levels"),
        ('{"tokens": [' + "9" * 5000 + "]}", "has a number with thousands of digits"),
    ],
)
def test_deep_json_and_huge_numbers(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "cat"}}\n{line}\n')
    with pytest.raises(ValueError, match=rf"^a\.jsonl, line 2: {problem}"):
        list(read_documents(path))


def test_names_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "A.TXT").write_text("cat\n")
    (tmp_path / "A.JSONL").write_text('{"text": "cat"}\n')
    for name in ("A.TXT", "A.JSONL"):
        assert read_matrix(tmp_path / name, WORDS).toarray().tolist() == [[1, 0, 0]]


def test_a_vocabulary_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with pytest.raises(ValueError, match=r"cannot read words\.txt: No such file"):
        read_vocabulary(path)
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(ValueError, match=r"cannot read words\.txt: it is not UTF-8"):
        read_vocabulary(path)


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "cat"}\nnonsense\n')
    with pytest.raises(BadRecordError, match=r"^a\.jsonl, line 2: not JSON") as error:
        list(read_documents(path))
    assert (error.value.bad.file, error.value.bad.line) == ("a.jsonl", 2)
    path.write_text('{"words": "cat"}\n')
    with pytest.raises(ValueError, match="line 1: has none of text, tokens and counts, expected"):
        list(read_documents(path))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        read_matrix(tmp_path / "none.npz")


def test_an_archive_of_other_things(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=COUNTS, y=COUNTS)
    with pytest.raises(ValueError, match="expected a sparse matrix"):
        read_matrix(tmp_path / "a.npz")


@pytest.mark.parametrize(("there", "named"), [("npy", "npz"), ("npz", "npy")])
def test_the_name_of_the_other_kind(tmp_path: Path, there: str, named: str) -> None:
    write(tmp_path / f"b.{there}").rename(tmp_path / f"a.{named}")
    found = read_matrix(tmp_path / f"a.{named}")
    assert np.array_equal(found.toarray() if sparse.issparse(found) else found, COUNTS)


def test_a_single_number(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.float64(3.0))
    np.savez(tmp_path / "a.npz", np.float64(3.0))
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=f"{path.name} holds a single number .*, expected a m"):
            read_matrix(path)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("compressed", [True, False])
def test_whatever_scipy_saves(format: str, kind: str, compressed: bool, tmp_path: Path) -> None:
    matrix = getattr(sparse, f"{format}_{kind}")(COUNTS)
    sparse.save_npz(tmp_path / "counts.npz", matrix, compressed=compressed)
    found = read_matrix(tmp_path / "counts.npz")
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_array_equal(found.toarray(), COUNTS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": [0, 2, 1, 3]}, "counts.npz is a damaged csr matrix: row 2 has column 3"),
        # As int32 this would be column 1.
        ({"indices": [0, 2**32 + 1, 1, 2]}, "row 0 has column 4294967297"),
        ({"indices": [0.0, 2.0, 1.0, 2.0]}, "indices is an array .* float64"),
        ({"indptr": [0, 2, 1, 4]}, "indptr has row 1 from 2 to 1"),
        ({"indptr": [0, 2, 2, 9]}, "indptr has row 2 from 2 to 9"),
        ({"indptr": [0, 2, 4]}, "indptr has 3 numbers, expected 4"),
        ({"data": [1, 2]}, "indices has 4 numbers, data has 2"),
        ({"data": ["a", "b", "c", "d"]}, "counts.npz has entries of type <U1"),
        ({"shape": [3]}, r"counts.npz has the shape \[3\], expected two whole numbers"),
        ({"shape": [3, -3]}, "expected two whole numbers"),
        ({"shape": [3.0, 3.0]}, "expected two whole numbers"),
        ({"shape": [3, 2**40]}, "1,099,511,627,776 columns"),
        ({"format": "csc", "indptr": [0, 1, 2, 9]}, "damaged csc matrix: indptr has column 2"),
        ({"format": "coo"}, r"lacks the arrays \['row', 'col'\] of a coo matrix"),
        ({"format": "coo", "row": [0, 0, 2, 3], "col": [0, 2, 1, 2]}, "entry 3 has row 3 of 3"),
        ({"format": "coo", "coords": [[0, 0, 2, 2], [0, 2, 1, -1]]}, "entry 3 has column -1 of 3"),
        ({"format": "dia", "offsets": [0]}, "damaged dia matrix"),
        ({"format": "lil"}, "has the format 'lil', expected one of"),
        ({"format": 7}, "has the format 7"),
        ({"format": ["csr", "csr"]}, "has the format"),
    ],
)
def test_arrays_that_do_not_fit_together(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    matrix = sparse.csr_array(COUNTS)
    parts: dict[str, Any] = {
        name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")
    }
    np.savez(tmp_path / "counts.npz", **{**parts, **changes})
    with pytest.raises(ValueError, match=message):
        read_matrix(tmp_path / "counts.npz")


@pytest.mark.parametrize(
    "entry", ["4 1 1", "1 4 1", "0 1 1", "1 -1 1", "4294967297 1 1", "1 4294967298 1"]
)
def test_matrix_market_with_places_outside(entry: str, tmp_path: Path) -> None:
    path = tmp_path / "counts.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n3 3 1\n{entry}\n")
    with pytest.raises(ValueError):
        read_matrix(path)


def test_documents_by_any_reader_of_feeds(tmp_path: Path) -> None:
    """What `ingest` reads, `read_matrix` reads: compressed files, streams, tables and bags."""
    import gzip

    lines = "cat tree tree\n\ndog dog dog tree\n"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "docword.a.txt").write_text("3\n3\n4\n1 1 1\n1 3 2\n3 2 3\n3 3 1\n")
    counts = [{"cat": 1, "tree": 2}, {}, {"dog": 3, "tree": 1}]
    objects = "\n".join(json.dumps({"counts": words}) for words in counts)
    given: list[tuple[Any, dict[str, Any]]] = [
        (tmp_path / "a.txt.gz", {}),
        (streams.BytesIO(lines.encode()), {"format": "text"}),
        (streams.BytesIO(objects.encode()), {"format": "jsonl"}),
        (streams.BytesIO(b"text\ncat tree tree\n.\ndog dog dog tree\n"), {"format": "csv"}),
    ]
    for source, options in given:
        assert read_matrix(source, WORDS, **options).toarray().tolist() == COUNTS.tolist()
    # Bags name documents by number, and have none without words.
    bags = read_matrix(tmp_path / "docword.a.txt", WORDS)
    assert bags.toarray().tolist() == COUNTS[[0, 2]].tolist()


def test_documents_have_their_ids_or_the_number_of_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 7, "text": "cat"}\n\n{"text": "dog"}\n')
    assert [(document.key, document.words) for document in read_documents(path)] == [
        ("7", ["cat"]), ("a.jsonl:3", ["dog"]),
    ]  # fmt: skip
    with pytest.raises(BadRecordError, match="line 3: has no id"):
        list(read_documents(path, require_id=True))
    (tmp_path / "a.txt").write_text("cat\n\ndog\n")
    documents = list(read_documents(tmp_path / "a.txt"))
    assert [document.key for document in documents] == ["a.txt:1", "a.txt:2", "a.txt:3"]
    assert [list(document.words) for document in documents] == [["cat"], [], ["dog"]]


@pytest.mark.parametrize("values", [np.array([["a", "b"]]), np.array([[1 + 2j]])])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_arrays_without_numbers_are_refused(tmp_path: Path, values: Any, suffix: str) -> None:
    """Some commands sum what they read before an estimator looks at it."""
    path = tmp_path / f"a{suffix}"
    (np.save if suffix == ".npy" else np.savez)(path, values)
    with pytest.raises(
        ValueError, match=f"a{suffix} holds values of type .*, expected a matrix of"
    ):
        read_matrix(path)
