"""Tiny runs of what experiments measure, by which `keys` sees whether their numbers have changed.

Each takes about a second. They use made-up data, and go through the code that the runs go through:
fits with the paper's settings, scores, streams through a store, mixtures. What they do not go
through can change numbers unnoticed; then delete the runs, or change a setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

import trustream


def version() -> list[str]:
    """The version of trustream, for experiments that are not probed."""
    return [trustream.__version__]


def counts() -> sparse.csr_matrix:
    """Documents about one of two halves of a vocabulary of 30 words."""
    rng = np.random.default_rng(0)
    made = rng.poisson(1.5, size=(60, 30))
    made[::2, 15:] = 0
    made[1::2, :15] = 0
    return sparse.csr_matrix(made)


def lda() -> list[float]:
    """Scores of LDA with the paper's settings and a population, and with the defaults."""
    from trustream import LatentDirichletAllocation, presets

    data, found = counts(), []
    for method in presets.METHODS:
        for population in (None, 1000.0):
            options = {**presets.estimator("wikipedia-4", method), "population": population}
            model = LatentDirichletAllocation(3, random_state=0, n_jobs=1, **options).fit(data)
            found += [_completion(model, data), _chib(model, data)]
    model = LatentDirichletAllocation(3, random_state=0, n_jobs=1).fit(data)
    return [*found, _completion(model, data)]


def ranking() -> list[float]:
    """The scores of LDA, and how well its topics rank what they were learned from."""
    from trustream import LatentDirichletAllocation, presets
    from trustream.evaluation import ranking

    data = counts()
    options = {**presets.estimator("netflix-2"), "batch_size": 10}
    model = LatentDirichletAllocation(3, random_state=0, n_jobs=1, **options).fit(data)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    found = ranking((model.transform(data), topics), data, m=5)
    return [*lda(), float(found.recall.mean), float(found.normalised_precision.mean)]


def streams() -> list[float]:
    """Scores of streams by the paper's methods and by a trainer with the defaults."""
    from experiments import streams as methods

    data, found = counts(), ranking()
    for options, due in _streams():
        shared: dict[str, Any] = {"marks": [60], "rate": 2.0, "p": 0.5, "seed": 0}
        for seen in methods.follow(data, {**options, "n_jobs": 1}, due, **shared):
            found.append(_completion(seen.model, data))
    return found


def _streams() -> Iterator[tuple[dict[str, Any], Any]]:
    from experiments import streams as methods

    for method in ("TR", "NG"):
        options = {**methods.svi_options(method, "wikipedia-4", 3), "batch_size": 10}
        yield options, methods.svi_steps(3.0, 10, 20)
    yield {"n_components": 3}, methods.svi_steps(3.0, 10, 20)
    for method in ("streaming-vb", "streaming-batch"):
        options = methods.baseline_options(method, "wikipedia-4", 3, batch_size=30, inner_iter=3)
        yield options, methods.vb_steps(30)


def gaussians() -> list[float]:
    """Bounds of mixtures of Gaussians by all methods."""
    from experiments import patches

    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 2)) + 4 * (np.arange(200) % 3)[:, None]
    return _bounds(patches, data, {"n_patches": 200, "side": 1, "n_scored": 200})


def bernoullis() -> list[float]:
    """Bounds of mixtures of Bernoullis by both methods."""
    from experiments import mnist

    return _bounds(mnist, (counts().toarray() > 0).astype(np.uint8), {})


def _bounds(experiment: Any, data: Any, sizes: dict[str, Any]) -> list[float]:
    settings = {**experiment.EXPERIMENT.settings["quick"], **sizes, "n_components": 3}
    settings |= {"batch_size": _each(settings["batch_size"], 20), "n_points": 2}
    settings["epochs"] = _each(settings["epochs"], 2)
    found = []
    for run in experiment.plan(settings, 1):
        points, _ = experiment.perform(data, run, settings, lambda cost: None)
        found.append(float(points[-1]["elbo"]))
    return found


def _each(values: Any, value: int) -> Any:
    """The value in the place of each that there is."""
    return dict.fromkeys(values, value) if isinstance(values, dict) else value


def _completion(model: Any, data: Any) -> float:
    return float(model.completion(data, random_state=0).per_word)


def _chib(model: Any, data: Any) -> float:
    return float(model.chib(data[:10], random_state=0, n_repeats=2).per_word)
