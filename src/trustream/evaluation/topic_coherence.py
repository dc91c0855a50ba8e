"""Measure the coherence of topics: how often their top words occur together in a reference.

The measures and their smoothing are those of gensim's `CoherenceModel`, so that numbers can be
compared. For words that do not occur in the reference gensim returns NaN, infinity or the best
value; here they give the worst value, and `Coherence.unseen` is their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.evaluation import cooccurrence, reference_corpora, word_lists
from trustream.evaluation.cooccurrence import WindowCounts
from trustream.evaluation.standard_errors import standard_error

# Added to the probability of a pair, so that the logarithm exists for pairs that never occur.
EPSILON = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Coherence:
    """The coherence of topics.

    Attributes:
        measure: "npmi", "umass" or "c_v".
        per_topic: (n_topics,), higher is better.
        unseen: (n_topics,), number of top words that never occur in the reference.
        n_words: the largest number of top words of a topic.
        window: tokens in a window; None where windows are whole documents.
        n_windows: number of windows in the reference.
    """

    measure: str
    per_topic: np.ndarray
    unseen: np.ndarray
    n_words: int
    window: int | None
    n_windows: int

    @property
    def mean(self) -> float:
        """Mean over topics."""
        return float(self.per_topic.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean, over topics; infinite for a single topic."""
        return float(standard_error(self.per_topic))

    def __repr__(self) -> str:
        window = "documents" if self.window is None else f"windows of {self.window}"
        unseen = f", {int(self.unseen.sum())} top words unseen" if self.unseen.any() else ""
        return (
            f"Coherence({self.measure} {self.mean:.4f} ± {self.standard_error:.4f}, "
            f"{self.per_topic.size} topics, {self.n_words} words, "
            f"{self.n_windows} {window}{unseen})"
        )


def coherence(
    topics: Any,
    reference: Any,
    measure: str = "npmi",
    *,
    n_words: int = 10,
    window: int | None = None,
    vocabulary: Sequence[str] | None = None,
    window_rule: str = "gensim",
) -> Coherence:
    """Compute the coherence of topics from co-occurrences of their top words in a reference.

    Parameters
    ----------
    topics : array of shape (n_topics, n_features), or sequence of sequences of int or str
        Weights, of which the `n_words` largest are taken (of equal ones the first); or top words,
        best first, as columns of the reference or as strings.
    reference : matrix of shape (n_documents, n_features), or iterable of sequences of int or str
        Counts of words, where each document is a window; or texts as lists of tokens, read once.
        An array of two dimensions is always counts. Tokens that are in no topic, and the number
        -1, only occupy a place in a window.
    measure : {"npmi", "umass", "c_v"}, default="npmi"
        See the functions of these names; "c_npmi" and "u_mass" are accepted as well.
    n_words : int, default=10
        Top words of a topic, at least 2. Lists may be shorter.
    window : int, default=None
        Tokens in a sliding window, for texts; None is 10 for npmi, 110 for c_v and whole
        documents for umass. A shorter text is one window.
    vocabulary : sequence of str, default=None
        Words by column; needed if topics are numbers and texts strings, or the other way round.
    window_rule : {"gensim", "exact"}, default="gensim"
        In gensim, a word that occurs several times in a window is removed as soon as its first
        occurrence leaves. "exact" keeps it until the last has left, as the measures are defined.

    Returns
    -------
    Coherence

    Examples
    --------
    >>> texts = [["cat", "dog"], ["cat", "dog", "tree"], ["tree", "leaf"], ["leaf"]]
    >>> result = coherence([["cat", "dog"], ["cat", "leaf"]], texts)
    >>> result.per_topic.round(3).tolist()
    [1.0, -0.95]
    >>> result
    Coherence(npmi 0.0251 ± 0.9749, 2 topics, 2 words, 4 windows of 10)
    """
    name = _ALIASES.get(measure, measure)
    _check_options(name, n_words, window, window_rule)
    words = word_lists.top_words(topics, n_words)
    for k, topic in enumerate(words):
        if len(topic) < 2:
            raise ValueError(f"topic {k} has a single word, expected at least 2")
    _, default_window = _MEASURES[name]
    weights = word_lists.topic_weights(topics)
    width = None if weights is None else weights.shape[1]
    if reference_corpora.is_matrix(reference):
        if window is not None:
            raise ValueError(
                f"window is {window}, but the reference is a matrix, which has no order "
                "of words: leave window out, or pass texts"
            )
        documents = reference_corpora.matrix(reference)
        columns = reference_corpora.columns(words, width, documents.shape[1], vocabulary)
        counts = cooccurrence.in_documents(documents, columns)
    else:
        window = default_window if window is None else window
        texts, column_of, columns = reference_corpora.texts(reference, words, width, vocabulary)
        counts = cooccurrence.in_texts(texts, column_of, columns, window, window_rule)
    return coherence_of_counts(counts, name, window)


def coherence_of_counts(
    counts: WindowCounts, measure: str = "npmi", window: int | None = None
) -> Coherence:
    """Compute the coherence of topics whose top words were counted already.

    Parameters
    ----------
    counts : WindowCounts
        Windows with each pair of a topic's words, at least two words of each. Those of parts of a
        reference may be added up.
    measure : {"npmi", "umass", "c_v"}, default="npmi"
    window : int, default=None
        Tokens in a window, to be told; None for whole documents.

    Examples
    --------
    >>> counts = cooccurrence.WindowCounts(4, [np.array([[3, 2], [2, 2]])])
    >>> coherence_of_counts(counts).per_topic.round(4).tolist()
    [0.415]
    """
    name = _ALIASES.get(measure, measure)
    _check_options(name, 2, window, "exact")
    measure_of, _ = _MEASURES[name]
    return Coherence(
        measure=name,
        per_topic=np.array([measure_of(joint, counts.n_windows) for joint in counts.joint]),
        unseen=np.array([int((joint.diagonal() == 0).sum()) for joint in counts.joint]),
        n_words=max(len(joint) for joint in counts.joint),
        window=window,
        n_windows=counts.n_windows,
    )


def _check_options(measure: str, n_words: int, window: int | None, window_rule: str) -> None:
    if measure not in _MEASURES:
        raise ValueError(f"measure must be one of {tuple(_MEASURES)}, got {measure!r}")
    if n_words < 2:
        raise ValueError(f"n_words must be at least 2, got {n_words}: coherence is about pairs")
    if window is not None and window < 1:
        raise ValueError(f"window must be at least 1 token, got {window}")
    if window_rule not in ("gensim", "exact"):
        raise ValueError(f'window_rule must be "gensim" or "exact", got {window_rule!r}')


def npmi(topics: Any, reference: Any, **options: Any) -> Coherence:
    """Mean normalised pointwise mutual information of pairs of top words (c_npmi).

    With P the share of windows and e = 1e-12,

        npmi_ij = log((P_ij + e) / (P_i P_j)) / -log(P_ij + e),

    averaged over i < j; 1 for words that only occur together, 0 for independent ones. A pair with
    a word that does not occur in the reference is -1. A pair that is in every window is 0, because
    it carries no information. Options are those of `coherence`.

    >>> counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 3], [1, 0, 1]])
    >>> npmi([[0, 1]], counts).per_topic.round(4).tolist()
    [0.415]
    """
    return coherence(topics, reference, "npmi", **options)


def umass(topics: Any, reference: Any, **options: Any) -> Coherence:
    """Mean log conditional probability of a top word given one before it (u_mass).

    With P the share of documents and e = 1e-12, the mean of log((P_ij + e) / P_j) over i > j;
    at most 0, up to e. A word j that does not occur in the reference gives log(e), the lowest
    value that a pair can have. Options are those of `coherence`.

    >>> counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 3], [1, 0, 1]])
    >>> umass([[0, 1]], counts).per_topic.round(4).tolist()
    [-0.4055]
    """
    return coherence(topics, reference, "umass", **options)


def c_v(topics: Any, reference: Any, **options: Any) -> Coherence:
    """Mean cosine of a top word's context with that of all top words together (c_v).

    The context of word i is the vector v_i of npmi_ij over the topic's words j, itself included;
    the measure is the mean over i of cos(v_i, sum_j v_j). The npmi and the cosine
    of a word that does not occur in the reference are 0. Options are those of
    `coherence`.

    >>> counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 3], [1, 0, 1]])
    >>> c_v([[0, 1]], counts).per_topic.round(4).tolist()
    [0.9241]
    """
    return coherence(topics, reference, "c_v", **options)


def _npmi_matrix(joint: np.ndarray, n_windows: int, unseen: float) -> np.ndarray:
    """npmi_ij of a topic's words, (n, n), and `unseen` for words that never occur."""
    p = joint / n_windows
    single = p.diagonal()
    product = np.outer(single, single)
    seen = product > 0
    information = np.log((p + EPSILON) / np.where(seen, product, 1.0))
    # For a pair in every window the ratio is 0 / 0 up to e, which would make it -1.
    always = joint == n_windows
    values = information / -np.log(np.where(always, 0.5, p + EPSILON))
    return np.where(seen, np.where(always, 0.0, values), unseen)


def _npmi(joint: np.ndarray, n_windows: int) -> float:
    values = _npmi_matrix(joint, n_windows, unseen=-1.0)
    return float(values[np.triu_indices(len(values), 1)].mean())


def _umass(joint: np.ndarray, n_windows: int) -> float:
    i, j = np.tril_indices(len(joint), -1)
    given = joint.diagonal()[j] / n_windows
    pairs = joint[i, j] / n_windows
    return float(np.log((pairs + EPSILON) / np.where(given > 0, given, 1.0)).mean())


def _c_v(joint: np.ndarray, n_windows: int) -> float:
    contexts = _npmi_matrix(joint, n_windows, unseen=0.0)
    whole = contexts.sum(axis=0)
    norms = np.linalg.norm(contexts, axis=1) * np.linalg.norm(whole)
    return float(
        np.divide(contexts @ whole, norms, out=np.zeros(len(norms)), where=norms > 0).mean()
    )


# The measure of a topic from its counts, and the default window.
_MEASURES: dict[str, tuple[Callable[[np.ndarray, int], float], int | None]] = {
    "npmi": (_npmi, 10),
    "umass": (_umass, None),
    "c_v": (_c_v, 110),
}
_ALIASES = {"c_npmi": "npmi", "u_mass": "umass"}
