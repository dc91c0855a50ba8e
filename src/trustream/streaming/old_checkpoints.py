"""Checkpoints of version 1, which held LDA alone, read as those of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream._schema import (
    Array,
    Described,
    any_number,
    check_values,
    integer,
    mapping,
    number,
    optional,
)

_HEADER = {
    "stream": integer(1, 1),
    "arrival": integer(-1),
    "memory_count": optional(number(least=0.0)),
    "settings": mapping,
    "scale": number(above=0.0),
    "shift": number(least=0.0),
    "eta": number(above=0.0),
    "n_steps": integer(0),
    "n_seen": integer(0),
    "clock": mapping,
    "draws": mapping,
    "others": mapping,
    "best_score": optional(any_number),
    "last_score": optional(any_number),
}
# What its header held and arrays hold today.
_NUMBERS = {"lambda.scale": "scale", "lambda.shift": "shift", "prior.eta": "eta"}


def header(old: Any, entries: Mapping[str, Described]) -> dict[str, Any]:
    """The header of today; settings say all that a recipe would, arrays how many words."""
    check_values(old, _HEADER, "the header")
    stored = entries.get("lambda.stored")
    n_words = stored.shape[0] if stored is not None and stored.shape else 0
    kept = {key: old[key] for key in _HEADER if key not in (*_NUMBERS.values(), "memory_count")}
    memory = None if old["memory_count"] is None else "Draws"
    return {**kept, "n_words": n_words, "recipe": None, "memory": memory}


def table(today: Mapping[str, Array]) -> dict[str, Array]:
    """What the arrays of such a checkpoint must be."""
    missing = (*_NUMBERS, "prior.pattern", "prior.pattern_sums", "memory.count")
    return {name: array for name, array in today.items() if name not in missing}


def arrays(old: Mapping[str, Any], found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of today, from a header and arrays that were checked."""
    n_words, n_topics = found["lambda.stored"].shape
    made = {name: np.asarray(float(old[key])) for name, key in _NUMBERS.items()}
    made["prior.pattern"] = np.ones((1, 1))
    made["prior.pattern_sums"] = np.full(n_topics, float(n_words))
    if old["memory_count"] is not None:
        made["memory.count"] = np.asarray(old["memory_count"])
    return {**found, **made}
