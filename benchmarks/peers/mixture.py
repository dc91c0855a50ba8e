"""A mixture of Gaussians on image patches: time to the bound that scikit-learn reaches.

Both get the same patches and the same prior. The bound is that of the same model for both: a
posterior of scikit-learn is written as our lambda, and one function computes the bound of either.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.harness.rows import Row, Setup, at_least
from experiments import images
from trustream import GaussianMixture
from trustream.families import normal_inverse_wishart, symmetric
from trustream.models.mixture import GaussianModel, GaussianNatural, GaussianPrior

FILES = ("photographs.npz",)
SIDE, ITERATIONS = 8, 20
TARGET = 5.0
# Patches from which to see whether it is time for the whole bound, and how often to look.
_SAMPLE, _GROWTH = 10_000, 1.1
_BLOCK = 5_000


def measure(setup: Setup) -> Iterator[Row]:
    """Seconds of scikit-learn's 20 iterations over ours to the same bound, starts included."""
    n_patches, n_components = setup.choose(500_000, 10_000), setup.choose(50, 5)
    rng = np.random.default_rng(0)
    x = images.patches(setup.data, n_patches, SIDE, rng)[0].astype(np.float64)
    d = x.shape[1]
    Psi = np.cov(x, rowvar=False)
    prior = GaussianPrior(np.ones(n_components), x.mean(axis=0), 1.0, Psi, d + 2.0)
    model = GaussianModel(
        n_components=n_components, n_features=d, dtype="float64", n_threads=setup.n_threads
    )
    theirs, seconds, n_threads = _peer(x, prior, setup.n_threads)
    target = bound(model, prior, theirs, x)
    points = _ours(x, prior, model, theirs, target, setup.n_threads)
    reached = next((point for point in points if point["bound"] >= target), None)
    name = (
        f"Gaussian mixture, {n_patches:,} patches, K={n_components}: time to scikit-learn's bound"
    )
    facts = {"seconds": seconds, "bound": target, "n_threads": n_threads}
    details: dict[str, Any] = {"scikit-learn": facts}
    details["trustream"] = points
    if reached is None:
        yield Row(name, None, f">= {TARGET:g}", "x less", False, details)
    else:
        yield at_least(name, seconds / reached["seconds"], TARGET, "x less", **details)


def bound(model: GaussianModel, prior: GaussianPrior, lambda_: GaussianNatural, x: Any) -> float:
    """Lower bound on the evidence of all of x, in nats per patch."""
    total = model.global_bound(lambda_, prior)
    for start in range(0, len(x), _BLOCK):
        batch = model.batch(x, slice(start, start + _BLOCK))
        total += float(model.local_bound(lambda_, prior, batch).sum())
    return total / len(x)


def as_lambda(fitted: BayesianGaussianMixture, prior: GaussianPrior) -> GaussianNatural:
    """The posterior of a fitted mixture of scikit-learn with full covariances.

    Its `covariances_` are Psi / nu. In the prior's coordinates m becomes L^-1 (m - mean), and Psi
    becomes L^-1 Psi L^-T.
    """
    s, nu = fitted.mean_precision_, fitted.degrees_of_freedom_
    half = prior.inverse_factor
    Psi = half @ (fitted.covariances_ * nu[:, None, None]) @ half.T
    natural = normal_inverse_wishart.natural(prior.to_y(fitted.means_), s, Psi, nu)
    gamma = fitted.weight_concentration_
    return GaussianNatural(gamma, natural.s, natural.sm, symmetric.pack(natural.C), natural.nu)


def peer(prior: GaussianPrior, **settings: Any) -> BayesianGaussianMixture:
    """scikit-learn's mixture with that prior."""
    return BayesianGaussianMixture(
        n_components=prior.alpha.size,
        covariance_type="full",
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=float(prior.alpha[0]),
        mean_precision_prior=prior.s,
        mean_prior=prior.mean,
        degrees_of_freedom_prior=prior.nu,
        covariance_prior=prior.Psi,
        tol=0.0,
        random_state=0,
        **settings,
    )


def _peer(x: np.ndarray, prior: GaussianPrior, most: int) -> tuple[GaussianNatural, float, int]:
    """The posterior after 20 iterations, the seconds they took with the start, and on how many
    threads, whichever number is faster in a short run.
    """
    short = {n: _timed(peer(prior, max_iter=2), x[:_SAMPLE], n) for n in range(1, most + 1)}
    n_threads = min(short, key=lambda n: short[n])
    mixture = peer(prior, max_iter=ITERATIONS)
    seconds = _timed(mixture, x, n_threads)
    return as_lambda(mixture, prior), seconds, n_threads


def _timed(mixture: BayesianGaussianMixture, x: np.ndarray, n_threads: int) -> float:
    with warnings.catch_warnings(), threadpool_limits(limits=n_threads):
        # So many iterations are what was asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        mixture.fit(x)
        return time.perf_counter() - start


def _ours(
    x: np.ndarray,
    prior: GaussianPrior,
    model: GaussianModel,
    theirs: GaussianNatural,
    target: float,
    n_threads: int,
) -> list[dict[str, float]]:
    """Seconds and bound along a fit with everything but the prior as it comes."""
    sample = model.batch(x, slice(0, _SAMPLE))

    def guess(lambda_: GaussianNatural) -> float:
        local = float(model.local_bound(lambda_, prior, sample).mean())
        return local + model.global_bound(lambda_, prior) / len(x)

    # Both on the same sample: what is special about it cancels.
    worth_a_look = guess(theirs) - 0.2
    points: list[dict[str, float]] = []
    clock = {"start": 0.0, "next": 0.0}

    def look(state: Any, info: Any) -> bool:
        now = time.perf_counter()
        seconds = now - clock["start"]
        done = False
        if seconds >= clock["next"]:
            if guess(state.lambda_) >= worth_a_look:
                value = bound(model, prior, state.lambda_, x)
                points.append({"seconds": seconds, "steps": info.n_steps, "bound": value})
                done = value >= target
            clock["next"] = seconds * _GROWTH
        # Looking is not learning.
        clock["start"] += time.perf_counter() - now
        return done

    mixture = GaussianMixture(
        model.n_components,
        mean_prior=prior.mean,
        covariance_prior=prior.Psi,
        n_jobs=n_threads,
        random_state=0,
    )
    # Compiled before the clock starts.
    mixture.fit(x[: 2 * model.n_components])
    mixture.set_params(callback=look)
    clock["start"] = time.perf_counter()
    mixture.fit(x)
    return points
