"""Every public function that takes a matrix, as functions of that matrix alone.

Each returns arrays that can be compared. Models are small and in float64, so that what differs by
rounding only is still close after a few steps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import trustream
from tests.reliability.damaged_matrices import N_COLUMNS, N_ROWS
from trustream import cluster, evaluation, feeds, topics
from trustream.cluster.parquet_source import ParquetSource
from trustream.evaluation.item_lists import scored_items
from trustream.evaluation.report import report
from trustream.store import Record

Entry = Callable[[Any], Any]

_RNG = np.random.default_rng(0)
COUNTS = _RNG.poisson(2.0, (40, N_COLUMNS)) + np.eye(40, N_COLUMNS, dtype=np.int64)
TOPICS = _RNG.dirichlet(np.ones(N_COLUMNS), 3)
SCORES = _RNG.random((N_ROWS, N_COLUMNS))
LISTS = np.argsort(-SCORES, axis=1)
TINY: dict[str, Any] = {"max_iter": 1, "random_state": 0, "dtype": "float64", "n_jobs": 1}
RATED = np.where(COUNTS[:N_ROWS] > 2, COUNTS[:N_ROWS], 0)
# These take dense data alone and say so by scikit-learn's TypeError.
DENSE_ONLY = {
    "gaussian.fit", "gaussian.predict_proba", "symbols.fit", "symbols.predict", "linear.fit",
    "linear.partial_fit", "linear.predict", "probit.fit", "probit.predict_proba",
}  # fmt: skip


def lda(**options: Any) -> Any:
    return trustream.LatentDirichletAllocation(2, batch_size=4, **{**TINY, **options})


def bernoulli(**options: Any) -> Any:
    return trustream.BernoulliMixture(2, batch_size=4, **{**TINY, **options})


def factorization(**options: Any) -> Any:
    """As in `lda`; some of the matrices hold no whole numbers."""
    tiny = {**TINY, "whole_counts": False, **options}
    return trustream.PoissonFactorization(2, batch_size=4, **tiny)


def hmm() -> Any:
    return trustream.HiddenMarkovModel(2, "bernoulli", batch_size=1, **TINY)


def symbols() -> Any:
    return trustream.HiddenMarkovModel(2, **TINY).fit(COUNTS[:, :1])


def linear() -> Any:
    return trustream.BayesianLinearRegression(n_jobs=1).fit(COUNTS, np.arange(len(COUNTS)))


def probit() -> Any:
    return trustream.ProbitRegression(n_jobs=1).fit(COUNTS, np.arange(len(COUNTS)) % 2)


def poisson_recommender() -> Any:
    return trustream.PoissonRecommender(2, **TINY)


def recommender() -> Any:
    return trustream.TopicRecommender(2, **TINY)


@cache
def _fitted(make: Callable[[], Any]) -> Any:
    data = RATED if make in (recommender, poisson_recommender) else COUNTS
    return make().fit(data)


def fitted(make: Callable[[], Any]) -> Any:
    return _fitted(make)


@cache
def gaussian() -> Any:
    return trustream.GaussianMixture(2, **TINY).fit(COUNTS)


def _changed(make: Callable[[], Any], X: Any) -> Any:
    """What a fitted model knows after another step, on a copy."""
    import copy

    return copy.deepcopy(fitted(make)).partial_fit(X)


def _held_out(method: str, **options: Any) -> Entry:
    small = {"n_iter": 2, "n_burn": 1, "n_repeats": 1} if method == "chib" else {}
    small |= {"n_particles": 2, "max_document_tokens": 500} if method == "left_to_right" else {}
    small |= {"max_document_tokens": 500} if method == "chib" else {}
    small |= {"n_samples": 5} if method == "importance" else {}
    function = getattr(evaluation, method)
    return lambda X: (
        function(X, TOPICS, 0.1, random_state=0, n_jobs=1, **small, **options).per_document
    )


def _of_lda(method: str, **options: Any) -> Entry:
    def call(X: Any) -> Any:
        result = getattr(fitted(lda), method)(X, **options)
        return getattr(result, "per_document", result)

    return call


def _ranked(result: Any) -> Any:
    return [result.recall.per_user, result.ndcg.per_user]


ENTRY_POINTS: dict[str, Entry] = {
    "lda.fit": lambda X: lda().fit(X).components_,
    "lda.fit collapsed": lambda X: lda(local="collapsed").fit(X).components_,
    "lda.fit batch": lambda X: lda(learning_method="batch").fit(X).components_,
    "lda.fit memoized": lambda X: lda(learning_method="memoized").fit(X).components_,
    "lda.fit streaming-vb": lambda X: lda(learning_method="streaming-vb").fit(X).components_,
    "lda.fit streaming-batch": lambda X: lda(learning_method="streaming-batch").fit(X).components_,
    "lda.fit_transform": lambda X: lda().fit_transform(X),
    "lda.partial_fit first": lambda X: lda().partial_fit(X).components_,
    "lda.partial_fit": lambda X: _changed(lda, X).components_,
    "lda.transform": _of_lda("transform"),
    "lda.score": _of_lda("score"),
    "lda.perplexity": _of_lda("perplexity"),
    "lda.elbo": _of_lda("elbo"),
    "lda.elbo per word": _of_lda("elbo", per="word"),
    "lda.bound": _of_lda("bound"),
    "lda.chib": _of_lda("chib", n_iter=2, n_burn=1, n_repeats=1, max_document_tokens=500),
    "lda.left_to_right": _of_lda("left_to_right", n_particles=2, max_document_tokens=500),
    "lda.completion": _of_lda("completion"),
    "lda.importance": _of_lda("importance", n_samples=5),
    "lda.coherence": lambda X: fitted(lda).coherence(X, n_words=3).per_topic,
    "bernoulli.fit": lambda X: bernoulli().fit(X).means_,
    "bernoulli.fit of zeros and ones": lambda X: bernoulli(binarize=None).fit(X).means_,
    "bernoulli.partial_fit first": lambda X: bernoulli().partial_fit(X).means_,
    "bernoulli.partial_fit": lambda X: _changed(bernoulli, X).means_,
    "bernoulli.predict_proba": lambda X: fitted(bernoulli).predict_proba(X),
    "bernoulli.predict": lambda X: fitted(bernoulli).predict(X),
    "bernoulli.fit_predict": lambda X: bernoulli().fit_predict(X),
    "bernoulli.transform": lambda X: fitted(bernoulli).transform(X),
    "bernoulli.score_samples": lambda X: fitted(bernoulli).score_samples(X),
    "bernoulli.score": lambda X: fitted(bernoulli).score(X),
    "bernoulli.elbo": lambda X: fitted(bernoulli).elbo(X),
    "factorization.fit": lambda X: factorization().fit(X).components_,
    "factorization.fit_transform": lambda X: factorization().fit_transform(X),
    "factorization.partial_fit first": lambda X: factorization().partial_fit(X).components_,
    "factorization.partial_fit": lambda X: _changed(factorization, X).components_,
    "factorization.transform": lambda X: fitted(factorization).transform(X),
    "factorization.score_samples": lambda X: fitted(factorization).score_samples(X),
    "factorization.score": lambda X: fitted(factorization).score(X),
    "factorization.elbo": lambda X: fitted(factorization).elbo(X),
    "hmm.fit": lambda X: hmm().fit(X).means_,
    "hmm.partial_fit first": lambda X: hmm().partial_fit(X).means_,
    "hmm.partial_fit": lambda X: _changed(hmm, X).means_,
    "hmm.predict_proba": lambda X: fitted(hmm).predict_proba(X),
    "hmm.predict": lambda X: fitted(hmm).predict(X),
    "hmm.fit_predict": lambda X: hmm().fit_predict(X),
    "hmm.score_samples": lambda X: fitted(hmm).score_samples(X),
    "hmm.score": lambda X: fitted(hmm).score(X),
    "hmm.elbo": lambda X: fitted(hmm).elbo(X),
    "symbols.fit": lambda X: trustream.HiddenMarkovModel(2, **TINY).fit(X).transmat_,
    "symbols.predict": lambda X: symbols().predict(X),
    "linear.fit": lambda X: linear().fit(X, np.arange(X.shape[0])).coef_,
    "linear.partial_fit": lambda X: linear().partial_fit(X, np.arange(X.shape[0])).coef_,
    "linear.predict": lambda X: linear().predict(X),
    "probit.fit": lambda X: probit().fit(X, np.arange(X.shape[0]) % 2).coef_,
    "probit.predict_proba": lambda X: probit().predict_proba(X),
    "gaussian.fit": lambda X: trustream.GaussianMixture(2, **TINY).fit(X).means_,
    "gaussian.predict_proba": lambda X: gaussian().predict_proba(X),
    "recommender.fit": lambda X: recommender().fit(X).item_topics_,
    "recommender.partial_fit first": lambda X: recommender().partial_fit(X).item_topics_,
    "recommender.partial_fit": lambda X: _changed(recommender, X).item_topics_,
    "poisson_recommender.fit": lambda X: poisson_recommender().fit(X).item_factors_,
    "poisson_recommender.partial_fit first": lambda X: (
        poisson_recommender().partial_fit(X).item_factors_
    ),
    "poisson_recommender.partial_fit": lambda X: _changed(poisson_recommender, X).item_factors_,
    "poisson_recommender.evaluate": lambda X: _ranked(
        fitted(poisson_recommender).evaluate(X, m=3)
    ),
    "recommender.evaluate": lambda X: _ranked(fitted(recommender).evaluate(X, m=3)),
    "chib": _held_out("chib"),
    "left_to_right": _held_out("left_to_right"),
    "importance": _held_out("importance"),
    "completion": _held_out("completion"),
    "completion, reference": _held_out("completion", backend="reference"),
    "completion hidden": lambda X: evaluation.completion(
        COUNTS[:N_ROWS], TOPICS, 0.1, hidden=X, n_jobs=1
    ).per_document,
    "completion observed": lambda X: evaluation.completion(
        X, TOPICS, 0.1, hidden=COUNTS[:N_ROWS], n_jobs=1
    ).per_document,
    "completion_from": lambda X: evaluation.completion_from(
        np.full((N_ROWS, 3), 1 / 3), TOPICS, X, n_jobs=1
    ).per_document,
    "split_tokens": lambda X: [half.toarray() for half in evaluation.split_tokens(X, 0)],
    "bound": lambda X: evaluation.bound(X, TOPICS + 1, 0.1, 0.1, n_jobs=1).per_document,
    "npmi": lambda X: evaluation.npmi(TOPICS, X, n_words=3).per_topic,
    "umass": lambda X: evaluation.umass(TOPICS, X, n_words=3).per_topic,
    "c_v": lambda X: evaluation.c_v(TOPICS, X, n_words=3).per_topic,
    "coherence of topics": lambda X: evaluation.coherence(X, COUNTS, n_words=3).per_topic,
    "diversity": lambda X: evaluation.diversity(X, 3),
    "topic_distances": lambda X: evaluation.topic_distances(X),
    "match_topics": lambda X: evaluation.match_topics(X, TOPICS).distances,
    "ranking held_out": lambda X: _ranked(evaluation.ranking(SCORES, X, m=2, n_threads=1)),
    "ranking seen": lambda X: _ranked(
        evaluation.ranking(SCORES, RATED, seen=X, m=2, n_threads=1)
    ),
    "ranking scores": lambda X: _ranked(evaluation.ranking(X, RATED, m=2, n_threads=1)),
    "ranking_of_lists held_out": lambda X: _ranked(evaluation.ranking_of_lists(LISTS, X, m=2)),
    "ranking_of_lists seen": lambda X: _ranked(
        evaluation.ranking_of_lists(LISTS, RATED, seen=X, m=2)
    ),
    "top_items": lambda X: evaluation.top_items(SCORES, 3, seen=X, n_threads=1),
    "scored_items": lambda X: scored_items(SCORES, 3, seen=X, n_threads=1)[1],
    "predictive": lambda X: evaluation.predictive(fitted(bernoulli), X).per_point,
    "bernoulli_log_density": lambda X: evaluation.bernoulli_log_density(
        X, [0.5, 0.5], np.linspace(0.1, 0.9, 2 * N_COLUMNS).reshape(2, N_COLUMNS)
    ),
    "report": lambda X: [
        figure.value for figure in report(fitted(lda), X, measures=["bound", "npmi"], n_words=3,
                                          n_jobs=1).figures
    ],
    "report of topics alone": lambda X: [
        report(fitted(lda), X, measures=["diversity"]).figures[0].value
    ],
    "topics.topic_info": lambda X: [
        one.share for one in topics.topic_info(fitted(lda), X, n_words=3).topics
    ],
    "topics.topics_over_time": lambda X: topics.topics_over_time(
        fitted(lda), X, np.arange(float(X.shape[0])), 2, n_words=3
    ).shares,
    "topics.representative_documents": lambda X: [
        one.proportion for one in topics.representative_documents(fitted(lda), 0, X)
    ],
    "topics.view_documents": lambda X: [
        view.n_tokens for view in topics.view_documents(fitted(lda), X)
    ],
    "topics.topic_correlation": lambda X: topics.topic_correlation(fitted(lda), X),
    "topics.gather": lambda X: topics.gather(fitted(lda), X),
    "topics.split_topic": lambda X: topics.split_topic(
        fitted(lda), 0, X, random_state=0
    ).topics.weights,
    "topics.change_after": lambda X: _changes(X),
    "topics.report_data": lambda X: _shares(topics.report_data(fitted(lda), X)),
    "topics.write_report": lambda X: _written(
        lambda folder: topics.write_report(folder / "page.html", fitted(lda), X)
    ),
    "topics.documents_to_arrow": lambda X: [
        batch.column("n_tokens").to_numpy() for batch in topics.documents_to_arrow(fitted(lda), X)
    ],
    "topics.write_parquet": lambda X: _written(
        lambda folder: topics.write_parquet(fitted(lda), folder, X)
    ),
    "topics.choose_n_components": lambda X: topics.choose_n_components(
        X, [2], random_state=0, held_out=0.5
    ).n_components,
    "cluster.write_counts": lambda X: _counted(X),
}  # fmt: skip


def _changes(X: Any) -> Any:
    edit = topics.deleting(fitted(lda).topic_names_, [0])
    return topics.change_after(edit, fitted(lda), X).mean


def _shares(data: Any) -> Any:
    return [topic["share"] for topic in data["topics"]]


def _written(write: Callable[[Path], object]) -> int:
    """How many files are written, whole ones."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return len(list(Path(folder).iterdir()))


def _counted(X: Any) -> Any:
    """The matrix, written as Parquet and read as workers of a cluster read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.parquet"
        cluster.write_counts(path, X)
        found, _ = ParquetSource.of(path).open().read(np.arange(X.shape[0]))
    parts = (found.counts, found.indices, found.indptr)
    return sp.csr_array(parts, shape=X.shape).toarray()


# --- through files


def commands(folder: Path) -> dict[str, list[str]]:
    """Commands that take a file of a matrix as their last argument, with models in the folder."""
    words = list("abcdef")
    with trustream.open_store(str(folder / "store.db"), vocabulary=words) as store:
        texts = [np.repeat(words, row).tolist() for row in COUNTS]
        store.append(Record(f"document {i}", text) for i, text in enumerate(texts))
        with trustream.StreamTrainer(store, n_components=2, batch_size=8) as trainer:
            trainer.run(steps=1)
    fitted(lda).save(folder / "topics.safetensors")
    fitted(bernoulli).save(folder / "mixture.safetensors")
    return {
        "transform": ["transform", str(folder / "store.db")],
        "evaluate a store": ["evaluate", str(folder / "store.db")],
        "evaluate topics": ["evaluate", str(folder / "topics.safetensors")],
        "evaluate a mixture": ["evaluate", str(folder / "mixture.safetensors")],
    }


def save_parts(path: Path, matrix: Any, named: bool) -> None:
    """Write a matrix's arrays as they are, as SciPy's save_npz does, or without its format."""
    parts: dict[str, Any] = {"data": matrix.data, "shape": np.array(matrix.shape)}
    if matrix.format in ("csr", "csc", "bsr"):
        parts |= {"indices": matrix.indices, "indptr": matrix.indptr}
    elif matrix.format == "dia":
        parts["offsets"] = matrix.offsets
    else:
        parts |= {"row": matrix.coords[0], "col": matrix.coords[1]}
    if any(getattr(part, "dtype", np.dtype("O")).kind == "O" for part in parts.values()):
        raise ValueError("only arrays of numbers are saved")
    if named:
        parts["format"] = matrix.format.encode()
    np.savez(path, **parts)


def from_file(matrix: Any, named: bool = True) -> sp.csr_array:
    """The matrix, written to a file and read again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npz"
        save_parts(path, matrix, named)
        return feeds.read_matrix(path)


FILE_FORMATS = {"csr", "csc", "bsr", "coo", "dia"}
FILES: dict[str, Entry] = {
    "npz": lambda X: from_file(X).toarray(),
    "npz, transform": lambda X: fitted(lda).transform(from_file(X)),
}
PARTS: Entry = lambda X: from_file(X, named=False).toarray()  # noqa: E731
