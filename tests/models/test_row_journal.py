"""Rows that steps overwrite are put back, to the bit, wherever the steps were interrupted."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers import BACKENDS, Array, random_counts, snapshot
from trustream import kernels
from trustream.kernels import threads
from trustream.models.lda import LazyRows, LdaModel, LdaPrior

V, K = 300, 5


def table(rng: np.random.Generator) -> LazyRows:
    return LazyRows.of(rng.gamma(1.0, 1.0, (V, K)).astype(np.float32))


def stepped(lambda_: LazyRows, rng: np.random.Generator, backend: str, n_threads: int) -> LazyRows:
    """Decayed, with some rows stored anew, some averaged and some added to."""
    module, pattern = kernels.get("lda", backend), np.ones((1, 1))
    words = np.sort(rng.permutation(V)[: V - 10]).astype(np.int32)
    rows = rng.gamma(1.0, 1.0, (words.size, K)).astype(np.float32)
    totals = np.full(K, 1000.0)
    new = lambda_.decayed(0.3, 0.1, totals)
    new.put(module, words, pattern, rows.copy(), n_threads)
    mean = (totals, 0.1, pattern, 0.5, 0.2, n_threads)
    new, other = new.put_averaged(module, table(rng), words, rows.copy(), *mean)
    _, new = other.put_averaged(module, new, words, rows, *mean)
    new.add(words[:3], np.ones((3, K), np.float32))
    return new.rescaled(2.0, np.full(K, float(V)))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_that_were_overwritten_twice_are_put_back(backend: str, n_threads: int) -> None:
    rng = np.random.default_rng(0)
    lambda_ = table(rng)
    before = snapshot(lambda_)
    put_back = lambda_.savepoint()
    new = stepped(stepped(lambda_, rng, backend, n_threads), rng, backend, n_threads)
    assert snapshot(lambda_) != before and np.shares_memory(new.stored, lambda_.stored)
    put_back()
    assert snapshot(lambda_) == before
    put_back()  # as after an interrupt of the first call
    assert snapshot(lambda_) == before


@pytest.mark.parametrize("with_mean", [False, True])
def test_an_interrupt_between_the_parts_of_a_kernel(
    with_mean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of parts that were done are put back, and those of others stay as they are."""
    rng = np.random.default_rng(1)
    lambda_, mean = table(rng), table(rng)
    tables = [lambda_, mean] if with_mean else [lambda_]
    before = snapshot(tables)
    originals = [t.stored.copy() for t in tables]
    put_back = [t.savepoint() for t in tables]

    def interrupted(work, parts, n_threads):  # type: ignore[no-untyped-def]
        work(*parts[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "run", interrupted)
    words, rows = np.arange(V, dtype=np.int32), np.ones((V, K), np.float32)
    module, pattern = kernels.get("lda", "compiled"), np.zeros((1, 1))
    with pytest.raises(KeyboardInterrupt):
        if with_mean:
            lambda_.put_averaged(
                module, mean, words, rows, np.full(K, float(V)), 0.1, pattern, 0.5, 0.2, 2
            )
        else:
            lambda_.put(module, words, pattern, rows, 2)
    for t, values in zip(tables, originals, strict=True):
        changed = (t.stored != values).any(axis=1)
        assert changed.any() and not changed.all()
    for undo in put_back:
        undo()
    assert snapshot(tables) == before


def test_nothing_is_noted_when_nobody_holds_a_savepoint() -> None:
    rng = np.random.default_rng(2)
    lambda_ = table(rng)
    put_back = lambda_.savepoint()
    words = np.arange(4, dtype=np.int32)
    assert lambda_.journal.room(lambda_.stored, words).rows.shape == (4, K)
    del put_back
    gc.collect()
    assert lambda_.journal.room(lambda_.stored, words).rows.shape == (0, K)


def test_copies_have_journals_of_their_own() -> None:
    """And tables that share memory share one."""
    lambda_ = table(np.random.default_rng(3))
    put_back = lambda_.savepoint()
    for other in (copy.deepcopy(lambda_), pickle.loads(pickle.dumps(lambda_)), lambda_.copy()):
        assert other.journal is not lambda_.journal
        assert other.journal.room(other.stored, np.arange(2)).rows.size == 0
    for other in (lambda_.decayed(0.1, 0.1, lambda_.totals), replace(lambda_, scale=2.0)):
        assert other.journal is lambda_.journal
    put_back()


@pytest.mark.parametrize("eta_per_word", [False, True])
def test_the_savepoint_of_a_step(eta_per_word: bool) -> None:
    """Commit, mean and a prior that is learned for each word: all is as it was."""
    rng = np.random.default_rng(4)
    model = LdaModel(K, V, eta_per_word=eta_per_word)
    prior = LdaPrior.of(0.1, 0.1, K, V)
    lambda_ = model.initial(prior, rng)
    batch = model.batch(random_counts(rng, 20, V, 8), np.arange(20))

    def step(lambda_: LazyRows, prior: LdaPrior) -> tuple[LazyRows, LdaPrior]:
        gamma, statistics = model.beliefs(prior, batch, None)
        anchor = model.restrict(lambda_, prior, batch)
        natural = model.blend(anchor, prior, batch, statistics, 0.5, 10.0)
        lambda_ = model.commit(lambda_, prior, batch, natural, 0.5)
        found = model.prior_evidence(lambda_, prior, batch, [gamma], None)
        values: dict[str, Array] = {name: e.improved(0.5) for name, e in found.items()}
        return model.replace_prior(lambda_, prior, batch, values)

    lambda_, prior = step(lambda_, prior)
    before = snapshot((lambda_, prior))
    put_back = model.savepoint(lambda_, prior, batch)
    step(lambda_, prior)
    assert snapshot((lambda_, prior)) != before
    put_back()
    assert snapshot((lambda_, prior)) == before
