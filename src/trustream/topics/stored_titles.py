"""Titles and excerpts of documents in a store, without what computes with topics."""

from __future__ import annotations

from collections.abc import Sequence

from trustream.store.protocol import Store
from trustream.topics.texts import excerpt


def titles_and_excerpts(
    store: Store, keys: Sequence[str]
) -> tuple[list[str | None], list[str | None]]:
    """Return the title and the excerpt of each of some documents, None for those without.

    A document without a title has the beginning of its text for one.

    Parameters
    ----------
    store : Store
    keys : sequence of str

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", keep_text=True) as store:
    ...         _ = store.append([Record("a", ["cats"], text="Cats."), Record("b", ["dogs"])])
    ...         titles_and_excerpts(store, ["b", "a"])
    ([None, 'Cats.'], [None, 'Cats.'])
    """
    kept = store.texts(keys)
    found = [kept.get(key) for key in keys]
    excerpts = [None if text is None else excerpt(text.text) or None for text in found]
    titles = [
        start if text is None or not text.title else excerpt(text.title) or start
        for text, start in zip(found, excerpts, strict=True)
    ]
    return titles, excerpts
