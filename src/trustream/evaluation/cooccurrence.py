"""Count the windows in which the words of a topic occur, alone and together.

Only words in some topic matter, and only pairs within a topic are counted, so memory does not grow
with the square of the vocabulary. Texts are read once, one block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from trustream.kernels.threads import one_blas_thread

# Tokens that are converted to intervals at a time, which takes some tens of megabytes.
_BLOCK = 2**20
# Words with smaller numbers are looked up in a table of 8 bytes per number.
_TABLE = 2**24


@dataclass(frozen=True, eq=False)
class WindowCounts:
    """Numbers of windows that contain words, and pairs of words, of a topic.

    Attributes:
        n_windows: number of windows.
        joint: one array (n, n) for each topic of n words; entry [i, j] is the number of windows
            with words i and j, so that the diagonal has those with word i.
    """

    n_windows: int
    joint: list[np.ndarray]


def in_documents(documents: sp.csr_array, topics: Sequence[np.ndarray]) -> WindowCounts:
    """Count with the rows of a documents x words matrix as windows.

    A topic is an array of columns. The counts are joint[i, j] = #{d: x_di > 0 and x_dj > 0}.

    >>> x = sp.csr_array(np.array([[1, 2, 0], [3, 0, 0], [0, 1, 1]]))
    >>> in_documents(x, [np.array([0, 1])]).joint[0]
    array([[2, 1],
           [1, 2]])
    """
    words, local = _distinct(topics)
    columns = documents[:, words].tocsc()
    columns.eliminate_zeros()
    n_documents = documents.shape[0]
    joint = []
    for topic in local:
        # One bit per document, so that 64 are compared at a time.
        bits = np.zeros((topic.size, -(-n_documents // 64) * 8), np.uint8)
        for i, column in enumerate(topic):
            occurs = np.zeros(n_documents, np.bool_)
            occurs[columns.indices[columns.indptr[column] : columns.indptr[column + 1]]] = True
            packed = np.packbits(occurs)
            bits[i, : packed.size] = packed
        words64 = bits.view(np.uint64)
        joint.append(
            np.array([np.bitwise_count(row & words64).sum(1, dtype=np.int64) for row in words64])
        )
    return WindowCounts(n_documents, joint)


def in_texts(
    texts: Iterable[Sequence[Any]],
    column_of: Callable[[Sequence[Any]], np.ndarray],
    topics: Sequence[np.ndarray],
    window: int | None,
    window_rule: str,
) -> WindowCounts:
    """Count with windows that slide over texts, one token at a time.

    A text of L tokens has max(1, L - window + 1) windows; a shorter text is one window, and so is
    an empty one. `column_of` maps a text to word numbers, -1 for words in no topic. With `window`
    None, a text is one window.

    >>> texts = [[0, 1, 0, 2], [1]]
    >>> in_texts(texts, np.array, [np.array([0, 1])], 2, "exact").joint[0]
    array([[3, 2],
           [2, 3]])
    """
    words, local = _distinct(topics)
    find = _finder(words)
    joint = [np.zeros((topic.size, topic.size), np.int64) for topic in topics]
    n_windows = 0
    for ids, lengths in _blocks(texts, column_of):
        tokens = find(ids)
        size = int(max(lengths.max(), 1)) if window is None else window
        intervals = _intervals(tokens, lengths, size, window_rule, words.size)
        for total, topic in zip(joint, local, strict=True):
            total += _overlaps(intervals, topic)
        n_windows += int(np.maximum(lengths - size + 1, 1).sum())
    return WindowCounts(n_windows, joint)


def _distinct(topics: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The words of all topics, sorted, and the topics as positions among them."""
    words, inverse = np.unique(np.concatenate(list(topics)), return_inverse=True)
    return words, np.split(inverse, np.cumsum([topic.size for topic in topics])[:-1])


def _finder(words: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that maps numbers to positions in the sorted `words`, or to -1."""
    if words[-1] < _TABLE:
        place = np.full(int(words[-1]) + 2, -1)
        place[words] = np.arange(words.size)
        # The last entry is -1; the index -1, and larger numbers after clipping, refer to it.
        return lambda ids: place[np.minimum(ids, place.size - 1)]

    def search(ids: np.ndarray) -> np.ndarray:
        found = np.minimum(np.searchsorted(words, ids), words.size - 1)
        return np.where(words[found] == ids, found, -1)

    return search


def _blocks(
    texts: Iterable[Sequence[Any]], column_of: Callable[[Sequence[Any]], np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of about _BLOCK tokens: concatenated texts as word numbers, and their lengths."""
    parts: list[np.ndarray] = []
    n_tokens = 0
    for text in texts:
        parts.append(column_of(text))
        n_tokens += parts[-1].size
        # Empty texts count too, so that their number is bounded.
        if n_tokens + len(parts) >= _BLOCK:
            yield np.concatenate(parts), np.array([part.size for part in parts])
            parts, n_tokens = [], 0
    if parts:
        yield np.concatenate(parts), np.array([part.size for part in parts])


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Windows of each word as disjoint intervals [start, stop), sorted by word, then start."""

    start: np.ndarray
    stop: np.ndarray
    word_ptr: np.ndarray


def _intervals(
    tokens: np.ndarray, lengths: np.ndarray, window: int, rule: str, n_words: int
) -> _Intervals:
    """The windows in which each word occurs.

    A token at position p of a text of L tokens is in the windows s that begin at most `window` - 1
    positions before it: max(0, p - window + 1) <= s <= min(p, L - window).

    With rule "gensim" a word leaves as soon as one of its tokens leaves, even if another is still
    in the window, and returns when its next token enters. So the interval of the token at p ends
    at the word's first token at or after the beginning of the interval, q <= p.
    """
    text_start = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    n_windows = np.maximum(lengths - window + 1, 1)
    window_start = np.concatenate([[0], np.cumsum(n_windows)[:-1]])

    used = np.flatnonzero(tokens >= 0)
    place = used[np.argsort(tokens[used], kind="stable")]
    word = tokens[place]
    text = np.repeat(np.arange(lengths.size), lengths)[place]
    begin = text_start[text]
    first = np.maximum(place - begin - window + 1, 0)
    last = place - begin
    if rule == "gensim":
        n_tokens = tokens.size
        q = np.searchsorted(word * n_tokens + place, word * n_tokens + begin + first)
        last = last[q]
    start = window_start[text] + first
    stop = window_start[text] + np.minimum(last, n_windows[text] - 1) + 1
    # Intervals of neighbouring tokens of a word may overlap: start where the previous one ends.
    same = word[1:] == word[:-1]
    start[1:] = np.where(same, np.maximum(start[1:], stop[:-1]), start[1:])
    kept = start < stop
    word_ptr = np.concatenate([[0], np.cumsum(np.bincount(word[kept], minlength=n_words))])
    return _Intervals(start[kept], stop[kept], word_ptr)


def _overlaps(intervals: _Intervals, topic: np.ndarray) -> np.ndarray:
    """Numbers of windows that pairs of words share, (n, n).

    The ends of intervals divide the windows into segments. With S_gi = 1 where segment g has word
    i, and l the lengths of the segments, the counts are S^T diag(l) S.
    """
    ranges = [slice(intervals.word_ptr[w], intervals.word_ptr[w + 1]) for w in topic]
    sizes = [r.stop - r.start for r in ranges]
    edges = np.concatenate([a[r] for a in (intervals.start, intervals.stop) for r in ranges])
    if edges.size == 0:
        return np.zeros((topic.size, topic.size), np.int64)
    column = np.tile(np.repeat(np.arange(topic.size), sizes), 2)
    order = np.argsort(edges)
    change = np.zeros((edges.size, topic.size), np.int8)
    change[np.arange(edges.size), column[order]] = np.where(order < edges.size // 2, 1, -1)
    length = np.diff(edges[order])
    kept = np.flatnonzero(length)
    # In float64 for BLAS, which is exact for whole numbers below 2^53.
    present = np.cumsum(change, axis=0, dtype=np.int8)[kept].astype(np.float64)
    with one_blas_thread():
        joint = (present * length[kept, None]).T @ present
    return joint.astype(np.int64)
