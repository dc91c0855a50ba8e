"""A corpus that is scored in parts has the scores of the whole, bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from trustream import LatentDirichletAllocation, evaluation
from trustream.evaluation.report import TOPIC_MEASURES, report
from trustream.evaluation.scores_in_parts import PartScorer, joined_report, joined_scores


@pytest.fixture(scope="module")
def fitted() -> tuple[LatentDirichletAllocation, sparse.csr_array]:
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.dirichlet(np.full(40, 0.1), 90) * 30)
    counts[[0, 1, 2, 50]] = 0
    counts[3:6] = np.eye(40, dtype=int)[:3]  # no half of a single token can be hidden
    lda = LatentDirichletAllocation(3, random_state=0, max_iter=2).fit(counts[10:])
    return lda, sparse.csr_array(counts)


@pytest.mark.parametrize("edges", [[0, 90], [0, 3, 6, 50, 51, 90], [0, 1, 2, 3, 45, 90]])
@pytest.mark.parametrize("measure", TOPIC_MEASURES)
def test_report_of_parts_is_that_of_the_whole(fitted: Any, measure: str, edges: list[int]) -> None:
    lda, counts = fitted
    scorer = PartScorer(lda, [measure], random_state=7)
    parts = [scorer.score(counts[a:b], a) for a, b in pairwise(edges)]
    assert joined_report(lda, parts, [measure]) == report(
        lda, counts, measures=[measure], random_state=7
    )


@pytest.mark.parametrize("method", ["chib", "left_to_right", "completion", "importance"])
def test_first_document_continues_the_random_streams(fitted: Any, method: str) -> None:
    lda, counts = fitted
    estimate = getattr(lda, method)
    whole = estimate(counts, random_state=3)
    rest = estimate(counts[30:], random_state=3, first_document=30)
    np.testing.assert_array_equal(rest.per_document, whole.per_document[30:])
    # The negative control: without it, other random numbers are drawn.
    other = estimate(counts[30:], random_state=3)
    assert (other.per_document != whole.per_document[30:]).any()


def test_standard_error_of_parts(fitted: Any) -> None:
    lda, counts = fitted
    whole = lda.chib(counts, random_state=0)
    scorer = PartScorer(lda, ["chib"])
    parts = [scorer.score(counts[a:b], a).held_out["chib"] for a, b in ((0, 3), (3, 90))]
    joined = joined_scores(parts)
    assert joined.standard_error == whole.standard_error
    assert joined.standard_error_documents == whole.standard_error_documents


def test_wrong_arguments(fitted: Any) -> None:
    lda, counts = fitted
    with pytest.raises(ValueError, match="measure must be one of"):
        PartScorer(lda, ["chibs"])
    with pytest.raises(ValueError, match="first_document must be an integer of at least 0, got -1"):
        evaluation.chib(counts, np.full((1, 40), 1 / 40), 0.1, first_document=-1)
    scorer = PartScorer(lda, ["chib"])
    with pytest.raises(ValueError, match="3 documents and no tokens"):
        joined_report(lda, [scorer.score(counts[:3], 0)], ["chib"])
    completing = PartScorer(lda, ["completion"])
    with pytest.raises(ValueError, match="no document has two tokens"):
        joined_report(lda, [completing.score(counts[3:6], 0)], ["completion"])


def test_only_topic_models() -> None:
    from trustream import BernoulliMixture

    mixture = BernoulliMixture(2, random_state=0).fit([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="BernoulliMixture is no topic model"):
        PartScorer(mixture)
