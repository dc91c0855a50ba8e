"""Document completion: the halves are exact, random, and nothing is lost between them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda
from trustream.evaluation import completion, completion_from, split_tokens, token_split


def random_counts(rng: np.random.Generator, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array(rng.poisson(0.3, size=shape) * rng.integers(1, 9, size=shape))


def test_split_is_in_halves_and_loses_nothing() -> None:
    rng = np.random.default_rng(0)
    counts = random_counts(rng, (40, 60))
    counts = sparse.vstack([counts, sparse.csr_array((1, 60), dtype=counts.dtype)]).tocsr()
    before = counts.copy()
    observed, hidden = split_tokens(counts, rng)
    assert (observed + hidden).toarray().tolist() == counts.toarray().tolist()
    length = counts.sum(axis=1)
    assert observed.sum(axis=1).tolist() == ((length + 1) // 2).tolist()
    assert observed.data.min() > 0 and hidden.data.min() > 0
    assert (before != counts).nnz == 0
    assert not any(np.shares_memory(part.data, counts.data) for part in (observed, hidden))


def test_split_is_random_over_tokens() -> None:
    # A word that makes up a third of the tokens makes up a third of each half.
    counts = sparse.csr_array(np.tile([10, 20], (2000, 1)))
    observed, _ = split_tokens(counts, np.random.default_rng(0))
    first = observed.toarray()[:, 0]
    hypergeometric_deviation = math.sqrt(15 * (1 / 3) * (2 / 3) * 15 / 29)
    assert abs(first.mean() - 5) < 4 * hypergeometric_deviation / math.sqrt(2000)
    assert abs(first.std() - hypergeometric_deviation) < 0.1


@pytest.mark.parametrize("sampled", [False, True])
def test_every_half_is_as_likely(sampled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the exact probabilities, for tokens taken one by one and for draws of counts."""
    monkeypatch.setattr(token_split, "MAX_DRAWN_ONE_BY_ONE", 0 if sampled else 100)
    document, n = [1, 4, 2], 20_000
    observed = split_tokens(np.tile(document, (n, 1)), 11)[0].toarray()
    found: dict[tuple[int, ...], int] = {}
    for half in map(tuple, observed.tolist()):
        found[half] = found.get(half, 0) + 1
    ways = {
        half: math.prod(map(math.comb, document, half))
        for half in np.ndindex(2, 5, 3)
        if sum(half) == 4
    }
    assert found.keys() == ways.keys()
    expected = {half: n * way / math.comb(7, 4) for half, way in ways.items()}
    chi_square = sum((found[half] - mean) ** 2 / mean for half, mean in expected.items())
    assert chi_square < 25  # six degrees of freedom: 22.5 once in a thousand


def test_counts_of_any_size_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """By draws, not token by token, which would take a minute for each of these documents."""
    largest = 2**31 - 1
    counts = np.zeros((20, 40), np.int64)
    counts[:, :30] = largest
    counts[7] = np.arange(40)  # an ordinary one
    observed, hidden = (half.toarray() for half in split_tokens(counts, 0))
    assert ((observed + hidden) == counts).all()
    length = counts.sum(axis=1)
    assert observed.sum(axis=1).tolist() == ((length + 1) // 2).tolist()
    # Of each word about half, up to a few of its standard deviations.
    big = counts == largest
    assert np.abs(observed[big] - largest / 2).max() < 6 * math.sqrt(largest) / 2
    assert observed[big].std() > math.sqrt(largest) / 2 / 2
    topics = np.random.default_rng(0).dirichlet(np.ones(40), size=3)
    found = completion(counts, topics, 0.5, random_state=0)
    assert np.isfinite(found.per_word)
    # An ordinary document has the half that it has among ordinary ones.
    monkeypatch.setattr(token_split, "MAX_DRAWN_ONE_BY_ONE", 10**6)
    few = np.where(counts == largest, 1, counts)
    assert split_tokens(few, 0)[0].toarray()[7].tolist() == observed[7].tolist()


def test_completion_against_dense_sum() -> None:
    rng = np.random.default_rng(1)
    theta = rng.dirichlet(np.ones(4), size=9)
    beta = rng.dirichlet(np.ones(30), size=4)
    hidden = random_counts(rng, (9, 30))
    dense = hidden.toarray()
    expected = (dense * np.log(theta @ beta)).sum() / dense.sum()
    found = completion_from(theta, beta, hidden)
    assert found.per_word == pytest.approx(expected, rel=1e-12)


def test_completion_of_flat_topics_is_minus_log_of_the_vocabulary() -> None:
    hidden = random_counts(np.random.default_rng(2), (5, 50))
    found = completion_from(np.full((5, 3), 1 / 3), np.full((3, 50), 1 / 50), hidden)
    assert found.per_word == pytest.approx(-math.log(50), rel=1e-12)


def test_completion_is_of_the_halves_that_the_seed_gives() -> None:
    """And its topics are those that the estimator's `transform` finds for the observed half."""
    rng = np.random.default_rng(3)
    counts, topics = planted_lda(rng, 3, 40, 60, 30, 0.2, 0.1)
    observed, hidden = split_tokens(counts, 5)
    again = completion(observed, topics, 0.2, hidden=hidden)
    found = completion(counts, topics, 0.2, random_state=5)
    np.testing.assert_allclose(found.per_document, again.per_document, rtol=1e-9)
    assert found.n_tokens.tolist() == hidden.sum(axis=1).tolist()
    uninformed = completion_from(np.full((60, 3), 1 / 3), topics, hidden)
    assert found.per_word > uninformed.per_word + 0.1
