"""What an ingest did, does, or stumbled over."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.feeds.items import FeedError


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What an ingest added to the store; what earlier ones added is not in it.

    Attributes:
        feed: its name in the store; None for a stream, which has no position.
        n_records: records added.
        n_documents: documents that were not there before.
        n_tokens: tokens added.
        n_repeated: records left out because their append id had been seen.
        n_bad: bad records that were skipped.
        finished: whether the end of the feed was reached.
        problems: the first of the bad records, a sentence each.

    >>> IngestResult(n_records=3, n_documents=2).finished
    False
    """

    feed: str | None = None
    n_records: int = 0
    n_documents: int = 0
    n_tokens: int = 0
    n_repeated: int = 0
    n_bad: int = 0
    finished: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is.

    Attributes:
        done: bytes of the file that were read, or rows of a Parquet file.
        total: bytes or rows that there are; None if it is not known.
        result: what was added so far.

    >>> progress = Progress(50, 200, IngestResult(n_records=3))
    >>> f"{progress.done} of {progress.total}: {progress.result.n_records} records"
    '50 of 200: 3 records'
    """

    done: int
    total: int | None
    result: IngestResult


class BadRecordError(FeedError):
    """A bad record that an ingest stopped at; what stands before it is in the store.

    Attributes:
        line: line, or row, on which it begins, from 1.
        problem: what is wrong with it.
        result: what was added before it.

    >>> raise BadRecordError("x.jsonl", 7, "has no id", IngestResult())
    Traceback (most recent call last):
    ...
    trustream.feeds.results.BadRecordError: x.jsonl, line 7: has no id. What stands before it ...
    """

    def __init__(self, name: str, line: int, problem: str, result: IngestResult) -> None:
        super().__init__(
            f"{name}, line {line}: {problem}. What stands before it was added; put it right and "
            'go on, or leave bad records out with on_error="skip"'
        )
        self.line = line
        self.problem = problem
        self.result = result
