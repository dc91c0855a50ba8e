"""Coherence of topics next to gensim's, on the same topics and the same articles.

gensim's result is computed once and ours several times: it takes minutes, ours parts of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from gensim.corpora import Dictionary
from gensim.matutils import Sparse2Corpus
from gensim.models import CoherenceModel
from gensim.topic_coherence.direct_confirmation_measure import log_ratio_measure
from gensim.topic_coherence.probability_estimation import p_boolean_document
from gensim.topic_coherence.segmentation import s_one_pre

from benchmarks import corpora
from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.harness.timing import seconds
from trustream import LatentDirichletAllocation
from trustream.evaluation.topic_coherence import coherence
from trustream.evaluation.word_lists import top_words

FILES = ("wiki_en.npz",)
N_TOPICS, WINDOW = 100, 10
_REPETITIONS = 5
# Articles for which gensim runs with one and with two processes. Two are several times slower,
# because pairs go one by one into a sparse matrix after each 64 articles: for all, one is enough.
_BOTH = 1_000

Scores = Callable[[], np.ndarray]


def measure(setup: Setup) -> Iterator[Row]:
    """gensim's time over ours: NPMI of documents and of sliding windows, and UMass."""
    counts = corpora.wiki(setup.data, "wiki_en")
    lda = LatentDirichletAllocation(
        N_TOPICS, max_iter=1, random_state=0, n_jobs=setup.n_threads
    ).fit(counts[: setup.choose(10_000, 2_000)])
    counts = counts[: setup.choose(counts.shape[0], 2_000)]
    articles = f"{counts.shape[0]} articles, {N_TOPICS} topics of"
    yield from _npmi(counts[:_BOTH], _topics(lda, counts[:_BOTH], 10), (1, 2))
    if counts.shape[0] > _BOTH:
        yield from _npmi(counts, _topics(lda, counts, 10), (1,))
    for n_words in (10, 20):
        topics = _topics(lda, counts, n_words)
        ours = partial(_scores, topics, counts)
        peers = {"gensim, by its parts": partial(_parts, topics, Sparse2Corpus(counts.T))}
        yield from _compare(f"NPMI by parts, {articles} {n_words} words", ours, peers)
        ours = partial(_scores, topics, counts, measure="umass")
        peers = {"gensim": partial(_gensim, topics, "u_mass", corpus=Sparse2Corpus(counts.T))}
        yield from _compare(f"UMass, {articles} {n_words} words", ours, peers)
    # Sliding windows over all articles take gensim ten minutes.
    counts = counts[: setup.choose(2_000, 300)]
    texts, topics = _texts(counts), _topics(lda, counts, 10)
    yield from _compare(
        f"NPMI, windows of {WINDOW}, {len(texts)} articles, {N_TOPICS} topics of 10 words",
        partial(_scores, topics, texts, vocabulary=_names(counts.shape[1])),
        {
            f"gensim, processes={n}": partial(
                _gensim, topics, "c_npmi", texts=texts, window_size=WINDOW, processes=n
            )
            for n in (1, 2)
        },
        10,
    )


def _npmi(
    counts: sp.csr_matrix, topics: list[list[int]], processes: tuple[int, ...]
) -> Iterator[Row]:
    """NPMI whose windows are articles, against gensim's model."""
    name = f"NPMI, {counts.shape[0]} articles, {len(topics)} topics of {len(topics[0])} words"
    peers = _models(topics, counts, processes)
    yield from _compare(name, partial(_scores, topics, counts), peers, 10)


def _topics(lda: LatentDirichletAllocation, counts: sp.csr_matrix, n_words: int) -> list[list[int]]:
    """Top words among those that the articles have: gensim has no number for others."""
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    return top_words(lda.components_ * occurs, n_words)


def _compare(
    name: str, ours: Scores, peers: Mapping[str, Scores], target: float | None = None
) -> Iterator[Row]:
    """The best of the peers against the median of ours, and whether they agree."""
    results: dict[str, np.ndarray] = {}

    def keeping(who: str, task: Scores) -> Callable[[], None]:
        def run() -> None:
            results[who] = task()

        return run

    ours()
    timings = {who: [seconds(keeping(who, task))] for who, task in peers.items()}
    own = keeping("trustream", ours)
    timings["trustream"] = [seconds(own) for _ in range(_REPETITIONS)]
    ratio = min(timings[who][0] for who in peers) / median(timings["trustream"])
    title, details = f"{name}, against gensim", {"timings": timings}
    if target is None:
        yield information(title, ratio, "x faster", **details)
    else:
        yield at_least(title, ratio, target, "x faster", **details)
    difference = max(float(np.abs(results[who] - results["trustream"]).max()) for who in peers)
    yield at_most(f"{name}, largest difference", difference, 1e-6, "")


def _scores(topics: list[list[int]], reference: object, **options: Any) -> np.ndarray:
    return coherence(topics, reference, n_words=len(topics[0]), **options).per_topic


def _models(
    topics: list[list[int]], counts: sp.csr_matrix, processes: tuple[int, ...]
) -> dict[str, Scores]:
    """gensim's NPMI whose windows are articles: it takes texts, and a window that none fills."""
    names = _names(counts.shape[1])
    texts = [
        [names[v] for v in counts.indices[start:stop]]
        for start, stop in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    options = {"texts": texts, "window_size": max(len(text) for text in texts) + 1}
    return {
        f"gensim, processes={n}": partial(_gensim, topics, "c_npmi", processes=n, **options)
        for n in processes
    }


def _parts(topics: list[list[int]], corpus: Sparse2Corpus) -> np.ndarray:
    """The same from gensim's parts: faster than its model, which counts pairs across topics."""
    pairs = s_one_pre([np.array(topic) for topic in topics])
    return np.array(log_ratio_measure(pairs, p_boolean_document(corpus, pairs), normalize=True))


def _gensim(topics: list[list[int]], measure: str, **options: Any) -> np.ndarray:
    n_words = 1 + max(max(topic) for topic in topics)
    options = {
        "processes": 1,
        "dictionary": _dictionary(n_words),
        "topn": len(topics[0]),
        **options,
    }
    return np.array(
        CoherenceModel(topics=topics, coherence=measure, **options).get_coherence_per_topic()
    )


def _dictionary(n_words: int) -> Dictionary:
    """Words by their column."""
    dictionary = Dictionary()
    dictionary.token2id = {name: v for v, name in enumerate(_names(n_words))}
    return dictionary


def _names(n_words: int) -> list[str]:
    return [f"w{v}" for v in range(n_words)]


def _texts(counts: sp.csr_matrix) -> list[list[str]]:
    """Articles as tokens; the order of words is not known, so it is random."""
    rng = np.random.default_rng(0)
    names = np.array(_names(counts.shape[1]), object)
    texts = []
    for start, stop in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(counts.indices[start:stop], counts.data[start:stop])
        texts.append(names[rng.permutation(tokens)].tolist())
    return texts
