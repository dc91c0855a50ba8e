"""Parts of a range in several threads: every part once, errors raised, and the same bits."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import threading
import time
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tests.helpers import BACKENDS, DTYPES, random_counts, snapshot
from trustream.inference import trust_region
from trustream.inference.state import State
from trustream.kernels import BLOCK, threads
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.lda.lazy_rows import word_parts


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("n_items", [0, 1, 7, 1000])
def test_every_item_once(n_items: int, n_threads: int) -> None:
    done = np.zeros(n_items, int)

    def work(start: int, stop: int) -> None:
        done[start:stop] += 1

    threads.run(work, threads.split(n_items, 3), n_threads)
    assert (done == 1).all()


def test_several_threads_work_at_once() -> None:
    """Two parts that wait for each other get done, so they run at the same time."""
    meeting = threading.Barrier(2, timeout=60)
    threads.run(lambda start, stop: meeting.wait(), [(0, 1), (1, 2)], 2)


@pytest.mark.parametrize("bad", [0, 5, 19])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised(bad: int, n_threads: int) -> None:
    def work(start: int, stop: int) -> None:
        if start == bad:
            raise ArithmeticError(f"part {start}")

    with pytest.raises(ArithmeticError, match=f"part {bad}"):
        threads.run(work, threads.split(20, 1), n_threads)


def test_one_blas_thread() -> None:
    """Inside, every BLAS library has one thread, nested use included; outside, what it had."""

    def n_threads() -> list[int]:
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = n_threads()
    with threads.one_blas_thread():
        with threads.one_blas_thread():
            assert set(n_threads()) <= {1}
        assert set(n_threads()) <= {1}
    assert n_threads() == before


@functools.cache
def results(backend: str, dtype: str, n_threads: int) -> list[Any]:
    """Everything that a step computes, with 1500 words so that there are several parts."""
    rng = np.random.default_rng(0)
    n_topics, n_words = 13, 1536
    counts = random_counts(rng, 60, n_words, 60)
    model = LdaModel(n_topics, n_words, dtype, backend, n_threads)
    prior = LdaPrior.of(0.1, rng.uniform(0.01, 0.1, n_words), n_topics, n_words)
    lambda_ = model.initial(prior, rng)
    batch = model.batch(counts, slice(None))
    assert len(word_parts(batch.n_words, 2)) == 4
    natural = model.restrict(lambda_, prior, batch)
    local, statistics = model.local_step(
        natural, prior, batch, model.beliefs(prior, batch, None)[0], 9, 1e-3
    )
    blended = model.blend(natural, prior, batch, statistics, 0.3, 2.0)
    values = [local, *map(model.materialise, (natural, statistics, blended))]
    values.append(model.local_bound(blended, prior, batch, local))
    values.append(model.divergence(blended, prior, batch, natural))
    state, info = State(lambda_, prior), None
    for _ in range(3):
        state, info = trust_region.step(
            model, state, batch, rho=0.5, n_documents=100, n_inner=2, n_local=5, tol=-np.inf
        )
    values += [state, info, model.global_bound(state.lambda_, state.prior)]
    values.append(model.prior_evidence(state.lambda_, prior, None, [local], None))
    return snapshot(values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_same_bits_with_any_number_of_threads(backend: str, dtype: str, n_threads: int) -> None:
    assert results(backend, dtype, n_threads) == results(backend, dtype, 1)


def test_parts_are_whole_blocks() -> None:
    """Sums over blocks of words would otherwise be shared by two threads."""
    for n_words in (1, 63, 64, 65, 1000, 99_999):
        for n_threads in (1, 2, 5):
            parts = word_parts(n_words, n_threads)
            assert parts[0][0] == 0 and parts[-1][1] == n_words
            assert all(start % BLOCK == 0 for start, _ in parts)
            assert all(a[1] == b[0] for a, b in itertools.pairwise(parts))


def test_every_thread_has_stopped_before_an_error_is_raised() -> None:
    """Whoever catches it may use the arrays again."""
    running = threading.Semaphore(0)
    finished = []

    def work(start: int, stop: int) -> None:
        if start == 0:
            running.acquire(timeout=10)  # another thread is at work
            raise ValueError("part 0")
        running.release()
        time.sleep(0.05)
        finished.append(start)

    with pytest.raises(ValueError, match="part 0"):
        threads.run(work, [(0, 1), (1, 2)], 2)
    assert finished == [1]


def test_a_forked_child_has_threads_of_its_own() -> None:
    threads.run(lambda start, stop: time.sleep(0.01), [(0, 1), (1, 2)], 2)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_use_two_threads)
    child.start()
    child.join(20)
    assert child.exitcode == 0


def _use_two_threads() -> None:
    meeting = threading.Barrier(2, timeout=10)
    threads.run(lambda start, stop: meeting.wait(), [(0, 1), (1, 2)], 2)


def test_blas_threads_come_back_after_several_threads_at_once() -> None:
    """Those that enter first leave first: the limit is lifted by the last one, not put back."""

    def n_threads() -> list[int]:
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before, found = n_threads(), []
    inside, first_out = threading.Barrier(2, timeout=60), threading.Event()

    def first() -> None:
        with threads.one_blas_thread():
            inside.wait()
        first_out.set()

    def second() -> None:
        with threads.one_blas_thread():
            inside.wait()
            first_out.wait(60)
            found.extend(n_threads())

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(found) <= {1} and n_threads() == before


def test_an_interrupt_leaves_no_thread_at_work() -> None:
    """Whoever catches it may use the arrays again: no worker writes to them any more."""
    begun, go = threading.Event(), threading.Event()
    done = np.zeros(2, int)

    def work(start: int, stop: int) -> None:
        if threading.current_thread() is threading.main_thread():
            begun.wait(60)
            threading.Timer(0.2, go.set).start()
            raise KeyboardInterrupt
        begun.set()
        go.wait(60)
        done[start:stop] += 1

    with pytest.raises(KeyboardInterrupt):
        threads.run(work, [(0, 1), (1, 2)], 2)
    assert go.is_set() and done.sum() == 1
