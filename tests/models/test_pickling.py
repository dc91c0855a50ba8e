"""Models, priors, parameters and batches go to another process and compute the same bits there."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import snapshot


@pytest.fixture(scope="module")
def other_process() -> Iterator[ProcessPoolExecutor]:
    """A process that was started afresh and shares nothing with this one."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield pool


def blended(model: Any, prior: Any, lambda_: Any, batch: Any) -> tuple[Any, Any, Any]:
    """Beliefs, statistics and blend of a local step, as numbers."""
    natural = model.restrict(lambda_, prior, batch)
    start, _ = model.beliefs(prior, batch, None)
    local, statistics = model.local_step(natural, prior, batch, start, 5, 0.0)
    new = model.blend(natural, prior, batch, statistics, 0.3, 2.0)
    return local, model.materialise(statistics), model.materialise(new)


def blended_from_rows(model: Any, prior: Any, lambda_: Any, data: Any, rows: Any) -> Any:
    """The same, of rows of data."""
    return blended(model, prior, lambda_, model.batch(data, rows))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_another_process_computes_the_same_bits(
    case: Case, other_process: ProcessPoolExecutor
) -> None:
    """With a model and a batch that were in use here, and with a batch that is made there."""
    model, prior = case.make(dtype="float32", backend="compiled", n_threads=2), case.prior()
    lambda_, rows = case.start(model, prior), np.arange(3, 43)
    batch = model.batch(case.data, rows)
    expected = snapshot(blended(model, prior, lambda_, batch))
    found = other_process.submit(blended, model, prior, lambda_, batch).result()
    assert snapshot(found) == expected
    from_rows = other_process.submit(blended_from_rows, model, prior, lambda_, case.data, rows)
    assert snapshot(from_rows.result()) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_not_computed_yet_can_be_pickled(case: Case) -> None:
    """Statistics and a blend, computed after the journey, have the same bits."""
    model, prior = case.make(dtype="float64", backend="compiled", n_threads=1), case.prior()
    lambda_, batch = case.start(model, prior), model.batch(case.data, slice(0, 40))
    natural = model.restrict(lambda_, prior, batch)
    start, _ = model.beliefs(prior, batch, None)
    _, statistics = model.local_step(natural, prior, batch, start, 5, 0.0)
    new = model.blend(natural, prior, batch, statistics, 0.3, 2.0)
    for value in (natural, statistics, new):
        copied_model, copy = pickle.loads(pickle.dumps((model, value)))
        assert copied_model == model
        assert snapshot(copied_model.materialise(copy)) == snapshot(model.materialise(value))
