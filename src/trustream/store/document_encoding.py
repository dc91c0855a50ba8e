"""The words and counts of documents, as bytes in the database and as arrays.

A document's content is pairs of 32-bit little-endian integers, (word number, count), in the order
of the word numbers: the same bytes whether it came whole or in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trustream.store.errors import RecordError, StoreError
from trustream.store.limits import MAX_COUNT, MAX_DISTINCT

Ints = NDArray[np.int64]

PAIR_BYTES = 8
_WORD_BITS = 32
_WORD = (1 << _WORD_BITS) - 1
# Words in a document, on average, from which on documents are sorted one by one.
_FEW = 16


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often words occur in the documents of a batch, by (document, word) pairs in order.

    Attributes:
        pairs: (P,) int64, document number in the batch * 2^32 + word number; rises.
        counts: (P,) int64.
    """

    pairs: Ints
    counts: Ints

    @property
    def words(self) -> Ints:
        """(P,) word numbers."""
        return words_of(self.pairs)

    @property
    def documents(self) -> Ints:
        """(P,) document numbers in the batch."""
        return self.pairs >> _WORD_BITS


def pair(documents: Ints, words: Ints) -> Ints:
    """One number for a document and a word."""
    return (documents << _WORD_BITS) | words


def words_of(pairs: Ints) -> Ints:
    """The word numbers of pairs."""
    return pairs & _WORD


def unpack(contents: Sequence[bytes]) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Bytes of documents as indptr (D+1,), words (nnz,) and counts (nnz,).

    >>> indptr, words, counts = unpack(pack(PairCounts(np.array([3, 5]), np.array([1, 2])), 1))
    >>> indptr.tolist(), words.tolist(), counts.tolist()
    ([0, 2], [3, 5], [1, 2])
    """
    ends, pairs = _joined(contents)
    halves = pairs.view("<i4")
    return ends // PAIR_BYTES, halves[::2], halves[1::2]


def read_contents(
    keys: Sequence[str], contents: Sequence[bytes], n_words: int, *, known: bool = False
) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """The same of documents as they were read from the database, which may be damaged.

    Args:
        keys: the keys of the documents.
        contents: what was read of each.
        n_words: all word numbers are below.
        known: whether these contents were read by this function before.

    Raises:
        StoreError: a content is not as `pack` writes it.

    >>> read_contents(["a", "b"], [b"", bytes(8)], 5)
    Traceback (most recent call last):
    ...
    trustream.store.errors.StoreError: the words of document 'b' are damaged: a count is below ...
    """
    try:
        ends, pairs = _joined(contents)
    except (TypeError, ValueError):
        raise _damaged(keys, contents, n_words) from None
    indptr = ends // PAIR_BYTES
    words = pairs & _WORD
    if not known and _fault(ends, indptr, pairs, words, n_words) is not None:
        raise _damaged(keys, contents, n_words)
    return indptr, words, pairs.view("<i4")[1::2]


def _joined(contents: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Where each of some contents ends in all of them, in bytes, and all their pairs as numbers."""
    ends = np.zeros(len(contents) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, contents), np.int64, len(contents)), out=ends[1:])
    return ends, np.frombuffer(b"".join(contents), "<i8")


def _fault(ends: Ints, indptr: Ints, pairs: Ints, words: Ints, n_words: int) -> str | None:
    """What is wrong with some contents, told in one pass over all; None if nothing is."""
    if np.bitwise_or.reduce(ends) % PAIR_BYTES:
        return "the bytes are cut"
    n = len(pairs)
    if not n:
        return None
    if pairs.min() <= _WORD:
        return "a count is below 1"
    falls = np.empty(n + 1, bool)
    np.less_equal(words[1:], words[:-1], out=falls[1:n])
    # The first word of a document may be below the last one of another.
    falls[indptr] = False
    if falls[1:n].any():
        return "words are there twice or not in order"
    # The last word of each is the largest.
    if words[indptr[1:] - 1].max() >= n_words:
        return "there is no word of a number"
    return None


def _damaged(keys: Sequence[str], contents: Sequence[bytes], n_words: int) -> StoreError:
    """The error that names the first document whose content is not as `pack` writes it."""
    key, fault = "", None
    for key, content in zip(keys, contents, strict=True):  # noqa: B007
        if not isinstance(content, bytes):
            fault = f"they are of type {type(content).__name__}"
        elif len(content) % PAIR_BYTES:
            fault = f"they are cut after {len(content)} bytes"
        else:
            ends, pairs = _joined([content])
            fault = _fault(ends, ends // PAIR_BYTES, pairs, pairs & _WORD, n_words)
        if fault is not None:
            break
    return StoreError(
        f"the words of document {key!r:.200} are damaged: {fault}; find all such documents with "
        "trustream check STORE --repair, which keeps what can be read, and ingest them again"
    )


def pack(found: PairCounts, n_documents: int) -> list[bytes]:
    """The bytes of each document of a batch."""
    both = np.empty((len(found.pairs), 2), "<i4")
    both[:, 0] = found.words
    both[:, 1] = found.counts
    content = both.tobytes()
    ends = PAIR_BYTES * np.searchsorted(found.documents, np.arange(n_documents), side="right")
    starts = [0, *ends.tolist()]
    return [content[start:stop] for start, stop in pairwise(starts)]


def read_batch(
    keys: Sequence[str], contents: Sequence[bytes], n_words: int, numbers: Ints
) -> PairCounts:
    """Words and counts of documents whose numbers in the batch are given and rise.

    See `read_contents`.
    """
    indptr, words, counts = read_contents(keys, contents, n_words)
    documents = np.repeat(numbers, indptr[1:] - indptr[:-1])
    return PairCounts(pair(documents, words), counts.astype(np.int64))


def sum_pairs(pairs: Ints, counts: Ints | None) -> PairCounts:
    """Equal pairs put together, their counts summed; `counts` None is all ones.

    >>> found = sum_pairs(pair(np.array([1, 0, 1]), np.array([2, 7, 2])), None)
    >>> found.documents.tolist(), found.words.tolist(), found.counts.tolist()
    ([0, 1], [7, 2], [1, 2])
    """
    if len(pairs) < 2:
        return PairCounts(pairs, np.ones(len(pairs), np.int64) if counts is None else counts)
    if counts is None:
        pairs = _sorted(pairs)
    else:
        order = np.argsort(pairs, kind="stable")
        pairs, counts = pairs[order], counts[order]
    is_first = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    if counts is None:
        sums = np.empty_like(starts)
        sums[:-1] = starts[1:] - starts[:-1]
        sums[-1] = len(pairs) - starts[-1]
    else:
        sums = np.add.reduceat(counts, starts)
    return PairCounts(pairs[starts], sums)


def _sorted(pairs: Ints) -> Ints:
    """Pairs in order; where documents come one after the other, each is sorted by itself.

    Sorting short parts takes a quarter of the time.

    >>> _sorted(pair(np.array([0, 0, 1, 1]), np.array([3, 2, 9, 1]))).tolist()
    [2, 3, 4294967297, 4294967305]
    """
    documents = pairs >> _WORD_BITS
    steps = documents[1:] - documents[:-1]
    starts = np.flatnonzero(steps) + 1
    if len(starts) * _FEW > len(pairs) or (len(starts) and steps.min() < 0):
        return np.sort(pairs)
    pairs = pairs.copy()
    for start, stop in pairwise([0, *starts.tolist(), len(pairs)]):
        pairs[start:stop].sort()
    return pairs


def add(old: PairCounts, new: PairCounts) -> tuple[PairCounts, Ints]:
    """Old and new pairs together, and which of the new were not there (their indices).

    Searching costs less than sorting: there are few new pairs and they come in order.

    >>> old = PairCounts(np.array([1, 4]), np.array([1, 1]))
    >>> both, fresh = add(old, PairCounts(np.array([2, 4]), np.array([5, 6])))
    >>> both.pairs.tolist(), both.counts.tolist(), fresh.tolist()
    ([1, 2, 4], [1, 5, 7], [0])
    """
    if not len(old.pairs):
        return new, np.arange(len(new.pairs))
    at = np.searchsorted(old.pairs, new.pairs)
    there = at < len(old.pairs)
    there[there] = old.pairs[at[there]] == new.pairs[there]
    counts = old.counts.copy()
    counts[at[there]] += new.counts[there]
    fresh = np.flatnonzero(~there)
    both = PairCounts(
        np.insert(old.pairs, at[fresh], new.pairs[fresh]),
        np.insert(counts, at[fresh], new.counts[fresh]),
    )
    return both, fresh


def compare(before: PairCounts, now: PairCounts) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which pairs of documents that are replaced are gone, and which of those there now had been.

    >>> before = PairCounts(np.array([1, 4]), np.array([1, 1]))
    >>> gone, had_been = compare(before, PairCounts(np.array([2, 4]), np.array([5, 6])))
    >>> gone.tolist(), had_been.tolist()
    ([True, False], [False, True])
    """
    gone = ~np.isin(before.pairs, now.pairs, assume_unique=True)
    return gone, np.isin(now.pairs, before.pairs, assume_unique=True)


def malformed(contents: Sequence[bytes], there: NDArray[np.bool_]) -> Ints:
    """Which of some contents (whole pairs each) are not as `pack` writes them.

    Args:
        contents: bytes of documents, as many as whole pairs have.
        there: (words,) whether there is a word of each number.

    >>> fine = pack(PairCounts(np.array([3, 5]), np.array([1, 2])), 1)[0]
    >>> malformed([fine, fine[8:] + fine[:8], b""], np.ones(9, bool)).tolist()
    [1]
    """
    indptr, words, counts = unpack(contents)
    wrong = (counts < 1) | (words < 0) | (words >= len(there))
    wrong |= ~there.take(words, mode="clip")
    # Does not rise, though it is not the first of its document.
    falls = np.flatnonzero(words[1:] <= words[:-1]) + 1
    wrong[falls[~np.isin(falls, indptr)]] = True
    documents = np.searchsorted(indptr, np.flatnonzero(wrong), side="right") - 1
    return np.union1d(documents, np.flatnonzero(np.diff(indptr) > MAX_DISTINCT))


def readable(content: object, there: NDArray[np.bool_]) -> bytes:
    """What can be read of a content that is malformed, as `pack` writes it.

    >>> readable(b"\\5\\0\\0\\0\\1\\0\\0\\0cut", np.ones(9, bool))
    b'\\x05\\x00\\x00\\x00\\x01\\x00\\x00\\x00'
    """
    if not isinstance(content, bytes):
        return b""
    _, words, counts = unpack([content[: len(content) // PAIR_BYTES * PAIR_BYTES]])
    fine = (counts > 0) & (words >= 0) & (words < len(there))
    fine &= there.take(words, mode="clip")
    found = sum_pairs(words[fine].astype(np.int64), counts[fine].astype(np.int64))
    some = slice(MAX_DISTINCT)
    return pack(PairCounts(found.pairs[some], np.minimum(found.counts[some], MAX_COUNT)), 1)[0]


def tally(words: Ints, n_words: int) -> tuple[Ints, Ints]:
    """The different words, in order, and how often each occurs."""
    if n_words > 4 * len(words):
        found = sum_pairs(words, None)
        return found.pairs, found.counts
    counts = np.bincount(words, minlength=n_words)
    there = np.flatnonzero(counts)
    return there, counts[there]


def check_size(total: PairCounts, of_record: Sequence[int], kept: Sequence[int]) -> None:
    """Raise an error if documents become too large to be stored.

    Args:
        total: all that the documents of a batch would hold.
        of_record: the document of each record.
        kept: the index of each record in the append, where repeated ones stand too.

    Raises:
        RecordError: a count or the number of different words is too large.
    """
    over = np.flatnonzero(total.counts > MAX_COUNT)
    if len(over):
        document = int(total.documents[over[0]])
        raise RecordError(
            kept[of_record.index(document)],
            f"a word would occur {total.counts[over[0]]} times in the document, more than "
            f"{MAX_COUNT}; split the document",
            "words",
        )
    if len(total.pairs) > MAX_DISTINCT:
        sizes = np.bincount(total.documents)
        if sizes.max() > MAX_DISTINCT:
            raise RecordError(
                kept[of_record.index(int(sizes.argmax()))],
                f"the document would have {sizes.max()} different words, more than "
                f"{MAX_DISTINCT}; split the document",
                "words",
            )
