"""How good a model is: held-out likelihood, coherence, stability, ranking.

Every function takes plain arrays, so that models of other libraries can be scored as well.
"""

from __future__ import annotations

from trustream.evaluation.bound import Bound, bound
from trustream.evaluation.coherence import Coherence, c_v, coherence, npmi, umass
from trustream.evaluation.item_lists import top_items
from trustream.evaluation.predictive import (
    Predictive,
    bernoulli_log_density,
    predictive,
    student_t_log_density,
)
from trustream.evaluation.ranking import ranking, ranking_of_lists
from trustream.evaluation.ranking_result import Measure, Ranking
from trustream.evaluation.topics import TopicMatch, diversity, match_topics

__all__ = [
    "Bound",
    "Coherence",
    "Measure",
    "Predictive",
    "Ranking",
    "TopicMatch",
    "bernoulli_log_density",
    "bound",
    "c_v",
    "coherence",
    "diversity",
    "match_topics",
    "npmi",
    "predictive",
    "ranking",
    "ranking_of_lists",
    "student_t_log_density",
    "top_items",
    "umass",
]
