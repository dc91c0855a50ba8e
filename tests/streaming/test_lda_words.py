"""Words come and go; all others keep their lambda to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from trustream.models.lda import LazyRows, LdaPrior
from trustream.streaming.lda.words import followed, starts


def table(n_words: int, dtype: str = "float32") -> tuple[LazyRows, LdaPrior]:
    rng = np.random.default_rng(0)
    prior = LdaPrior.of(0.1, 0.3, 4, n_words)
    lambda_ = LazyRows.of(rng.gamma(1.0, 2.0, (n_words, 4)).astype(dtype))
    # As after some steps: scale and shift are not those of a fresh table.
    return lambda_.decayed(0.2, prior.eta, lambda_.totals * 0.8 + 0.06), prior


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_new_words_and_evictions(dtype: str) -> None:
    lambda_, prior = table(5, dtype)
    before = lambda_.dense(prior.pattern)
    new, new_prior = followed(lambda_, prior, [(1, "x"), (3, None), (5, "f"), (6, "g")], seed=3)
    after = new.dense(new_prior.pattern)
    assert after.shape == (7, 4)
    np.testing.assert_array_equal(after[[0, 2, 4]], before[[0, 2, 4]])
    for column, word in ((1, "x"), (5, "f"), (6, "g")):
        np.testing.assert_allclose(after[column], starts([word], 4, 3)[0], rtol=1e-5)
    np.testing.assert_allclose(after[3], 0.3, rtol=1e-5)
    # Right to begin with, and the same amount off where they were not.
    off = lambda_.totals - before.sum(axis=0, dtype=np.float64)
    np.testing.assert_allclose(new.totals - off, after.sum(axis=0, dtype=np.float64), rtol=1e-6)
    assert new_prior.pattern_sums.tolist() == [7.0] * 4
    assert new_prior.eta == 0.3


def test_a_words_start_does_not_depend_on_when_it_comes() -> None:
    empty = LazyRows(np.empty((0, 4), "float32"), 1.0, 0.0, np.zeros(4))
    prior = LdaPrior.of(0.1, 0.3, 4, 0)
    once, _ = followed(empty, prior, list(enumerate("abc")), 7)
    first, then = followed(empty, prior, [(0, "a")], 7)
    twice, _ = followed(first, then, [(1, "b"), (2, "c")], 7)
    np.testing.assert_array_equal(once.stored, twice.stored)
    np.testing.assert_allclose(once.totals, twice.totals, rtol=1e-12)


def test_without_a_seed_words_start_at_the_prior() -> None:
    lambda_, prior = table(3)
    new, new_prior = followed(lambda_, prior, [(3, "d")], None)
    np.testing.assert_allclose(new.dense(new_prior.pattern)[3], 0.3, rtol=1e-5)


def test_growing_word_by_word_rarely_copies() -> None:
    lambda_ = LazyRows(np.empty((0, 4), "float32"), 1.0, 0.0, np.zeros(4))
    prior = LdaPrior.of(0.1, 0.3, 4, 0)
    places = set()
    for i in range(1000):
        lambda_, prior = followed(lambda_, prior, [(i, f"w{i}")], 0)
        places.add(lambda_.stored.ctypes.data)
    assert len(places) < 40
    np.testing.assert_allclose(lambda_.stored[17], starts(["w17"], 4, 0)[0], rtol=1e-6)


def test_refusals() -> None:
    lambda_, prior = table(3)
    with pytest.raises(ValueError, match="5 columns after 3, but not all"):
        followed(lambda_, prior, [(4, "e")], 0)
    per_word = LdaPrior.of(0.1, np.full(3, 0.2), 4, 3)
    with pytest.raises(ValueError, match="the same for all words"):
        followed(lambda_, per_word, [(3, "d")], 0)
