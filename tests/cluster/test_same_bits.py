"""The same numbers on any number of workers and in one process, in both ways to step."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster import corpora
from tests.helpers import snapshot
from trustream import LatentDirichletAllocation, open_store
from trustream.cluster import fit
from trustream.cluster.engine import ClusterEngine
from trustream.cluster.errors import ClusterError
from trustream.cluster.pool import Pool
from trustream.cluster.sources import StoreSource
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.engine import Here

_NAMES = itertools.count()
# Ways to step: exact ones only, or local ones after a few.
EXACT, LOCAL = None, 4


@pytest.fixture(scope="module")
def address(server: Any) -> str:
    return corpora.fill(f"{server.url}&schema=cluster_bits")


@pytest.fixture(scope="module")
def pool(ray_cluster: Any, address: str) -> Iterator[Pool]:
    """Workers on the store: one at first, more as tests want them."""
    with Pool(StoreSource(address), 1) as pool:
        yield pool


def same(one: Checkpoint, other: Checkpoint) -> bool:
    """Parameters, priors, smoothing, mean, clock, random states, words and scores."""
    return (
        snapshot(one.state) == snapshot(other.state)
        and one.clock == other.clock
        and (one.draws, one.others, one.words) == (other.draws, other.others, other.words)
        and (one.last_score, one.best_score) == (other.last_score, other.best_score)
        and one.model.recipe == other.model.recipe
    )


@pytest.fixture(scope="module")
def alone(address: str) -> Callable[[int, int | None], Checkpoint]:
    """What one process learns, by number of topics and way to step."""
    made: dict[tuple[int, int | None], Checkpoint] = {}

    def checkpoint(n_topics: int, exact_steps: int | None) -> Checkpoint:
        key = n_topics, exact_steps
        if key not in made:
            engine, name = Here(8, exact_steps), f"alone {key}"
            made[key] = corpora.trained(address, engine, n_topics=n_topics, name=name)
        return made[key]

    return checkpoint


@pytest.mark.parametrize("exact_steps", [EXACT, LOCAL], ids=["exact", "local"])
@pytest.mark.parametrize(
    ("n_workers", "n_topics"),
    [
        *((n, 20) for n in (1, 2, 4)),
        (4, 200),
        *(pytest.param(n, 200, marks=pytest.mark.slow) for n in (1, 2)),
    ],
)
def test_a_store(
    address: str,
    pool: Pool,
    alone: Callable[[int, int | None], Checkpoint],
    n_workers: int,
    exact_steps: int | None,
    n_topics: int,
) -> None:
    if pool.size != n_workers:
        pool.resize(n_workers)
    engine, name = ClusterEngine(pool, 8, exact_steps), f"cluster {next(_NAMES)}"
    found = corpora.trained(address, engine, n_topics=n_topics, name=name)
    assert found.state.smoothing is not None and found.last_score is not None
    assert same(found, alone(n_topics, exact_steps))


def test_the_comparison_can_fail(alone: Callable[[int, int | None], Checkpoint]) -> None:
    assert not same(alone(20, EXACT), alone(20, LOCAL))


def test_a_model_goes_on_elsewhere(
    address: str, pool: Pool, alone: Callable[[int, int | None], Checkpoint]
) -> None:
    """From a checkpoint of a cluster one process goes on, and the other way round."""
    name = f"cluster {next(_NAMES)}"
    corpora.trained(address, ClusterEngine(pool, 8), steps=5, name=name)
    corpora.trained(address, Here(), steps=5, name=name)
    found = corpora.trained(address, ClusterEngine(pool), steps=4, name=name)
    assert same(found, alone(20, EXACT))


def test_other_methods_and_settings_are_refused(address: str, pool: Pool) -> None:
    from trustream import StreamTrainer

    with open_store(address, create=False) as store:
        with StreamTrainer(
            store, 5, method="streaming-vb", name="arrivals", engine=ClusterEngine(pool)
        ) as trainer:
            with pytest.raises(ClusterError, match="streaming-vb looks at documents once"):
                trainer.run(steps=1)


def test_how_it_is_doing(address: str, pool: Pool) -> None:
    engine = ClusterEngine(pool, 4)
    assert engine.progress() is None
    corpora.trained(address, engine, name=f"cluster {next(_NAMES)}", steps=5)
    progress = engine.progress()
    assert progress is not None and progress.n_workers == progress.n_wanted == pool.size
    assert 0 < progress.efficiency <= 1 and progress.documents_per_second > 0
    assert all(worker.documents_per_second > 0 for worker in progress.workers)
    # Rows of a batch's words went out, once for each exchange.
    assert 0 < progress.sent_bytes <= 2 * 4 * (20 + 1) * corpora.N_WORDS


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> str:
    return corpora.write(tmp_path_factory.mktemp("parquet"))


def lda(n_topics: int = 20, **options: Any) -> LatentDirichletAllocation:
    return LatentDirichletAllocation(n_topics, random_state=1, max_iter=2, n_init=1, **options)


_SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("n_workers", "n_topics", "exact_steps"),
    [
        (2, 20, LOCAL),  # the first steps are exact
        *(
            pytest.param(n, k, way, marks=_SLOW)
            for n in (1, 2, 4)
            for k in (20, 200)
            for way in (EXACT, LOCAL)
            if (n, k, way) != (2, 20, LOCAL)
        ),
    ],
)
def test_parquet_files(
    ray_cluster: Any, pattern: str, n_workers: int, n_topics: int, exact_steps: int | None
) -> None:
    options = {"n_parts": 8, "exact_steps": exact_steps}
    one = fit(lda(n_topics), pattern, workers=0, **options)
    found = fit(lda(n_topics), pattern, workers=n_workers, cluster="auto", **options)
    assert snapshot(found._state) == snapshot(one._state)
    assert found.n_iter_ == one.n_iter_ == 2


def test_a_fit_in_parts_is_the_estimators_own_but_for_rounding(pattern: str) -> None:
    # In more steps, differences of rounding would grow to more than this.
    options = {"learn_priors": False, "batch_size": 75}
    found = fit(lda(**options), pattern, workers=0, n_parts=3)
    plain = lda(**options).fit(corpora.COUNTS)
    np.testing.assert_allclose(found.components_, plain.components_, rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_method": "batch"}, 'on a cluster use "trust-region"'),
        ({"warm_start": True}, "warm_start is not for fits on a cluster"),
        ({"evaluate_every": 1}, "evaluate_every is not for fits"),
        ({"population": 3.0}, "population is 3, and there are 1500 documents"),
    ],
)
def test_estimators_that_are_refused(pattern: str, options: dict[str, Any], message: str) -> None:
    estimator = LatentDirichletAllocation(2, **options)
    before = dict(estimator.__dict__)
    with pytest.raises(ValueError, match=message):
        fit(estimator, pattern, workers=0)
    assert estimator.__dict__ == before


def test_one_part_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="n_parts is 1; on a cluster give 2 or more"):
        fit(lda(), pattern, workers=0, n_parts=1)


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no Parquet files"):
        fit(lda(), str(tmp_path / "*.parquet"), workers=0)
    (tmp_path / "a.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        fit(lda(), tmp_path, workers=0)
