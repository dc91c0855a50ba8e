"""Score models: held-out likelihood, coherence and stability of topics, ranking of items.

The functions take plain arrays, so that models of other libraries can be scored as well.
"""

from trustream.evaluation.completion import completion, completion_from
from trustream.evaluation.held_out_result import HeldOut
from trustream.evaluation.item_lists import top_items
from trustream.evaluation.item_ranking import ranking, ranking_of_lists
from trustream.evaluation.likelihood import chib, importance, left_to_right
from trustream.evaluation.lower_bound import Bound, bound
from trustream.evaluation.predictive_density import (
    Predictive,
    bernoulli_log_density,
    predictive,
    student_t_log_density,
)
from trustream.evaluation.ranking_result import Measure, Ranking
from trustream.evaluation.token_split import split_tokens
from trustream.evaluation.topic_coherence import (
    Coherence,
    c_v,
    coherence,
    coherence_of_counts,
    npmi,
    umass,
)
from trustream.evaluation.topic_comparison import (
    TopicMatch,
    diversity,
    match_topics,
    topic_distances,
)

__all__ = [
    "Bound",
    "Coherence",
    "HeldOut",
    "Measure",
    "Predictive",
    "Ranking",
    "TopicMatch",
    "bernoulli_log_density",
    "bound",
    "c_v",
    "chib",
    "coherence",
    "coherence_of_counts",
    "completion",
    "completion_from",
    "diversity",
    "importance",
    "left_to_right",
    "match_topics",
    "npmi",
    "predictive",
    "ranking",
    "ranking_of_lists",
    "split_tokens",
    "student_t_log_density",
    "top_items",
    "topic_distances",
    "umass",
]
