"""Infer the topics of the documents of a corpus on workers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trustream._regular_file import replace_file, replacement
from trustream.array_types import Array
from trustream.cluster.corpora import open_corpus
from trustream.cluster.corpus_parts import Corpus, CorpusPart
from trustream.cluster.over_parts import Progress, Shared, blocks_of, over_parts
from trustream.cluster.pool import pool_on
from trustream.cluster.worker import Worker
from trustream.file_errors import readable
from trustream.streaming.fitted_models import FittedModel, column_words, without_column_names
from trustream.topics.documents import as_matrix
from trustream.topics.inference import DocumentTopics, document_topics

# What a folder of results says of where they come from.
_ABOUT = "_transform.json"


@dataclass(frozen=True, slots=True)
class Transformed:
    """What was written to a folder.

    Attributes:
        folder: with a file for each part of the corpus.
        n_documents: documents of all files.
        n_unknown: those of them without a word that the model knows.
        n_files: how many files there are.
        n_kept: files of them that were there already, from a run that was stopped.
    """

    folder: str
    n_documents: int
    n_unknown: int
    n_files: int
    n_kept: int


def transform(
    model: Any,
    source: str | Path | Sequence[str | Path],
    *,
    cluster: str = "local",
    workers: int | None = None,
    worker_threads: int = 1,
    top: int = 5,
    n_documents: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[DocumentTopics]:
    """Yield the topics of each document of Parquet files or of a store, in their order.

    Workers read and infer; what `trustream.topics.inference.infer` yields comes from here, the same
    to the last bit, whatever the number of workers. For results that need not come together on
    this machine, `transform_to` writes Parquet files.

    Parameters
    ----------
    model : FittedModel or fitted LatentDirichletAllocation
        With words, for texts.
    source : str, Path or sequence of them
        Parquet files (a file, a folder, a pattern, a list), or the address of a store.
    cluster : str, default="local"
        Of the cluster: "local" starts Ray on this machine, "auto" is the cluster that this machine
        belongs to, and "host:port" the head node of another.
    workers : int, default=None
        None is one for each core of the cluster.
    worker_threads : int, default=1
        Cores of a worker.
    top : int, default=5
        Topics that are listed for each document.
    n_documents : int, default=None
        Only the first so many.
    progress : callable, default=None
        Called as progress(documents done, documents).
    **options
        How Parquet files are read, see `trustream.feeds.Options`.
    """
    if top < 1:
        raise ValueError(f"top is {top}; give 1 or more")
    fitted = as_fitted(model)
    corpus = open_corpus(source, n_documents=n_documents, **options)
    corpus.check(fitted)
    return _transform(fitted, corpus, cluster, workers, worker_threads, top, progress)


def _transform(
    fitted: FittedModel,
    corpus: Corpus,
    cluster: str,
    workers: int | None,
    worker_threads: int,
    top: int,
    progress: Progress | None,
) -> Iterator[DocumentTopics]:
    ids = fitted.estimator.topic_names_.ids
    with pool_on(cluster, corpus, workers, worker_threads) as pool:
        shared = Shared(pool.put(fitted))
        for part in over_parts(pool, corpus, inferred, shared, progress=progress):
            for i, key in enumerate(part.keys):
                known, tokens = part.n_known[i], part.n_tokens[i]
                yield document_topics(part.first + i, key, part.theta[i], ids, top, tokens, known)


def transform_to(
    folder: str | Path,
    model: Any,
    source: str | Path | Sequence[str | Path],
    *,
    cluster: str = "local",
    workers: int | None = None,
    worker_threads: int = 1,
    n_documents: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Transformed:
    """Write the topics of the documents of Parquet files or of a store as Parquet files.

    Workers read, infer and write; nothing of it passes through this process. There is a file for
    each part of the corpus, in order, with the columns `row`, `id`, `n_tokens`, `n_known` and
    `theta`, a list with the proportion of each topic. A file is there when it is complete. If the
    run is stopped, the same call goes on with the files that are missing.

    Parameters
    ----------
    folder : str or Path
        Where to write, on storage that all workers share; made if it is not there. One with other
        results is refused.
    model, source, cluster, workers, worker_threads, n_documents, progress, **options
        As in `transform`.

    Returns
    -------
    Transformed
    """
    fitted = as_fitted(model)
    corpus = open_corpus(source, n_documents=n_documents, **options)
    corpus.check(fitted)
    path = Path(os.path.abspath(folder))
    _begin(path, {"model": _digest(fitted), "corpus": corpus.identity(), "n": len(corpus.parts)})
    missing = [part for part in corpus.parts if not _part_file(path, part).exists()]
    if missing:
        with pool_on(cluster, corpus, workers, worker_threads) as pool:
            shared = Shared(pool.put(fitted))
            results = over_parts(
                pool, corpus, written, shared, str(path), parts=missing, progress=progress
            )
            for _ in results:
                pass
    n_rows, n_unknown = _counted(path, corpus.parts)
    n_files = len(corpus.parts)
    return Transformed(str(path), n_rows, n_unknown, n_files, n_files - len(missing))


# --- on workers


@dataclass(frozen=True, eq=False, slots=True)
class InferredPart:
    """Topic proportions of the documents of a part.

    Attributes:
        first: number of its first document.
        keys: of the documents.
        theta: (B, K).
        n_tokens, n_known: (B,).
    """

    first: int
    keys: list[str]
    theta: Array
    n_tokens: Array
    n_known: Array


def inferred(worker: Worker, part: CorpusPart, model: Shared) -> InferredPart:
    """What the documents of a part are about; called on a worker."""
    estimator = on_threads(model.get(worker).estimator, worker.n_threads)
    keys: list[str] = []
    thetas, n_tokens, n_known = [], [], []
    for _, block in blocks_of(worker, part, model):
        counts = as_matrix(block.documents.counts)
        keys += block.documents.keys
        thetas.append(estimator.transform(counts))
        n_tokens.append(block.n_tokens)
        n_known.append(np.asarray(counts.sum(axis=1), np.float64).ravel())
    if not thetas:
        n_topics = len(estimator.topic_names_.ids)
        return InferredPart(part.first, [], np.empty((0, n_topics)), np.empty(0), np.empty(0))
    return InferredPart(
        part.first, keys, np.concatenate(thetas), np.concatenate(n_tokens), np.concatenate(n_known)
    )


def written(worker: Worker, part: CorpusPart, model: Shared, folder: str) -> int:
    """Write what the documents of a part are about; returns how many there are."""
    import pyarrow
    from pyarrow import parquet

    found = inferred(worker, part, model)
    n_topics = found.theta.shape[1]
    values = pyarrow.array(np.ascontiguousarray(found.theta).ravel())
    table = pyarrow.table(
        {
            "row": np.arange(part.first, part.first + len(found.keys)),
            "id": pyarrow.array(found.keys, pyarrow.string()),
            "n_tokens": found.n_tokens,
            "n_known": found.n_known,
            "theta": pyarrow.FixedSizeListArray.from_arrays(values, n_topics),
        }
    )
    # Another worker may write the same.
    with replacement(_part_file(Path(folder), part)) as temporary:
        parquet.write_table(table, temporary)
    return len(found.keys)


def on_threads(estimator: Any, worker_threads: int) -> Any:
    """Return an estimator with the threads of a worker; nothing of it is copied."""
    mine = object.__new__(type(estimator))
    mine.__dict__.update(vars(estimator), n_jobs=worker_threads)
    return mine


# --- folders of results


def as_fitted(model: Any) -> FittedModel:
    """Return a fitted topic model with its words; one of `load_fitted` stays as it is.

    Raises
    ------
    ValueError
        If it is no topic model.
    """
    if not isinstance(model, FittedModel):
        estimator = getattr(model, "estimator_", model)
        name = type(estimator).__name__
        if not hasattr(estimator, "topic_names_"):
            raise ValueError(f"model is of type {name}, expected a fitted topic model")
        tokeniser = getattr(estimator, "_tokeniser", None)
        words = column_words(estimator)
        model = FittedModel("the model", without_column_names(estimator), words, tokeniser)
    model.check_topics()
    return model


def _part_file(folder: Path, part: CorpusPart) -> Path:
    return folder / f"part-{part.number:06d}.parquet"


def _begin(folder: Path, about: dict[str, Any]) -> None:
    """See to it that the folder has results of this model and corpus, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    said = folder / _ABOUT
    if said.exists():
        with readable(str(said)):
            found = json.loads(said.read_text())
        if found != about:
            raise ValueError(
                f"{folder} has the topics of other documents, or by another model: give a new "
                "folder, or remove it first"
            )
        return
    # What a run that was killed has left of a file begins with a dot.
    others = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    if others:
        raise ValueError(f"{folder} is not empty, it has {sorted(others)[0]!r}: give a new folder")
    replace_file(said, [json.dumps(about).encode()])


def _digest(model: FittedModel) -> str:
    topics, alpha = model.estimator._scored_topics()
    digest = hashlib.sha256(np.ascontiguousarray(topics).data)
    digest.update(np.ascontiguousarray(alpha).data)
    digest.update("\n".join(model.words or ()).encode())
    return digest.hexdigest()


def _counted(folder: Path, parts: Sequence[CorpusPart]) -> tuple[int, int]:
    """Documents of all files, and those without a known word."""
    from pyarrow import parquet

    n_rows = n_unknown = 0
    for part in parts:
        path = _part_file(folder, part)
        with readable(path.name):
            known = parquet.read_table(path, columns=["n_known"])["n_known"].to_numpy()
        n_rows, n_unknown = n_rows + known.size, n_unknown + int((known == 0).sum())
    return n_rows, n_unknown
