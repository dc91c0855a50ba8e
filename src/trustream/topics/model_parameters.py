"""Check the parameters of a `TopicModel`."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from trustream.evaluation.validation import whole_number
from trustream.phrases import Phrases
from trustream.text import Tokeniser


def drawn_seed(random_state: Any) -> int:
    """Return the integer that everything is drawn from."""
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if whole and 0 <= random_state < 2**32:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint32))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**32))
    raise ValueError(
        f"random_state is {random_state!r:.60}, expected an integer from 0 to 2**32 - 1, a "
        "Generator, a RandomState or None"
    )


def checked_phrases(value: Any, tokeniser: Any) -> bool | Phrases:
    """Return whether, or with which settings, phrases are found in the words of a tokeniser."""
    if not isinstance(value, bool | Phrases):
        raise ValueError(
            f"phrases is of type {type(value).__name__}, expected True, False or a Phrases; a list "
            "of phrases is for Tokeniser(phrases=...)"
        )
    if value and not isinstance(tokeniser, Tokeniser | None):
        raise ValueError(
            f"phrases are found in the words of a Tokeniser, and the tokeniser is of type "
            f"{type(tokeniser).__name__}: give a Tokeniser, or leave phrases out"
        )
    return value


def optional_number(name: str, value: Any, least: int) -> int | None:
    """Return a whole number, or None."""
    return None if value is None else whole_number(name, value, least)


def checked_share(value: Any) -> float | None:
    """Return a share above 0, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"max_fraction is {value!r}, expected a share above 0, up to 1, or None")
    return float(value)
