"""Data for a model: documents with ids, or matrices, told apart by name and by what is in them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from trustream.feeds import FeedError, data, read_data, read_matrix
from trustream.text import Tokeniser

WORDS = ["cat", "dog", "bird"]
TEXTS = 'id,text\na,"A cat, a dog"\nb,Birds\nc,bird bird\n'
COUNTS = [[1, 1, 0], [0, 0, 0], [0, 0, 2]]


def ids(found: data.Data) -> list[str]:
    return [document.key for document in found.rows]


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_a_table_of_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "new.csv", TEXTS)
    assert ids(read_data(path)) == ["a", "b", "c"]
    assert read_matrix(path, WORDS).toarray().tolist() == COUNTS
    other = write(tmp_path / "other.csv", TEXTS.replace("id,text", "key,body"))
    with pytest.raises(FeedError, match="no column 'text'; its columns are 'key', 'body'"):
        list(read_data(other).rows)
    assert ids(read_data(other, text_column="body", id_column="key")) == ["a", "b", "c"]
    assert ids(read_data(other, text_column="body")) == [
        "other.csv:2",
        "other.csv:3",
        "other.csv:4",
    ]
    cut = write(tmp_path / "cut.csv", TEXTS.replace(",", ";"))
    assert ids(read_data(cut, delimiter=";")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "rows", "columns"),
    [
        ("1,0,2\n0,1,0\n", [[1, 0, 2], [0, 1, 0]], None),
        ("\ufeff1,0,2\n0,1,0\n", [[1, 0, 2], [0, 1, 0]], None),
        ("cat,dog,text\n1,0,2\n", [[1, 0, 2]], ["cat", "dog", "text"]),
        ("# a,b\n1,2.5\n", [[1, 2.5]], ["a", "b"]),
        ("id,text\n1,2\n", [[1, 2]], ["id", "text"]),
    ],
)
def test_a_table_of_numbers(
    tmp_path: Path, content: str, rows: list[list[float]], columns: list[str] | None
) -> None:
    found = read_data(write(tmp_path / "new.csv", content))
    assert found.feed is None and found.columns == columns
    assert found.counts(None).tolist() == rows
    assert found.counts(None, 1).tolist() == rows[:1]


def test_numbers_as_texts_if_somebody_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "new.csv", "id,text\n1,2\n")
    split = Tokeniser(r"\d+", min_length=1)
    for options in ({"format": "csv"}, {"text_column": "text"}):
        (document,) = read_data(path, tokenise=split, **options).rows
        assert (document.key, document.words) == ("1", ["2"])
    assert ids(read_data(write(tmp_path / "empty.csv", "id,text\n"))) == []


def test_chunks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [" ".join(np.random.default_rng(i).choice(WORDS, 5)) for i in range(23)]
    path = write(tmp_path / "new.txt", "\n".join(lines))
    whole = read_matrix(path, WORDS)
    monkeypatch.setattr(data, "_CHUNK", 5)
    assert (read_matrix(path, WORDS) != whole).nnz == 0 and whole.shape == (23, 3)
    assert (read_data(path).counts(WORDS, 7) != whole[:7]).nnz == 0
    assert isinstance(whole, sparse.csr_array) and whole.dtype == np.int64
    assert read_matrix(write(path, ""), WORDS).shape == (0, 3)


def test_compressed_tables_and_streams(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "new.csv.gz"
    path.write_bytes(gzip.compress(TEXTS.encode()))
    assert ids(read_data(path)) == ["a", "b", "c"]
    assert ids(read_data(io.BytesIO(TEXTS.encode()), format="csv")) == ["a", "b", "c"]
    with pytest.raises(FeedError, match="cannot tell the format of stream"):
        read_data(io.BytesIO(TEXTS.encode()))


def test_ratings_are_no_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "films.csv", "user,item,rating\nann,Alien,5\nann,Brazil,4\n")
    with pytest.raises(FeedError, match="parts of documents: ingest them into a store"):
        read_data(path, format="ratings")
