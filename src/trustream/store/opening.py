"""Open a store by its address, and make it if it is new."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import EllipsisType
from typing import Any

from trustream.store.addresses import resolve_address
from trustream.store.database import Database, FirstSettings
from trustream.store.document_store import DocumentStore
from trustream.store.errors import StoreError
from trustream.store.kept_texts import KEPT_CHARACTERS, MAX_KEPT
from trustream.store.limits import name_fault
from trustream.store.records import Settings
from trustream.tokenisers import Specification, Tokenise, difference, specification


def open_store(
    url: str | Path,
    *,
    create: bool = True,
    held_out: float | EllipsisType = ...,
    min_documents: int | EllipsisType = ...,
    max_words: int | EllipsisType | None = ...,
    vocabulary: Iterable[str] | None = None,
    tokeniser: Tokenise | None = None,
    keep_text: bool | int | EllipsisType = ...,
    keep_order: bool | EllipsisType = ...,
) -> DocumentStore:
    """Open a document store, or make a new one if there is none.

    Args:
        url: path of a SQLite file, or `postgresql://user:password@host/database`; with
            `?schema=name` there may be several stores in a database. `env:NAME` is the address
            in an environment variable, `@path` the one in a file.
        create: whether to make a store that is not there.
        held_out: share of documents that trainers never learn from, 0 to 1, 1 not included.
        min_documents: a word becomes active once it is in that many documents.
        max_words: the most active words; None is no limit.
        vocabulary: the active words, once and for all, in the order of their columns.
        tokeniser: how texts become words, a `trustream.text.Tokeniser`; the store keeps it, if it
            does not have one yet. Of another function the name is kept.
        keep_text: whether to keep texts that records come with (`Record.text`), the first 10,000
            characters of each document; or how many characters instead. A new store keeps none
            unless it is told to.
        keep_order: whether to keep the order of the words of texts, so that phrases can be found
            in the documents of the store (`trustream.feeds.stored_phrases`). A new store does not
            unless it is told to.

    Settings that are left out are those that the store was made with, or the defaults of
    `Settings` for a new one.

    Raises:
        ValueError: a setting is out of range, or two contradict each other.
        StoreError: the database cannot be opened, is not a store, or has other settings.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(f"{folder}/topics.db", vocabulary=["cat", "dog"]) as store:
    ...         store.vocabulary().words
    ['cat', 'dog']
    """
    asked = {"held_out": held_out, "min_documents": min_documents, "max_words": max_words}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not ...}
    words = None if vocabulary is None else _check_vocabulary(vocabulary, given)
    _check(given)
    if keep_text is not ...:
        given["keep_text"] = _check_keep_text(keep_text)
    if keep_order is not ...:
        given["keep_order"] = _check_keep_order(keep_order, words is not None)
    kept = None if tokeniser is None else specification(tokeniser)
    settings = replace(Settings(), **given)
    if settings.keep_text is True:
        settings = replace(settings, keep_text=KEPT_CHARACTERS)
    if words is not None:
        settings = replace(settings, fixed=True, min_documents=1, max_words=None)

    def first(database: Database) -> Settings:
        if words:
            database.add_words(0, words)
            database.put_columns(((i, i) for i in range(len(words))), 1)
            counters = database.counters(write=True)
            counters.vocabulary, counters.words, counters.next_word = 1, len(words), len(words)
            database.put_counters(counters)
        return settings

    database = _open_database(resolve_address(url), create, first)
    try:
        store = DocumentStore(database)
        _compare(store, given, words)
        if kept is not None:
            _keep(store, kept)
    except BaseException:
        database.close()
        raise
    return store


def _open_database(url: str, create: bool, first: FirstSettings) -> Database:
    # Loaded here, so that SQLite needs no driver of PostgreSQL.
    scheme = re.match(r"([a-z][a-z0-9+.-]*)://", url)
    if scheme is None:
        from trustream.store.sqlite import SqliteDatabase

        return SqliteDatabase(url, create=create, first=first)
    if scheme[1] in ("postgresql", "postgres"):
        from trustream.store.postgres import PostgresDatabase

        return PostgresDatabase(url, create=create, first=first)
    raise StoreError(
        f"there is no store for {scheme[1]}://; give the path of a SQLite file, or postgresql://..."
    )


def _check(given: dict[str, Any]) -> None:
    held_out = given.get("held_out", 0.0)
    if isinstance(held_out, bool) or not isinstance(held_out, int | float):
        raise ValueError(f"held_out is {held_out!r}; give a number from 0 up to 1")
    if not (math.isfinite(held_out) and 0 <= held_out < 1):
        raise ValueError(f"held_out is {held_out}; give a share from 0 up to, but below, 1")
    for name in ("min_documents", "max_words"):
        value = given.get(name, 1)
        if name == "max_words" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}; give a whole number, 1 or more")


def _check_keep_text(value: Any) -> int:
    """Characters, or True for as many as the store has, or usually has."""
    if value is False:
        return 0
    if value is not True and not (isinstance(value, int) and 0 <= value <= MAX_KEPT):
        raise ValueError(
            f"keep_text is {value!r}; give True, False, or a number of characters up to {MAX_KEPT}"
        )
    return value


def _check_keep_order(value: Any, fixed: bool) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"keep_order is {value!r:.60}; give True or False")
    if value and fixed:
        raise ValueError(
            "keep_order is for finding phrases, which become new words, and a fixed vocabulary "
            "takes none; give one of them"
        )
    return value


def _check_vocabulary(vocabulary: Iterable[str], given: dict[str, Any]) -> list[str]:
    for name in ("min_documents", "max_words"):
        if name in given:
            raise ValueError(f"{name} has no meaning for a fixed vocabulary; leave it out")
    if isinstance(vocabulary, str):
        raise ValueError("vocabulary is one string; give a list of words")
    words = list(vocabulary)
    if not words:
        raise ValueError("vocabulary has no words; give some, or None for one that grows")
    lines: dict[str, int] = {}
    for i, word in enumerate(words):
        fault = name_fault(word)
        if fault is not None:
            raise ValueError(f"vocabulary: word {i} {fault}")
        if word in lines:
            raise ValueError(
                f"vocabulary has {word!r} twice, as words {lines[word]} and {i} (counted from 0); "
                "remove one"
            )
        lines[word] = i
    return words


def _compare(store: DocumentStore, given: dict[str, Any], words: list[str] | None) -> None:
    """Raise an error for settings that the store was not made with."""
    for name, value in given.items():
        kept = getattr(store.settings, name)
        if value != kept and not (name == "keep_text" and value is True and kept):
            raise StoreError(
                f"{store.name} was made with {name}={kept!r}, not {value!r}; leave {name} out, "
                "or make a new store"
            )
    if words is None:
        return
    if not store.settings.fixed:
        raise StoreError(
            f"{store.name} was made with a vocabulary that grows; leave vocabulary out, "
            "or make a new store"
        )
    if store.vocabulary().words != words:
        raise StoreError(
            f"{store.name} was made with another vocabulary; leave vocabulary out, "
            "or make a new store"
        )


def _keep(store: DocumentStore, tokeniser: Specification) -> None:
    """Keep a tokeniser, or raise an error if the store has another."""
    kept = store.set_tokeniser(tokeniser, before=None)
    if kept is not None and kept != tokeniser:
        raise StoreError(
            f"{store.name} splits texts in another way ({difference(kept, tokeniser)}); leave the "
            "tokeniser out, or change it: trustream tokeniser STORE"
        )
