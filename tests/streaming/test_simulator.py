"""The simulated stream reveals every word once, in the paper's way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.helpers import random_counts
from trustream.streaming.simulator import ticks

WORDS = [f"word{v}" for v in range(50)]


def test_every_word_comes_once() -> None:
    counts = random_counts(np.random.default_rng(0), 40, 50, 8)
    seen: dict[str, Counter[str]] = {}
    for tick in ticks(counts, WORDS, rate=3.0, p=0.5, rng=np.random.default_rng(1)):
        assert all(len(record.words) == 1 for record in tick.records)
        assert tick.n_revealed == len(tick.records)
        assert len({record.key for record in tick.records}) == len(tick.records)
        for record in tick.records:
            seen.setdefault(record.key, Counter()).update(record.words)
    for document, row in enumerate(counts.toarray().astype(int)):
        expected = Counter({WORDS[v]: n for v, n in enumerate(row) if n})
        assert seen.pop(f"document-{document}", Counter()) == expected
    assert not seen


def test_rates() -> None:
    """Documents begin at the rate, and words of active ones come with probability p."""
    counts = np.full((3000, 2), 20)
    begun, revealed, active = [], 0, 0
    for tick in ticks(counts, ["a", "b"], rate=5.0, p=0.3, rng=np.random.default_rng(2)):
        begun.append(tick.n_begun)
        revealed += tick.n_revealed
        active += tick.n_active
        if tick.number == 200:
            break
    assert abs(begun[-1] - 1000) < 4 * np.sqrt(1000)
    # Nearly all active documents stay active, so that those after a tick are those in it.
    assert abs(revealed / active - 0.3) < 0.02


def test_whole_documents_come_once_and_at_once() -> None:
    counts = random_counts(np.random.default_rng(3), 30, 50, 8)
    keys = []
    for tick in ticks(counts, WORDS, rate=3.0, p=0.5, rng=np.random.default_rng(1), whole=True):
        keys += [record.key for record in tick.records]
        for record in tick.records:
            row = counts[[int(record.key.rpartition("-")[2])]].toarray()[0]
            assert len(record.words) == row.sum()
    assert len(keys) == len(set(keys)) == int((counts.sum(axis=1) > 0).sum())


def test_the_same_seed_gives_the_same_stream() -> None:
    counts = random_counts(np.random.default_rng(4), 20, 50, 5)
    one, two = (
        [
            tick.records
            for tick in ticks(counts, WORDS, rate=2.0, p=0.7, rng=np.random.default_rng(s))
        ]
        for s in (5, 5)
    )
    assert one == two


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "rate must be positive"),
        ({"p": 0.0}, "p lies in"),
        ({"p": 1.5}, "p lies in"),
        ({"words": ["a"]}, "2 columns, and there are 1 words"),
        ({"max_document_tokens": 1}, "document 0 of counts has 2 tokens, more than max_document"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    good = {"words": ["a", "b"], "rate": 1.0, "p": 0.5, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=message):
        next(ticks(np.ones((2, 2), int), **{**good, **options}))
