"""Kernels of hidden Markov models: both backends, with and without logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trustream import kernels
from trustream.kernels import LANES


def inputs(k: int, n_chains: int, longest: int, seed: int = 0) -> dict[str, Any]:
    """Chains with buffers over random observations, of which some do not begin a sequence."""
    rng = np.random.default_rng(seed)
    width = -(-k // LANES) * LANES
    start, entry, transitions = np.zeros(width), np.zeros(width), np.zeros((k, width))
    start[:k], entry[:k] = rng.dirichlet(np.ones(k), 2)
    transitions[:, :k] = 0.9 * rng.dirichlet(np.full(k, 0.4), k) + 1e-9
    scores = rng.standard_normal((11, k)) * 4
    last = np.cumsum(rng.integers(1, longest + 1, n_chains))
    first = np.concatenate([[0], last[:-1]])
    core_start = first + rng.integers(0, 3, n_chains) * (last - first > 5)
    core_stop = last - rng.integers(0, 3, n_chains) * (last - first > 5)
    begins = rng.integers(0, 2, n_chains)
    return {
        "start": start,
        "entry": entry,
        "transitions": transitions,
        "scores": scores,
        "at": rng.integers(11, size=last[-1]).astype(np.int32),
        "chains": np.stack([first, core_start, core_stop, last, begins], axis=1),
    }


def logarithm(values: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(values, 1e-300))


def run(
    backend: str, logs: bool, given: dict[str, Any], by_symbol: bool = True
) -> list[np.ndarray]:
    """What all kernels find."""
    module = kernels.get("hmm", backend)
    start, entry, transitions = (given[name] for name in ("start", "entry", "transitions"))
    scores, at, chains = given["scores"], given["at"], given["chains"]
    k, width = transitions.shape
    ratios, tops = np.full((len(scores), width), np.nan), np.empty(len(scores))
    module.relative(scores, ratios, tops, 0, len(scores))
    weights = (start, entry, transitions, ratios)
    if logs:
        weights = (*(logarithm(part) for part in weights[:3]), scores)
        tops = np.zeros_like(tops)
    to = at if by_symbol else np.arange(at.size, dtype=np.int32)
    sums = np.zeros((len(scores) if by_symbol else at.size, width))
    pairs, firsts = np.full((k, width), np.nan), np.full(width, np.nan)
    evidence, likelihood = np.empty(len(chains)), np.zeros(at.size)
    prefix = "log_" if logs else ""
    getattr(module, f"{prefix}forward_backward")(
        *weights, tops, at, to, chains, sums, pairs, firsts, evidence, 0, len(chains)
    )
    getattr(module, f"{prefix}forward")(*weights, tops, at, chains, likelihood, 0, len(chains))
    states = np.empty(at.size, np.int64)
    module.viterbi(
        logarithm(start[:k]), logarithm(transitions[:, :k]), scores, at, chains, states, 0,
        len(chains),
    )  # fmt: skip
    found = [ratios[:, :k], sums[:, :k], pairs[:, :k], firsts[:k], evidence, likelihood, states]
    assert np.isfinite(np.concatenate([part.ravel() for part in found])).all()
    return found


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 20])
@pytest.mark.parametrize("logs", [False, True])
@pytest.mark.parametrize("by_symbol", [False, True])
def test_twins_agree(k: int, logs: bool, by_symbol: bool) -> None:
    given = inputs(k, 12, 15)
    expected = run("reference", logs, given, by_symbol)
    for found, part in zip(run("compiled", logs, given, by_symbol), expected, strict=True):
        np.testing.assert_allclose(found, part, rtol=1e-10, atol=1e-12)


def test_logarithms_make_no_difference() -> None:
    given = inputs(5, 12, 15, seed=1)
    plain, logs = run("reference", False, given), run("reference", True, given)
    for found, expected in zip(plain, logs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("logs", [False, True])
def test_long_chains_do_not_drift(logs: bool) -> None:
    """Beliefs of 50,000 observations sum to one each, pairs to their marginals."""
    given = inputs(3, 1, 2, seed=2)
    given["at"] = np.random.default_rng(0).integers(11, size=50_000).astype(np.int32)
    given["chains"] = np.array([[0, 0, 50_000, 50_000, 1]])
    _, phi, pairs, firsts, evidence, likelihood, _ = run("compiled", logs, given, by_symbol=False)
    np.testing.assert_allclose(phi.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(pairs.sum(axis=0), phi[1:].sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(pairs.sum(axis=1), phi[:-1].sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(firsts, phi[0], rtol=1e-11)
    np.testing.assert_allclose(likelihood.sum(), evidence[0], rtol=1e-11)


def test_observations_that_only_one_state_explains() -> None:
    """Ratios that underflow to nothing, and transitions that are as good as impossible."""
    given = inputs(3, 4, 9, seed=3)
    given["scores"] = np.where(np.eye(3)[np.arange(11) % 3] == 1, 0.0, -5e3)
    given["transitions"][:, :3] = 1e-270
    plain, logs = run("compiled", False, given), run("compiled", True, given)
    for found, expected in zip(plain[1:], logs[1:], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
