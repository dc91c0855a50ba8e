"""The demonstration: topics of the docstrings of the installed Python packages."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

import trustream
from trustream import docstrings, text
from trustream.terminal import progress

_HELD_OUT = 0.05  # of the documents
_FEWEST_DOCUMENTS = 100


@dataclass(frozen=True)
class DemoResult:
    """What `run` measured. Log-likelihoods are in nats a word of the hidden halves.

    Attributes
    ----------
    topics : list of lists of str
        The most probable words of each topic, the largest topic first.
    n_documents, n_held_out, n_words : int
        Documents trained on, documents held out, words of the vocabulary.
    uniform, unigram, first_step, trained : float
        Log-likelihood of: all words equally likely (what equal, flat topics give before any
        training), the word frequencies of the training documents, the model after its first
        step, the trained model.
    seconds : float
        Time of the fit.
    """

    topics: list[list[str]]
    n_documents: int
    n_held_out: int
    n_words: int
    uniform: float
    unigram: float
    first_step: float
    trained: float
    seconds: float


def run(
    *,
    n_components: int = 20,
    max_documents: int = 10_000,
    n_words: int = 8,
    seed: int = 0,
    roots: Sequence[Path] | None = None,
    out: Console | None = None,
    err: Console | None = None,
) -> DemoResult:
    """Fit topics to docstrings, print them to ``out`` and progress to ``err``.

    Parameters
    ----------
    n_components, n_words : int
        Topics to fit, words to show for each.
    max_documents, roots
        Passed to `trustream.docstrings.collect`.
    seed : int
        Decides the held-out documents, their hidden halves and the fit.
    out, err : rich.console.Console, optional
        Standard output and standard error if not given.

    Raises
    ------
    ValueError
        If fewer than 100 docstrings are found, or they have no words in common.
    """
    out = Console() if out is None else out
    err = Console(stderr=True) if err is None else err
    rng = np.random.default_rng(seed)

    with progress(err, "Reading docstrings", max_documents) as advance:
        documents = docstrings.collect(roots, max_documents=max_documents, progress=advance)
    if len(documents) < _FEWEST_DOCUMENTS:
        raise ValueError(
            f"found {len(documents)} docstrings of some length; the demo needs {_FEWEST_DOCUMENTS}"
        )
    order = rng.permutation(len(documents))
    n_held_out = math.ceil(_HELD_OUT * len(documents))
    held_out = [documents[index] for index in order[:n_held_out]]
    training = [documents[index] for index in order[n_held_out:]]
    # Words come from the training part, so that each has been seen and none has probability zero.
    vocabulary = text.build_vocabulary(training)
    if not vocabulary:
        raise ValueError(f"the {len(training)} docstrings found have no words in common")
    counts = text.count_matrix(training, vocabulary)
    observed, hidden = split_tokens(text.count_matrix(held_out, vocabulary), rng)

    def score(model: Any) -> float:
        return completion_log_likelihood(model.transform(observed), model.components_, hidden)

    def fit(**options: Any) -> trustream.LatentDirichletAllocation:
        model = trustream.LatentDirichletAllocation(n_components, random_state=seed, **options)
        return model.fit(counts)

    first = fit(callback=lambda state, info: True)
    start = time.perf_counter()
    model = fit(verbose=1)
    seconds = time.perf_counter() - start

    frequency = counts.sum(axis=0)
    alone = np.ones((len(held_out), 1))
    result = DemoResult(
        topics=largest_first(model, n_words, vocabulary),
        n_documents=len(training),
        n_held_out=len(held_out),
        n_words=len(vocabulary),
        uniform=-math.log(len(vocabulary)),
        unigram=completion_log_likelihood(alone, frequency[None, :], hidden),
        first_step=score(first),
        trained=score(model),
        seconds=seconds,
    )
    _report(result, out)
    return result


def split_tokens(
    counts: sparse.csr_array, rng: np.random.Generator
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split each document's tokens at random into two halves; the first takes the odd one.

    Parameters
    ----------
    counts : (documents, words) CSR array of integers
    rng : numpy.random.Generator

    Returns
    -------
    observed, hidden : (documents, words) CSR arrays
        Their sum is ``counts``; neither shares memory with it.

    Examples
    --------
    >>> counts = sparse.csr_array([[2, 0, 3], [0, 1, 0]])
    >>> observed, hidden = split_tokens(counts, np.random.default_rng(0))
    >>> observed.sum(axis=1).tolist(), hidden.sum(axis=1).tolist()
    ([3, 1], [2, 0])
    >>> (observed + hidden - counts).nnz
    0
    """
    coo = counts.tocoo()
    rows, columns = np.repeat(coo.row, coo.data), np.repeat(coo.col, coo.data)
    shuffled = np.lexsort((rng.random(rows.size), rows))  # random within each document
    rows, columns = rows[shuffled], columns[shuffled]
    length = np.bincount(rows, minlength=counts.shape[0])
    rank = np.arange(rows.size) - (np.cumsum(length) - length)[rows]
    first = rank < (length[rows] + 1) // 2

    def gather(chosen: np.ndarray) -> sparse.csr_array:
        ones = np.ones(np.count_nonzero(chosen), dtype=counts.dtype)
        place = (rows[chosen], columns[chosen])
        return sparse.coo_array((ones, place), shape=counts.shape).tocsr()

    return gather(first), gather(~first)


def completion_log_likelihood(
    theta: np.ndarray, components: np.ndarray, hidden: sparse.csr_array, *, chunk: int = 65_536
) -> float:
    """Return the log-likelihood in nats a word of ``hidden`` given the documents' topics.

    The mean over hidden tokens of log sum_k theta[d, k] E[beta][k, v], where E[beta] is
    ``components`` over its row sums. Only the words that occur are looked at.

    Parameters
    ----------
    theta : (documents, topics) array
        Rows sum to one.
    components : (topics, words) array
        Pseudo-counts or probabilities.
    hidden : (documents, words) CSR array

    Examples
    --------
    >>> theta, components = np.array([[0.5, 0.5]]), np.array([[9.0, 1.0], [1.0, 9.0]])
    >>> hidden = sparse.csr_array([[3, 1]])
    >>> round(completion_log_likelihood(theta, components, hidden), 4) == round(math.log(0.5), 4)
    True
    """
    words = np.ascontiguousarray((components / components.sum(axis=1, keepdims=True)).T)
    coo = hidden.tocoo()
    total = 0.0
    for start in range(0, coo.nnz, chunk):  # bounds the memory at chunk x topics
        part = slice(start, start + chunk)
        probability = np.einsum("nk,nk->n", theta[coo.row[part]], words[coo.col[part]])
        total += float(coo.data[part] @ np.log(probability.astype(np.float64)))
    return total / float(hidden.sum())


def largest_first(
    model: trustream.LatentDirichletAllocation, n: int, vocabulary: Sequence[str]
) -> list[list[str]]:
    """Return the ``n`` most probable words of each topic, the topic with most words first."""
    topics = model.top_words(n, vocabulary)
    return [topics[k] for k in np.argsort(-model.components_.sum(axis=1), kind="stable")]


def _report(result: DemoResult, out: Console) -> None:
    """Print the topics and the numbers."""
    topics = Table(title="Topics, the largest first", title_justify="left")
    topics.add_column("", justify="right")
    topics.add_column("Most probable words")
    for number, words in enumerate(result.topics, start=1):
        topics.add_row(str(number), " ".join(words))
    out.print(topics)

    scores = Table(
        title=f"Held-out log-likelihood: half of each of {result.n_held_out} new documents "
        "given the other half",
        title_justify="left",
    )
    scores.add_column("Model")
    scores.add_column("nats a word", justify="right")
    scores.add_row("before training: all words equally likely", f"{result.uniform:.3f}")
    scores.add_row("word frequencies alone, no topics", f"{result.unigram:.3f}")
    scores.add_row("after the first step", f"{result.first_step:.3f}")
    scores.add_row("after training", f"{result.trained:.3f}")
    out.print(scores)
    out.print(
        f"Trained on {result.n_documents:,} docstrings, {result.n_words:,} different words, "
        f"in {result.seconds:.1f} s."
    )
