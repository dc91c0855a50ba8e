"""A user's own MediaWiki dump instead of `wiki_en.npz`."""

from __future__ import annotations

import bz2
from pathlib import Path

import numpy as np
import pytest

from experiments import articles, dump
from tests.experiments import tiny

WORDS = [f"{a}{b}nd" for a in "bdfgklmprs" for b in "aeiou"]


def page(number: int, words: list[str], ns: int = 0, more: str = "") -> str:
    text = f"'''{words[0]}''' [[{words[1]}]] " + " ".join(words[2:]) + " {{box|hidden}}"
    return (
        f"<page><title>T{number}</title><ns>{ns}</ns><id>{number}</id>{more}<revision>"
        f"<timestamp>2020-01-01T00:00:00Z</timestamp><text>{text}</text></revision></page>\n"
    )


def write(path: Path, n: int = 30) -> list[list[str]]:
    """A dump of `n` articles of 12 words, and what is none; returns the words of the articles."""
    rng = np.random.default_rng(0)
    texts = [[*rng.choice(WORDS, 12, replace=False).tolist(), "rare" + "x" * i] for i in range(n)]
    pages = [page(i, text) for i, text in enumerate(texts)]
    pages += [page(n, WORDS, ns=1), page(n + 1, WORDS, more='<redirect title="T0" />')]
    pages.append("<page><title>broken</page>\n")
    content = ("<mediawiki>\n" + "".join(pages) + "</mediawiki>\n").encode()
    path.write_bytes(bz2.compress(content) if path.suffix == ".bz2" else content)
    return texts


@pytest.mark.parametrize("name", ["wiki.xml", "wiki.xml.bz2", "wiki1.xml-p1p31.bz2"])
def test_counts_are_those_of_the_articles(tmp_path: Path, name: str) -> None:
    texts = write(tmp_path / name)
    chosen = [*WORDS[:40], "hidden"]
    (tmp_path / dump.VOCABULARY).write_text("\n".join(chosen))
    tiny.articles(tmp_path)  # the dump goes first
    found, source = articles.load(tmp_path, None, 3, 2)
    counts = np.concatenate([part.toarray() for part in found])
    expected = np.array([[text.count(word) for word in chosen] for text in texts])
    enough = expected[(expected > 0).sum(axis=1) >= 10]
    assert sorted(map(tuple, counts)) == sorted(map(tuple, enough))
    assert len(enough) > 5
    assert source.files == [name]
    assert name in source.name
    assert "1 pages could not be read" in source.note


def test_words_are_those_in_most_articles_where_no_list_is_given(tmp_path: Path) -> None:
    texts = write(tmp_path / "wiki.xml")
    matrix, _, note = dump.counts([tmp_path / "wiki.xml"], tmp_path / dump.VOCABULARY)
    assert matrix.shape == (30, len(WORDS))
    assert "the 50 that are in most articles" in note
    each = sorted((sum(word in text for text in texts) for word in WORDS), reverse=True)
    assert (matrix > 0).sum(axis=0).tolist() == [each]


def test_a_dump_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wiki.xml"
    write(path)
    first, digest, note = dump.counts([path], tmp_path / dump.VOCABULARY)
    with monkeypatch.context() as patch:
        patch.setattr(dump, "_count", None)
        again, *rest = dump.counts([path], tmp_path / dump.VOCABULARY)
    assert rest == [digest, note]
    assert (first != again).nnz == 0
    write(path, n=20)
    other, *_ = dump.counts([path], tmp_path / dump.VOCABULARY)
    assert other.shape[0] == 20
    assert dump.find(tmp_path) == [path]


def test_articles_come_in_random_order(tmp_path: Path) -> None:
    """Held out are the first ones, which must not be the oldest."""
    texts = write(tmp_path / "wiki.xml")
    (tmp_path / dump.VOCABULARY).write_text("\n".join(WORDS))
    matrix, *_ = dump.counts([tmp_path / "wiki.xml"], tmp_path / dump.VOCABULARY)
    in_order = np.array([[text.count(word) for word in WORDS] for text in texts])
    assert not np.array_equal(matrix.toarray(), in_order)
    assert sorted(map(tuple, matrix.toarray())) == sorted(map(tuple, in_order))
