"""trustream's own curves.

`fit` lets its learning rate fall to zero at its end, so a model on the way is not what a shorter
`fit` returns. Each point is a complete `fit` of its own: on a random part of the documents for less
than a pass, with `max_iter` for more. Its time is that of the whole call.
"""

from __future__ import annotations

import inspect
import time
from typing import Any

import scipy.sparse as sp

from benchmarks.peers.recorder import Recorder, Stopwatch, passes_label
from trustream import LatentDirichletAllocation

DEFAULT = "trustream"
_VARIANTS: dict[str, dict[str, Any]] = {
    "trustream, mean-field": {"local": "mean-field"},
    "trustream, collapsed": {"local": "collapsed"},
    "trustream, natural gradient": {"learning_method": "natural-gradient"},
}
_PARTS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
_PASSES = (1, 2, 3, 5, 10, 20)
# Shorter fits are repeated, all of them in turn, and the median counts: a hiccup, or a slow minute
# of the machine, would weigh too much.
_SHORT, _REPEATS = 4.0, 7


def variants() -> dict[str, dict[str, Any]]:
    """Curves by name: everything as it comes, then what differs from that."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(LatentDirichletAllocation).parameters.items()
    }
    chosen: dict[str, dict[str, Any]] = {DEFAULT: {}}
    for name, settings in _VARIANTS.items():
        if all(key in defaults and defaults[key] != value for key, value in settings.items()):
            # Natural gradient is shown as others have it.
            extra = {"local": "mean-field"} if "local" in defaults else {}
            chosen[name] = {**extra, **settings}
    return chosen


def default_passes() -> int:
    """`max_iter` of the estimator."""
    return int(inspect.signature(LatentDirichletAllocation).parameters["max_iter"].default)


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """Fits of growing effort until one takes longer than the limit; `effort` scales the most."""
    recorder.notes["first_call"] = _warm(counts, n_topics, settings)
    most = min(max(_PASSES) * effort, 2 * default_passes())
    watches: dict[float, list[Stopwatch]] = {}
    topics: dict[float, tuple[Any, Any]] = {}
    for passes in (*_PARTS, *_PASSES):
        if passes <= most:
            watch, model = fit(counts, n_topics, settings, passes)
            watches[passes], topics[passes] = [watch], (model.components_, model.doc_topic_prior_)
            if watch.seconds >= recorder.limit:
                break
    for _ in range(_REPEATS - 1):
        for passes, taken in watches.items():
            if taken[0].seconds < _SHORT:
                taken.append(fit(counts, n_topics, settings, passes)[0])
    for passes, taken in watches.items():
        watch = sorted(taken, key=lambda watch: watch.seconds)[len(taken) // 2]
        recorder.add(passes_label(passes), watch, *topics[passes], passes == max(watches))


def fit(
    counts: sp.csr_matrix, n_topics: int, settings: dict[str, Any], passes: float
) -> tuple[Stopwatch, LatentDirichletAllocation]:
    """One complete fit, and how long it took."""
    part = counts[: max(1, round(counts.shape[0] * min(1, passes)))]
    options = {"random_state": 0, **settings}
    if passes != default_passes():
        options["max_iter"] = max(1, int(passes))
    model = LatentDirichletAllocation(n_topics, **options)
    with Stopwatch() as watch:
        model.fit(part)
    return watch, model


def _warm(counts: sp.csr_matrix, n_topics: int, settings: dict[str, Any]) -> float:
    """Seconds of a first small fit, nearly all of which is compiling or loading kernels."""
    start = time.perf_counter()
    LatentDirichletAllocation(n_topics, random_state=0, max_iter=1, **settings).fit(counts[:100])
    return time.perf_counter() - start
