"""How good a model is: held-out likelihood, coherence, stability, ranking.

Every function takes plain arrays, so that models of other libraries can be scored as well.
"""

from __future__ import annotations

from trustream.evaluation.coherence import Coherence, c_v, coherence, npmi, umass
from trustream.evaluation.topics import TopicMatch, diversity, match_topics

__all__ = [
    "Coherence",
    "TopicMatch",
    "c_v",
    "coherence",
    "diversity",
    "match_topics",
    "npmi",
    "umass",
]
