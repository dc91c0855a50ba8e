"""What signatures repeat, so that people can read it there, is what `learning.defaults` says."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from trustream import LatentDirichletAllocation, TopicModel, TopicRecommender
from trustream.learning import defaults
from trustream.streaming.lda.model import TopicStream

NONE = inspect.Parameter.empty


def of_signature(function: Any) -> dict[str, Any]:
    found = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    return {name: default for name, default in found.items() if default is not NONE}


USUAL = of_signature(defaults.for_topics)
USUAL = {"learning_method": USUAL["method"], **USUAL}


@pytest.mark.parametrize(
    ("cls", "others"),
    [
        (LatentDirichletAllocation, set()),
        (TopicModel, set()),
        # Tested on articles, not on ratings; and how popular an item is has to be learned.
        (TopicRecommender, {"max_doc_update_iter", "learn_priors"}),
    ],
)
def test_estimators_have_the_defaults_of_topics(cls: type, others: set[str]) -> None:
    own = of_signature(cls)
    same = USUAL.keys() & own.keys() - others
    assert "max_iter" in same
    assert {name: own[name] for name in same} == {name: USUAL[name] for name in same}


def test_streams_have_those_of_topics_or_of_streams() -> None:
    own = {field.name: field.default for field in fields(TopicStream)}
    usual = {**USUAL, **defaults.STREAM}
    # A tau of streams depends on the number of topics.
    same = usual.keys() & own.keys() - {"learning_offset"}
    assert {"method", "tol", "population", "mean_change_tol"} <= same
    assert {name: own[name] for name in same} == {name: usual[name] for name in same}
    assert own["topic_word_prior"] == defaults.START_OF_ETA
    assert own["doc_topic_prior"] == defaults.start_of_alpha(2)
