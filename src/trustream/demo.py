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

import trustream
from trustream import docstrings, text
from trustream.evaluation import completion_from, split_tokens
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
    test = text.count_matrix(held_out, vocabulary)
    _, hidden = split_tokens(test, seed)

    def score(model: Any) -> float:
        return model.completion(test, random_state=seed).per_word  # of the same hidden half

    def fit(**options: Any) -> trustream.LatentDirichletAllocation:
        model = trustream.LatentDirichletAllocation(n_components, random_state=seed, **options)
        return model.fit(counts)

    first = fit(callback=lambda state, info: True)
    start = time.perf_counter()
    model = fit(verbose=1)
    seconds = time.perf_counter() - start

    frequency = counts.sum(axis=0)[None, :] / counts.sum()
    alone = np.ones((len(held_out), 1))
    result = DemoResult(
        topics=largest_first(model, n_words, vocabulary),
        n_documents=len(training),
        n_held_out=len(held_out),
        n_words=len(vocabulary),
        uniform=-math.log(len(vocabulary)),
        unigram=completion_from(alone, frequency, hidden).per_word,
        first_step=score(first),
        trained=score(model),
        seconds=seconds,
    )
    _report(result, out)
    return result


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
