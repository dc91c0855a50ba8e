"""The adaptive rate: what the averages are, and where they lead on noise and on a steady path."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from trustream.inference import adaptive, natural_gradient, trust_region
from trustream.inference.state import State

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
NATURAL = partial(natural_gradient.step, n_local=4)
TRUST = partial(trust_region.step, n_local=4, n_inner=2)


def start(case: Case) -> tuple[Any, State]:
    model, prior = case.make(dtype="float64", backend="compiled", n_threads=1), case.prior()
    return model, State(case.start(model, prior), prior)


def run(case: Case, inner: Any, n_steps: int) -> tuple[Any, State, list[Any], list[np.ndarray]]:
    """Steps on changing batches; also lambda before each, as one vector."""
    model, state = start(case)
    infos, before = [], []
    for t in range(n_steps):
        rows = np.arange(t % 4, case.n_points, 4)
        before.append(np.concatenate([a.ravel() for a in case.dense(state.lambda_, state.prior)]))
        state, info = adaptive.step(
            model,
            state,
            model.batch(case.data, rows),
            rho=0.25,
            n_documents=case.n_points,
            inner=inner,
            n_local=4,
        )
        infos.append(info)
    return model, state, infos, before


@each_case
def test_rates_are_those_of_the_gradients(case: Case) -> None:
    """A natural-gradient step moves lambda by rho g: from the moves alone, all rates follow."""
    n_steps = adaptive.N_FIRST + 6
    _, state, infos, before = run(case, NATURAL, n_steps)
    last = np.concatenate([a.ravel() for a in case.dense(state.lambda_, state.prior)])
    g, h, tau = 0.0, 0.0, 1.0
    for t, (old, new) in enumerate(zip(before, [*before[1:], last], strict=True)):
        gradient = (new - old) / infos[t].rho
        g = (1 - 1 / tau) * g + gradient / tau
        h = (1 - 1 / tau) * h + gradient @ gradient / tau
        rho = g @ g / h
        if t < adaptive.N_FIRST:
            assert infos[t].rho == 0.25
            tau += 1
        else:
            np.testing.assert_allclose(infos[t].rho, rho, rtol=1e-6)
            assert 0 < rho < 1
            tau = max((1 - rho) * tau + 1, 2.0)
    np.testing.assert_allclose(state.memory.gradient, g, rtol=1e-5, atol=1e-6 * np.abs(g).max())
    np.testing.assert_allclose([state.memory.square, state.memory.tau], [h, tau], rtol=1e-6)
    assert infos[-1].memory == 8 * last.size


def test_trust_region_takes_the_gradient_at_lambda() -> None:
    """The first averages are the same for both algorithms; later rates differ, as the paths do."""
    case = CASES[0]
    memories = [run(case, inner, 1)[1].memory for inner in (NATURAL, TRUST)]
    np.testing.assert_array_equal(memories[0].gradient, memories[1].gradient)
    n_steps = adaptive.N_FIRST + 3
    rates = [[info.rho for info in run(case, inner, n_steps)[2]] for inner in (NATURAL, TRUST)]
    assert rates[0] != rates[1] and min(rates[1]) > 0


def feed(gradients: np.ndarray) -> tuple[float, Any]:
    memory, rho = None, 1.0
    for gradient in gradients:
        rho, memory = adaptive.averaged(memory, gradient)
    return rho, memory


def test_noise_and_signal() -> None:
    """Pure noise: the rate falls towards 0 and the window grows. A constant gradient: rate 1."""
    rng = np.random.default_rng(0)
    rho, memory = feed(rng.standard_normal((2000, 50)))
    assert rho < 0.02 and memory.tau > 50
    rho, memory = feed(np.ones((100, 50)))
    np.testing.assert_allclose([rho, memory.tau], [1.0, 2.0])
    rho, _ = feed(1 + rng.standard_normal((500, 50)))
    assert 0.3 < rho < 0.9


def test_a_short_window_grows_again() -> None:
    """A steady path, then noise: the rate falls, which from a window of one step it never would."""
    rng = np.random.default_rng(1)
    gradients = np.concatenate([np.ones((50, 50)), rng.standard_normal((400, 50))])
    rho, memory = feed(gradients)
    assert rho < 0.1 and memory.tau > 10
    _, stuck = feed(gradients[:50])
    stuck = replace(stuck, tau=1.0)
    rho, _ = adaptive.averaged(stuck, gradients[-1])
    np.testing.assert_allclose(rho, 1.0)  # the trap


def test_at_a_fixed_point() -> None:
    rho, memory = feed(np.zeros((30, 4)))
    assert rho == 1.0 and np.isfinite(memory.tau)


def test_stopped_and_resumed() -> None:
    """The memory is all that a step needs beside lambda."""
    case = CASES[0]
    _, whole, infos, _ = run(case, NATURAL, adaptive.N_FIRST + 4)
    model, state, _, _ = run(case, NATURAL, adaptive.N_FIRST + 2)
    copied = adaptive.Averages(
        state.memory.gradient.copy(), state.memory.square, state.memory.tau, state.memory.count
    )
    state = State(state.lambda_, state.prior, state.n_steps, state.n_seen, copied)
    for t in (adaptive.N_FIRST + 2, adaptive.N_FIRST + 3):
        state, info = adaptive.step(
            model,
            state,
            model.batch(case.data, np.arange(t % 4, case.n_points, 4)),
            rho=0.25,
            n_documents=case.n_points,
            inner=NATURAL,
            n_local=4,
        )
        assert info.rho == infos[t].rho
    for a, b in zip(
        case.dense(state.lambda_, state.prior), case.dense(whole.lambda_, whole.prior), strict=True
    ):
        np.testing.assert_array_equal(a, b)
