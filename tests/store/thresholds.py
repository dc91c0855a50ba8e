"""Sizes at which the store does something else, made so small that every test crosses them."""

from __future__ import annotations

import pytest

from trustream.store import document_store, recent, word_counts, writing


def make_small(patch: pytest.MonkeyPatch) -> None:
    """A store made meanwhile must not be opened afterwards: its blocks are small too."""
    # Documents of three different words and more are not remembered, nor more than three.
    patch.setattr(recent, "_SMALL", 24)
    patch.setattr(recent, "_RECENT", 3)
    patch.setattr(writing, "_REMEMBERED", 5)
    patch.setattr(writing, "_AT_ONCE", 2)
    patch.setattr(word_counts, "BLOCK", 4)
    patch.setattr(document_store, "_PART", 5)
