"""Read bags of words by number, in the formats of the UCI repository and of LDA-C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from trustream.feeds.errors import (
    RECORD_ERRORS,
    BadRecord,
    FeedError,
    InvalidValue,
    bad_record,
)
from trustream.feeds.items import Item, Items, Mark, make_item
from trustream.feeds.lines import Line, read_line_records, read_lines
from trustream.feeds.options import Options
from trustream.feeds.sources import Source
from trustream.feeds.validation import make_count, make_record
from trustream.store.limits import short_repr
from trustream.store.records import Record

# A document's words are kept until its last line, or until there are so many.
_MAX_WORDS = 2**20
# What a line of LDA-C is.
_TERMS = "whole numbers: M term:count term:count ..."


def read_ldac(source: Source, mark: Mark, options: Options) -> Items:
    """Records of lines `M term:count term:count ...`; terms are words by number, from 0.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b"2 0:1 2:3\\n1 7:1\\n"))
    >>> options = Options(vocabulary=["cat", "dog", "bird"], name="pets")
    >>> good, bad = read_ldac(source, Mark(), options)
    >>> good.record.key, good.record.words, bad.problem
    ('pets:1', {'cat': 1, 'bird': 3}, 'term 7, expected 0 to 2')
    """
    words, name = _vocabulary(source, options), options.name or source.name

    def record(text: str, number: int) -> Record:
        terms = _terms(text, words)
        return make_record(f"{name}:{number}", terms, max_words=options.max_words)

    return read_line_records(source, mark, options, record)


def read_uci(source: Source, mark: Mark, options: Options) -> Items:
    """Records of lines `document word count`, numbers from 1, after three lines with their totals.

    A document's lines stand together. It is named by the file and its number.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b"2\\n3\\n3\\n1 1 1\\n1 3 2\\n2 2 5\\n"))
    >>> options = Options(vocabulary=["cat", "dog", "bird"], name="pets")
    >>> items = read_uci(source, Mark(), options)
    >>> [(item.record.key, item.record.words) for item in items if item.record]
    [('pets:1', {'cat': 1, 'bird': 2}), ('pets:2', {'dog': 5})]
    """
    words, name = _vocabulary(source, options), options.name or source.name
    lines = read_lines(source, mark, options.max_bytes)
    # Going on in the middle, the totals are read from a second look at the file.
    first_lines = read_lines(source, Mark(), options.max_bytes) if mark.offset else lines
    (n_documents, n_words, n_lines), after = _totals(source, first_lines)
    mark = max(mark, after)
    if n_words != len(words):
        raise FeedError(
            f"{source.name} is about {short_repr(n_words)} words, and the vocabulary has "
            f"{len(words)}"
        )
    document, counts, first = 0, dict[str, int](), 0
    most = min(_MAX_WORDS, options.max_words)

    def finished() -> Items:
        """The document that was read last, if there is one."""
        if counts:
            key = f"{name}:{document}"
            yield make_item(source.name, mark, first, make_record, key, counts)

    for line in lines:
        if line is None:
            # The last document may be incomplete: it waits, and the mark stays before it.
            yield Item(mark, mark.number, pause=True)
            continue
        try:
            number, word, count = _entry(line, options.max_bytes, n_documents, words)
            if number != document or len(counts) >= most:
                yield from finished()
                document, counts, first = number, {}, line.mark.number
            counts[word] = make_count("the count", counts.get(word, 0) + count)
        except RECORD_ERRORS as error:
            yield from finished()
            counts = {}
            bad = bad_record(error, source.name, line.mark.number)
            yield Item(line.mark, line.mark.number, bad=bad)
        mark = line.mark
    yield from finished()
    if mark.number < n_lines + 3:
        n_found = max(mark.number - 3, 0)
        what = f"ends after {n_found} of {short_repr(n_lines)} lines: it is incomplete"
        bad = BadRecord(source.name, mark.number + 1, found=what)
        yield Item(mark, mark.number + 1, bad=bad)


def _vocabulary(source: Source, options: Options) -> Sequence[str]:
    if not options.vocabulary:
        raise FeedError(f"{source.name} has words by number: give a vocabulary, one word per line")
    return options.vocabulary


def _terms(text: str, words: Sequence[str]) -> dict[str, int]:
    try:
        length, *numbers = map(int, text.replace(":", " ").split())
    except ValueError:
        raise InvalidValue(expected=_TERMS) from None
    terms, counts = numbers[::2], numbers[1::2]
    if not len(terms) == len(counts) == text.count(":"):
        raise InvalidValue(expected=_TERMS)
    if length != len(terms):
        raise InvalidValue(f"says {short_repr(length)} terms and has {len(terms)}")
    for term in (min(terms, default=0), max(terms, default=0)):
        _check_number("term", term, 0, len(words) - 1)
    found = dict(zip(map(words.__getitem__, terms), counts, strict=True))
    if len(found) < len(terms):  # a term, or a word of the vocabulary, is there twice
        found = dict.fromkeys(found, 0)
        for term, count in zip(terms, counts, strict=True):
            found[words[term]] += make_count(f"the count of term {term}", count)
    return found


def _entry(
    line: Line, max_bytes: int, n_documents: int, words: Sequence[str]
) -> tuple[int, str, int]:
    text = line.text(max_bytes)
    try:
        document, word, count = map(int, text.split())
    except ValueError:
        raise InvalidValue(expected="three whole numbers: document word count") from None
    _check_number("document", document, 1, n_documents)
    _check_number("word", word, 1, len(words))
    return document, words[word - 1], make_count("the count", count)


def _check_number(what: str, number: int, first: int, last: int) -> None:
    if not first <= number <= last:
        raise InvalidValue(
            short_repr(number), field=what, expected=f"{first} to {short_repr(last)}"
        )


def _totals(source: Source, lines: Iterator[Line | None]) -> tuple[tuple[int, int, int], Mark]:
    first = list(islice((line for line in lines if line is not None), 3))
    try:
        documents, words, entries = (int(line.text(100)) for line in first)
    except ValueError:
        raise FeedError(
            f"{source.name} does not begin with three lines of one whole number each (documents, "
            "words, entries), as the UCI bag-of-words format does"
        ) from None
    return (documents, words, entries), first[-1].mark
