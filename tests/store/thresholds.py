"""Sizes at which the store does something else, made so small that every test crosses them."""

from __future__ import annotations

import pytest

from trustream.store import (
    document_cache,
    document_frequencies,
    saved_bytes,
    word_numbers,
    writer,
)


def make_small(patch: pytest.MonkeyPatch) -> None:
    """A store made meanwhile must not be opened afterwards: its blocks are small too."""
    # Documents of three different words and more are not remembered, nor more than three.
    patch.setattr(document_cache, "_SMALL", 24)
    patch.setattr(document_cache, "_MOST", 3)
    patch.setattr(word_numbers, "_REMEMBERED", 5)
    patch.setattr(writer, "_AT_ONCE", 2)
    patch.setattr(document_frequencies, "BLOCK", 4)
    patch.setattr(saved_bytes, "_PART", 5)
