"""Texts about pets, money and sport, for tests of models of texts."""

from __future__ import annotations

import numpy as np

SUBJECTS = (
    "cat dog bird fish horse rabbit hamster puppy kitten parrot".split(),
    "bank bond rate stock coin loan market credit dollar budget".split(),
    "team goal match league player coach season score winner stadium".split(),
)


def texts_about(subjects: list[int], seed: int = 0, length: int = 12) -> list[str]:
    """Return a text for each of the subjects, by number, with stop words in between."""
    rng = np.random.default_rng(seed)
    return [" and the ".join(rng.choice(SUBJECTS[i], length)).capitalize() + "." for i in subjects]


def mixed_texts(n: int, seed: int = 0) -> list[str]:
    """Return n texts, by turns about each of the subjects."""
    return texts_about([i % len(SUBJECTS) for i in range(n)], seed)
