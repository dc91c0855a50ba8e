"""Look up what a recipe is if users say nothing: a function for each kind of model.

`for_topics`, `for_stream`, `for_gaussians`, `for_bernoullis`, `for_sequences`, `for_regression` and
`for_factorization` turn the parameters of estimators and trainers into a `Recipe`, by facts about
models and data; each stands in the module of its kind, with its numbers and rules. `common` has
what several kinds share. The experiments behind the numbers are in docs/notes/defaults.md, and what
they mean for users in docs/defaults.md.
"""

from trustream.learning.defaults.common import EXACT_STEPS, READING_STEPS, READING_TOL
from trustream.learning.defaults.factorization import for_factorization
from trustream.learning.defaults.mixtures import for_bernoullis, for_gaussians, for_mixture
from trustream.learning.defaults.regression import (
    adds_exactly,
    for_regression,
    groups_of_start,
    regression_method,
)
from trustream.learning.defaults.sequences import for_sequences, starts_of_sequences
from trustream.learning.defaults.streams import STREAM, for_stream, stream_offset
from trustream.learning.defaults.topics import (
    LEAST_SEPARATION,
    PASSES,
    START_OF_ETA,
    for_topics,
    small_batch_tokens,
    start_of_alpha,
    starts_of_topics,
)

__all__ = [
    "EXACT_STEPS",
    "LEAST_SEPARATION",
    "PASSES",
    "READING_STEPS",
    "READING_TOL",
    "START_OF_ETA",
    "STREAM",
    "adds_exactly",
    "for_bernoullis",
    "for_factorization",
    "for_gaussians",
    "for_mixture",
    "for_regression",
    "for_sequences",
    "for_stream",
    "for_topics",
    "groups_of_start",
    "regression_method",
    "small_batch_tokens",
    "start_of_alpha",
    "starts_of_sequences",
    "starts_of_topics",
    "stream_offset",
]
