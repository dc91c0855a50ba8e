"""Find out how the texts of a feed become words: as the store keeps it, or as the first feed says.

A store that is asked to split texts in two ways would have the same word under two names, and
nobody would notice; so a feed with another tokeniser than the store's is refused.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass

from trustream.feeds.errors import FeedError
from trustream.store.errors import StoreError
from trustream.store.limits import MAX_CHARACTERS
from trustream.store.protocol import Store
from trustream.text import BEFORE_MARKS, Tokeniser
from trustream.tokenisers import (
    CustomTokeniser,
    Specification,
    Tokenise,
    described,
    difference,
    function_of,
    python_name,
    specification,
)
from trustream.word_order import OrderedTokeniser

# Formats in which words come as words.
WITHOUT_TEXT = ("ratings", "uci", "ldac")


@dataclass(frozen=True, slots=True)
class TokeniserChange:
    """How a store splits texts, and how it did before.

    Attributes:
        before: the tokeniser that it had; None if none was kept.
        now: the one that it has.
        n_documents: documents that are in the store and keep their words.
    """

    before: Specification | None
    now: Specification
    n_documents: int

    @property
    def changed(self) -> bool:
        """Whether it was another one before."""
        return self.before != self.now


def change_tokeniser(store: Store, tokeniser: Tokenise) -> TokeniserChange:
    """Let a store split texts in another way from now on.

    Documents that are there keep the words that they have, and so does what a model has learned.
    To split them in the new way too, ingest their files again and replace them.

    >>> import tempfile
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/topics.db") as store:
    ...     change = change_tokeniser(store, Tokeniser(lower=False))
    ...     store.tokeniser().lower, change.before, change.n_documents
    (False, None, 0)
    """
    now, before = specification(tokeniser), None
    with suppress(StoreError):  # what cannot be read is replaced
        before = store.tokeniser()
    store.set_tokeniser(now)
    return TokeniserChange(before, now, store.totals().documents)


def agreed_tokeniser(store: Store, given: Tokenise | None, feed: str) -> Tokenise:
    """Return what splits the texts of a feed that is about to be read into a store.

    Args:
        store: keeps what is given if it has no tokeniser yet, and the usual one if it is empty.
        given: what the caller asks for; None leaves it to the store.
        feed: what errors call the feed.

    Raises:
        FeedError: the store has another tokeniser, or the name of a function that is not given.
    """
    kept = store.tokeniser()
    if kept is None:
        if given is None and store.totals().documents:
            # A store of an earlier version: what its texts were split by is not known, but it was
            # not by words with marks.
            return BEFORE_MARKS
        wanted = Tokeniser() if given is None else specification(given)
        kept = store.set_tokeniser(wanted, before=None) or wanted
    if given is None:
        if isinstance(kept, CustomTokeniser):
            raise FeedError(
                f"{store.name} has words by the Python function {kept.name}: give tokenise= the "
                f"function to read {feed}, or set a tokeniser by `trustream tokeniser`"
            )
        return function_of(kept)
    wanted = specification(given)
    if wanted != kept and isinstance(kept, CustomTokeniser) and not isinstance(given, Tokeniser):
        # It may have been registered since.
        wanted = python_name(given)
    if wanted != kept:
        raise FeedError(
            f"{store.name} splits texts in another way ({difference(kept, wanted)}): {feed} would "
            "get other words than its documents. Leave the tokeniser out, or change the store's "
            f"first, by the same options of `trustream tokeniser {shlex.quote(store.name)}`"
        )
    return given


def with_order(store: Store, tokenise: Tokenise) -> Tokenise:
    """Return the same tokeniser for a feed; one that tells the order of words if that is kept.

    Raises:
        FeedError: the store keeps the order, and the tokeniser is a function, which has none.
    """
    if not store.settings.keep_order:
        return tokenise
    kept = specification(tokenise)
    if not isinstance(kept, Tokeniser):
        raise FeedError(
            f"{store.name} keeps the order of words, to find phrases, and {described(kept)} come "
            "without one: set a tokeniser by `trustream tokeniser`, or make a store without "
            "keep_order"
        )
    return OrderedTokeniser(kept, MAX_CHARACTERS)


def check_unchanged(store: Store, before: Specification | None) -> None:
    """Raise an error if a store splits texts in another way than when a feed was begun."""
    if store.tokeniser() != before:
        raise FeedError(
            f"the tokeniser of {store.name} was changed while texts were split by the one before; "
            "what was read before is in the store, run it again for the rest"
        )
