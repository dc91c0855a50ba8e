"""Texts of a store are split in one way: the first feed's, unless somebody changes it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from trustream.feeds import FeedError, change_tokeniser, ingest
from trustream.store import DocumentStore, Record, open_store
from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import CustomTokeniser

OTHER = Tokeniser(r"\w+", min_length=2, stop_words=(), lower=False)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        yield store


def add(store: DocumentStore, text: str, **options: Any) -> int:
    feed = io.BytesIO(text.encode())
    return ingest(store, feed, format="text", again=True, replace=False, **options).n_tokens


def words(store: DocumentStore) -> list[str]:
    return sorted(word for word in store.vocabulary().words if word is not None)


def shout(text: str) -> list[str]:
    return text.upper().split()


def test_the_first_feed_decides(store: DocumentStore) -> None:
    assert add(store, "The Cat c_1", tokenise=OTHER) == 3
    assert store.tokeniser() == OTHER
    assert add(store, "Dog c_2 x") == 2  # split in the same way, though nobody says so
    assert words(store) == ["Cat", "Dog", "The", "c_1", "c_2"]
    assert add(store, "Cat", tokenise=Tokeniser.from_dict(OTHER.to_dict())) == 1


def test_without_a_word_it_is_the_usual_one(store: DocumentStore) -> None:
    assert add(store, "The Cat c_1") == 1
    assert store.tokeniser() == Tokeniser()
    assert add(store, "A dog", tokenise=tokenise) == add(store, "A dog", tokenise=Tokeniser()) == 1


def test_another_one_is_refused(store: DocumentStore) -> None:
    add(store, "The Cat")
    before = store.totals()
    for other in (OTHER, shout):
        with pytest.raises(FeedError, match=r"splits texts in another way .*trustream tokeniser"):
            add(store, "Dog c_2", tokenise=other)
    assert store.totals() == before and store.tokeniser() == Tokeniser()


def test_a_store_of_an_earlier_version(store: DocumentStore) -> None:
    """It has documents and no tokeniser: nobody knows which it was, until somebody says so."""
    store.append([Record("a", ["Cat", "c_1"])])
    assert add(store, "The Dog c_2") == 1
    assert store.tokeniser() is None
    assert add(store, "The Dog c_2", tokenise=OTHER) == 3
    assert store.tokeniser() == OTHER
    with pytest.raises(FeedError, match="in another way"):
        add(store, "dog", tokenise=tokenise)


def test_functions_have_to_be_given_again(store: DocumentStore) -> None:
    assert add(store, "the cat", tokenise=shout) == 2
    assert store.tokeniser() == CustomTokeniser("tests.feeds.test_store_tokeniser.shout")
    with pytest.raises(FeedError, match=r"by the Python function tests.*shout: give tokenise="):
        add(store, "the dog")
    with pytest.raises(FeedError, match="in another way"):
        add(store, "the dog", tokenise=OTHER)
    assert add(store, "the dog", tokenise=shout) == 2
    assert words(store) == ["CAT", "DOG", "THE"]


def test_feeds_without_texts_need_none(store: DocumentStore, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("user,item,rating\nann,Alien,5\n")
    ingest(store, table, format="ratings")
    assert store.tokeniser() is None
    store.set_tokeniser(CustomTokeniser("a.b"))
    table.write_text("user,item,rating\nann,Alien,5\nbob,Brazil,2\n")
    assert ingest(store, table, format="ratings").n_records == 1


def test_a_feed_that_cannot_be_read_decides_nothing(store: DocumentStore, tmp_path: Path) -> None:
    with pytest.raises(FeedError, match="there is no file"):
        ingest(store, tmp_path / "none.txt", tokenise=OTHER)
    assert store.tokeniser() is None


def test_changed_while_a_feed_is_read(store: DocumentStore, tmp_path: Path) -> None:
    """It stops rather than mix two kinds of words, and goes on by the new one."""
    path = tmp_path / "notes.txt"
    path.write_text("Cat dog\nBird fish\nHorse cow\n")
    with pytest.raises(FeedError, match="was changed while texts were split by the one before"):
        ingest(store, path, batch=1, progress=lambda at: change_tokeniser(store, OTHER))
    assert words(store) == ["cat", "dog"]
    assert ingest(store, path).n_records == 2
    assert words(store) == ["Bird", "Horse", "cat", "cow", "dog", "fish"]


def test_changing_says_what_was_before(store: DocumentStore) -> None:
    add(store, "cat\ndog")
    change = change_tokeniser(store, OTHER)
    assert (change.before, change.now, change.n_documents) == (Tokeniser(), OTHER, 2)
    assert change.changed and not change_tokeniser(store, OTHER).changed
