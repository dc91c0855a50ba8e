"""Fit an estimator to documents in Parquet files, by workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trustream.cluster.calls import Call
from trustream.cluster.driver_memory import check_driver
from trustream.cluster.engine import N_PARTS, check_parts
from trustream.cluster.executor import ClusterExecutor
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.pool import pool_on
from trustream.cluster.rows import FetchedRows, Fetching, smoothed
from trustream.cluster.sources import Source
from trustream.cluster.worker import Worker
from trustream.estimators import LatentDirichletAllocation
from trustream.estimators.parameters import generator
from trustream.estimators.progress import progress
from trustream.kernels import threads
from trustream.learning import algorithms
from trustream.learning.learner import Learner
from trustream.learning.recipe import DataSize, Recipe
from trustream.models.lda import LdaModel
from trustream.models.lda import smoothing as lda_smoothing
from trustream.models.lda.parts import excerpt_of_lambda
from trustream.models.protocol import Rows
from trustream.tokenisers import Tokenise

# Documents that are counted in one call.
_COUNTED = 20_000


def fit(
    estimator: LatentDirichletAllocation,
    files: str | Path | Sequence[str | Path],
    *,
    cluster: str = "local",
    workers: int | None = None,
    worker_threads: int = 1,
    n_parts: int = N_PARTS,
    exact_steps: int | None = None,
    words: Sequence[str] | None = None,
    n_words: int | None = None,
    column: str | None = None,
    tokenise: Tokenise | None = None,
    object_store_bytes: int | None = None,
) -> LatentDirichletAllocation:
    """Fit topics to documents in Parquet files, which workers read.

    The same number of parts gives the same topics, bit for bit, on any number of workers, and in
    one process: `workers=0` does without Ray.

    Parameters
    ----------
    estimator : LatentDirichletAllocation
        With learning_method "trust-region" or "natural-gradient". It is fitted afresh.
    files : str, Path or list
        A pattern such as ``"docs/*.parquet"``, a folder, or a list of files, which all workers find
        under these names. Documents are lists of column numbers and counts (columns `indices` and
        `counts`, as `trustream.cluster.write_counts` writes them), or words or texts.
    cluster : str, default="local"
        "local" starts Ray on this machine, "auto" is the cluster that this machine belongs to,
        "host:port" the head node of another one.
    workers : int, default=None
        How many; None is one for every `worker_threads` processors of the cluster; 0 computes in
        this process.
    worker_threads : int, default=1
        Processors of each worker.
    n_parts : int, default=8
        Parts of a batch. More workers than parts are idle.
    exact_steps : int, default=None
        Steps after which each part solves its own subproblem, which takes one exchange in place
        of one for each iteration; None never.
    words : sequence of str, default=None
        The vocabulary by column, needed for words and texts; the estimator gets it (`words_`).
    n_words : int, default=None
        Columns, if neither the files nor `words` say how many.
    column : str, default=None
        Of words or texts.
    tokenise : Tokeniser or callable, default=None
        Makes words of texts.
    object_store_bytes : int, default=None
        Shared memory of a Ray that is started here; None is Ray's choice.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If files or parameters are wrong. The estimator is as it was.
    ClusterError
        If there is no cluster, no worker gets ready, or this machine has too little memory.

    Examples
    --------
    >>> import tempfile, numpy as np, trustream
    >>> from trustream.cluster import fit, write_counts
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]] * 20)
    >>> lda = trustream.LatentDirichletAllocation(n_components=2, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(f"{folder}/a.parquet", counts)
    ...     _ = fit(lda, f"{folder}/*.parquet", workers=0, n_parts=2)
    >>> lda.transform(counts[:4]).argmax(axis=1).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    source = ParquetSource.of(files, words=words, n_words=n_words, column=column, tokenise=tokenise)
    check_parts(n_parts)
    recipe = replace(_recipe(estimator), n_parts=n_parts, exact_steps=exact_steps)
    check_driver(
        estimator.n_components, source.n_words, str(np.dtype(estimator.dtype)), mean=False,
        saves=False,
    )  # fmt: skip
    with ExitStack() as stack:
        if workers == 0:
            caller: Any = _Here(source, threads.n_threads(estimator.n_jobs))
        else:
            caller = stack.enter_context(
                pool_on(cluster, source, workers, worker_threads, object_store_bytes)
            )
        draft = estimator._draft()
        with threads.one_blas_thread():
            _fit(draft, source, caller, recipe)
        estimator._become(draft)
    return estimator


class _Here:
    """A pool of one worker that is this process."""

    n_workers = size = 1
    ready_places = (0,)

    def __init__(self, source: Source, n_threads: int) -> None:
        self._worker = Worker(source, n_threads)
        self.statistics: list[Any] = []

    def put(self, value: Any) -> Any:
        return value

    def run(self, calls: Sequence[Call]) -> list[Any]:
        return self.finish(self.start(calls))

    def start(self, calls: Sequence[Call]) -> Any:
        results = [self._worker.call(call.function, *call.arguments) for call in calls]
        return _Done([result for result, _ in results], [seconds for _, seconds in results])

    def finish(self, pending: Any) -> list[Any]:
        return list(pending.results)


class _Done(NamedTuple):
    results: list[Any]
    seconds: list[float]


class AllRows:
    """All documents of a source, as the data of a learner.

    Attributes:
        shape: (documents, columns).
        n_pairs: of document and word.
    """

    def __init__(self, pool: Any, source: ParquetSource, n_pairs: int) -> None:
        self._pool, self.n_pairs = pool, n_pairs
        self.shape = source.n_documents, source.n_words

    def fetched(self, model: LdaModel, rows: Rows | slice, n_parts: int) -> FetchedRows:
        """A batch of them, read by workers."""
        numbers = np.arange(self.shape[0])[rows]
        return Fetching(self._pool, model, numbers, n_parts).finish()

    def smoothing(
        self,
        model: LdaModel,
        lambda_: Any,
        prior: Any,
        weight: Any,
        start: float,
        rng: np.random.Generator,
    ) -> float:
        """The eta that a sample of all documents asks for."""
        n_rows = self.shape[0]
        which, share = lda_smoothing.drawn(model.n_components, n_rows, self.n_pairs, rng)
        rows = self.fetched(model, which, 1)
        excerpt = self._pool.put(excerpt_of_lambda(lambda_, prior, rows.joined.words))
        weights = np.broadcast_to(weight, n_rows)[which]
        arguments = (model, excerpt, weights, share, start, rng, rows.requests[0])
        return smoothed(self._pool, arguments, rng)


class RowCounts(NamedTuple):
    """What is in some rows.

    Attributes:
        n_tokens, n_pairs: of all of them.
        columns: that occur.
    """

    n_tokens: float
    n_pairs: int
    columns: np.ndarray


def count(worker: Worker, first: int, last: int) -> RowCounts:
    """Count what is in the rows from `first` up to `last`."""
    documents, _ = worker.source.read(np.arange(first, last))
    used = np.unique(documents.indices[documents.counts > 0])
    return RowCounts(float(documents.counts.sum(dtype=np.float64)), documents.n_pairs, used)


def _recipe(estimator: LatentDirichletAllocation) -> Recipe:
    """Of an estimator that can be fitted on a cluster."""
    if not isinstance(estimator, LatentDirichletAllocation):
        raise ValueError(
            f"a cluster fits LatentDirichletAllocation, got {type(estimator).__name__}"
        )
    estimator._validate_params()
    recipe = estimator._recipe()
    if algorithms.get(recipe.method).data != "batches":
        others = algorithms.choice(lambda algorithm: algorithm.data == "batches", quote='"')
        raise ValueError(f'learning_method is "{recipe.method}": on a cluster use {others}')
    asked = {
        "warm_start": estimator.warm_start,
        "validation_fraction": estimator.validation_fraction > 0,
        "evaluate_every": estimator.evaluate_every > 0,
    }
    for name, is_asked in asked.items():
        if is_asked:
            raise ValueError(f"{name} is not for fits on a cluster: leave it out")
    return recipe


def _fit(
    estimator: LatentDirichletAllocation, source: ParquetSource, pool: Any, recipe: Recipe
) -> None:
    """As `LatentDirichletAllocation.fit`, but for one start and where documents are."""
    n, v = source.n_documents, source.n_words
    edges = [*range(0, n, _COUNTED), n]
    counted = pool.run(
        [
            Call(count, pair, place=number * pool.size // max(1, len(edges) - 1))
            for number, pair in enumerate(pairwise(edges))
        ]
    )
    columns = np.unique(np.concatenate([part.columns for part in counted]))
    n_tokens = sum(part.n_tokens for part in counted)
    if not n_tokens:
        raise ValueError(f"{source.name} has no words in its documents")
    recipe.check_population(n)
    size = DataSize(n, n_tokens, columns.size)
    data: Any = AllRows(pool, source, sum(part.n_pairs for part in counted))
    estimator.n_features_in_ = v
    estimator.__dict__.pop("feature_names_in_", None)
    estimator._begin_words()
    estimator._forget_names()
    model = estimator._build_model(v)
    learner = Learner(model, recipe, ClusterExecutor(pool, recipe.n_parts, recipe.exact_steps))
    rng = generator(estimator.random_state)
    state = learner.start(estimator._build_prior(data), rng, None)
    per_pass, n_passes = learner.length(size)
    name, done = type(estimator).__name__, 0
    steps = learner.passes(state, data, rng, size)
    del state
    with progress(name, n_passes * per_pass, per_pass, estimator.verbose) as report:
        for state, info in steps:  # noqa: B007
            done += 1
            report(done, info, "")
    state = learner.smoothed(state, data, rng)
    estimator._state, estimator._rng, estimator.n_iter_ = state, rng, -(-done // per_pass)
    estimator._n_samples_seen, estimator._mean_tokens = n, n_tokens / n
    if source.words is not None:
        estimator.set_words(list(source.words))
