"""In how many windows the words of a topic occur, alone and together.

Only words of some topic are looked at, and only pairs within a topic are counted, so memory does
not grow with the square of the vocabulary. Texts are read once, a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from trustream.kernels.threads import one_blas_thread

# Tokens that are turned into intervals at once: some tens of megabytes.
_BLOCK = 2**20
# Words with smaller numbers are looked up in a table, which takes 8 bytes a number.
_TABLE = 2**24


@dataclass(frozen=True, eq=False)
class Counts:
    """Windows by the words in them.

    Attributes:
        n_windows: number of windows.
        joint: one array (n, n) a topic of n words; entry [i, j] is the number of windows with
            words i and j, so the diagonal has those with word i.
    """

    n_windows: int
    joint: list[np.ndarray]


def in_documents(documents: sp.csr_array, topics: Sequence[np.ndarray]) -> Counts:
    """Counts whose windows are the rows of a documents x words matrix.

    A topic is an array of columns. Counts are joint[i, j] = #{d: x_di > 0 and x_dj > 0}.

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
        # A bit a document: 64 of them are compared at once.
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
    return Counts(n_documents, joint)


def in_texts(
    texts: Iterable[Sequence[Any]],
    column_of: Callable[[Sequence[Any]], np.ndarray],
    topics: Sequence[np.ndarray],
    window: int | None,
    window_rule: str,
) -> Counts:
    """Counts whose windows slide over texts, one token at a time.

    A text of L tokens has max(1, L - window + 1) windows; a shorter text is one window, and so is
    an empty one. `column_of` turns a text into word numbers, -1 for words that do not matter.
    With `window` None, a text is one window.

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
    return Counts(n_windows, joint)


def _distinct(topics: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The words of all topics, sorted, and the topics as positions among them."""
    words, inverse = np.unique(np.concatenate(list(topics)), return_inverse=True)
    return words, np.split(inverse, np.cumsum([topic.size for topic in topics])[:-1])


def _finder(words: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function that gives the place of each number among `words`, which are sorted, or -1."""
    if words[-1] < _TABLE:
        place = np.full(int(words[-1]) + 2, -1)
        place[words] = np.arange(words.size)
        # The last entry is -1: so do -1 and, clipped, unused words find it.
        return lambda ids: place[np.minimum(ids, place.size - 1)]

    def search(ids: np.ndarray) -> np.ndarray:
        found = np.minimum(np.searchsorted(words, ids), words.size - 1)
        return np.where(words[found] == ids, found, -1)

    return search


def _blocks(
    texts: Iterable[Sequence[Any]], column_of: Callable[[Sequence[Any]], np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Texts one after the other as word numbers, and their lengths, _BLOCK tokens at a time."""
    parts: list[np.ndarray] = []
    n_tokens = 0
    for text in texts:
        parts.append(column_of(text))
        n_tokens += parts[-1].size
        # Empty texts must not pile up either.
        if n_tokens + len(parts) >= _BLOCK:
            yield np.concatenate(parts), np.array([part.size for part in parts])
            parts, n_tokens = [], 0
    if parts:
        yield np.concatenate(parts), np.array([part.size for part in parts])


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Windows of each word as disjoint intervals [start, stop), by word and then in order."""

    start: np.ndarray
    stop: np.ndarray
    word_ptr: np.ndarray


def _intervals(
    tokens: np.ndarray, lengths: np.ndarray, window: int, rule: str, n_words: int
) -> _Intervals:
    """The windows that a word is in.

    A token at place p of a text of L tokens is in the windows s that begin at most `window` - 1
    places before it: max(0, p - window + 1) <= s <= min(p, L - window).

    With rule "gensim" a word leaves as soon as one of its tokens leaves, though another may still
    be in the window, and is back when the next token enters. So the interval of the token at p
    ends at the word's first token at or after its own beginning, q <= p.
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
    # Several tokens of a word share windows: count from where the one before has ended.
    same = word[1:] == word[:-1]
    start[1:] = np.where(same, np.maximum(start[1:], stop[:-1]), start[1:])
    kept = start < stop
    word_ptr = np.concatenate([[0], np.cumsum(np.bincount(word[kept], minlength=n_words))])
    return _Intervals(start[kept], stop[kept], word_ptr)


def _overlaps(intervals: _Intervals, topic: np.ndarray) -> np.ndarray:
    """Number of windows that words share, (n, n).

    Between two neighbouring ends of intervals nothing changes: with S the segments x words matrix
    of what is present and l the lengths of segments, the counts are S^T diag(l) S.
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
    # In float64 for BLAS; whole numbers, so exact below 2^53.
    present = np.cumsum(change, axis=0, dtype=np.int8)[kept].astype(np.float64)
    with one_blas_thread():
        joint = (present * length[kept, None]).T @ present
    return joint.astype(np.int64)
