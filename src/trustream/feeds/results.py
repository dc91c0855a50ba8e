"""What an ingest has added to a store, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.feeds.errors import BadRecord


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What an ingest added to the store; what earlier ones added is not in it.

    Attributes:
        feed: its name in the store; None for a stream, which has no position.
        n_records: records added.
        n_documents: documents that were not there before.
        n_tokens: tokens added.
        n_extended: documents that were there before this feed and have more words now.
        n_replaced: documents that were there before this feed and were replaced.
        n_superseded: records that have replaced an earlier one of this feed.
        n_repeated: records left out because their append id had been seen.
        n_bad: bad records that were skipped.
        finished: whether the end of the feed was reached.
        bad_records: the first of the bad records.
        note: what should be known of the words, None if nothing: that they are whole clauses of a
            language that has no spaces between words.

    >>> IngestResult(n_records=3, n_documents=2).finished
    False
    """

    feed: str | None = None
    n_records: int = 0
    n_documents: int = 0
    n_tokens: int = 0
    n_repeated: int = 0
    n_bad: int = 0
    n_extended: int = 0
    n_replaced: int = 0
    n_superseded: int = 0
    finished: bool = False
    bad_records: tuple[BadRecord, ...] = ()
    note: str | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """The first of the bad records, a sentence each."""
        return tuple(map(str, self.bad_records))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is.

    Attributes:
        done: bytes of the file whose records were stored, or rows of a Parquet file; of compressed
            files the bytes that were read.
        total: bytes or rows that there are; None if it is not known.
        result: what was added so far.

    >>> progress = Progress(50, 200, IngestResult(n_records=3))
    >>> f"{progress.done} of {progress.total}: {progress.result.n_records} records"
    '50 of 200: 3 records'
    """

    done: int
    total: int | None
    result: IngestResult
