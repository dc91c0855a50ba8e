"""The defaults of streams of documents, where they differ from those of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trustream.learning.defaults.topics import for_topics
from trustream.learning.recipe import LEAST_STEPS, Recipe

# Tau of a stream, for at most so many topics: the more topics there are, the smaller the first
# rates have to be, or topics fall out of use whenever the rate begins anew.
_STREAM_OFFSET, _FEW_TOPICS = 5.0, 100
# What else differs on a stream.
STREAM: dict[str, Any] = {
    "learning_decay": 0.5,
    "cooldown": 0.0,
    "tol": 0.01,
}


def stream_offset(n_components: int) -> float:
    """Where the learning rate of a stream begins, tau of rho = (tau + t)^-kappa.

    >>> [stream_offset(n) for n in (2, 100, 400)]
    [5.0, 5.0, 20.0]
    """
    return _STREAM_OFFSET * max(1.0, n_components / _FEW_TOPICS)


def for_stream(n_components: int, **options: Any) -> Recipe:
    """The recipe of LDA on a stream; options as in `for_topics`, None where the default will do.

    A stream has no end towards which its rate could cool down: `streaming.clock` says what the
    rate depends on. What runs until it converges may stop sooner, since more will come.

    >>> for_stream(100).tau, for_stream(100, learning_offset=10.0).tau
    (5.0, 10.0)
    """
    optional = ("population", "max_doc_topics")
    given = {name: v for name, v in options.items() if v is not None or name in optional}
    usual = {"learning_offset": stream_offset(n_components), **STREAM}
    recipe = for_topics(n_components, **{**usual, **given})
    return replace(recipe, settling=LEAST_STEPS) if recipe.has_population else recipe
