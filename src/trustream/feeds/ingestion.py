"""Add the records of a feed to a store, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from trustream.feeds.documents_before import DocumentsBefore
from trustream.feeds.errors import BadRecord, BadRecordError, FeedError
from trustream.feeds.feed import Feed, open_feed
from trustream.feeds.items import Item, Mark
from trustream.feeds.positions import Identity, changed_error, overtaken_error
from trustream.feeds.quick_reading import quick_items
from trustream.feeds.results import IngestResult, Progress
from trustream.feeds.rows import Rows, each, records_of
from trustream.feeds.sources import FileSource
from trustream.feeds.store_tokeniser import (
    WITHOUT_TEXT,
    agreed_tokeniser,
    check_unchanged,
    with_order,
)
from trustream.segmenters import unspaced_advice
from trustream.store.errors import PositionError, RecordError
from trustream.store.protocol import Store
from trustream.store.records import Position, Record
from trustream.text import leaves_clauses
from trustream.word_order import OrderedTokeniser

# Tokens after which a batch is stored, whatever its records, so that memory has a bound.
_MAX_TOKENS = 500_000
_MAX_BAD_RECORDS = 20
# Records of a transaction, and words of a record, that are looked at for a note.
_LOOKED_AT = 20


def ingest(
    store: Store,
    source: str | Path | IO[bytes],
    *,
    format: str | None = None,
    batch: int = 1000,
    on_error: str = "stop",
    again: bool = False,
    replace: bool | None = None,
    replaced: str = "stop",
    follow: bool = False,
    idle: float | None = None,
    workers: int | None = None,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_bad: Callable[[Item], None] | None = None,
    **options: Any,
) -> IngestResult:
    """Add the records of a feed to a store.

    The position in a file is committed together with its records: if this process dies, the next
    ingest of the file goes on where it stopped, and one of a finished file adds what was appended
    to it since, if anything. Of several processes that read a file at once, each part is stored by
    one, and the others stop with an error. A stream has no position; `append_id` in its records
    does the same.

    A record of a document that is in the store adds its words to it, because parts of a document
    may come at any time; `IngestResult.n_extended` counts the documents that were there before the
    feed and have grown. With `replace=True` each record replaces its document instead, so that of
    several records of one id the last counts.

    Args:
        store: the store to add to.
        source: a path, `-` for standard input, or a binary stream.
        format: one of "jsonl", "text", "csv", "ratings", "parquet", "uci", "ldac", "mediawiki";
            by the file's suffix if None.
        batch: records in a transaction; fewer if they are long.
        on_error: "stop" at a bad record, or "skip" it.
        again: read from the start what was read before; say with `replace` what to do with
            documents that are in the store already.
        replace: whether each record replaces the document of its id, or adds its words to it; None
            adds, and is refused with `again`.
        replaced: "stop" if the file is not the one that was read before, or "read" it.
        follow: wait at the end of a file for lines to be appended.
        idle: seconds without anything new after which to stop waiting; None waits for ever.
        workers: processes that make records of a large file (JSON lines, text or a MediaWiki dump)
            while this one stores them; 0 does all in this one, None chooses.
        stop: asked after each record, or some that were read together, and while waiting: whether
            to stop.
        progress: called after each transaction.
        on_bad: called with each bad record that is skipped.
        options: how records are read, see `Options`. Texts are split by the store's tokeniser;
            `tokenise` must agree with it, and is kept by a store that has none.

    Raises:
        BadRecordError: a bad record, with `on_error="stop"`.
        FeedError: the feed cannot be read, has changed, was read on by another process, or should
            be split into words in another way than the store's texts.

    >>> import io, tempfile
    >>> from trustream.store import open_store
    >>> lines = io.BytesIO(b'{"id": "a", "text": "cats and dogs"}\\n{"id": "b"}\\n')
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/topics.db") as store:
    ...     result = ingest(store, lines, format="jsonl", on_error="skip")
    >>> result.n_documents, result.n_tokens, result.n_bad
    (1, 2, 1)
    """
    _check("on_error", on_error, ("stop", "skip"))
    _check("replaced", replaced, ("stop", "read"))
    if batch < 1:
        raise ValueError(f"batch is {batch}, expected 1 or more")
    if workers is not None and workers < 0:
        raise ValueError(f"workers is {workers}, expected 0 or more, or None to choose")
    if again and replace is None:
        raise ValueError(
            "again=True reads records that may be in the store already: give replace=True to "
            "replace their documents, or replace=False to add their words once more"
        )
    feed = _with_tokeniser(
        store, open_feed(source, format=format, follow=follow, **options), options.get("tokenise")
    )
    if replace and feed.format == "ratings":
        raise ValueError(
            "ratings cannot be replaced, since each would replace all others of its user: delete "
            "the documents of these users first, then ingest the ratings"
        )
    pace = _Pace(batch, idle, workers, stop)
    run = _Run(store, feed, bool(replace), on_error == "skip", again, progress, on_bad)
    if not isinstance(feed.source, FileSource):
        return _ingest(run, pace)
    run.identity = Identity(feed.source, feed.format, whole=feed.is_whole)
    run.begin(*_start(store, run.identity, again, replaced), again=again)
    try:
        return _ingest(run, pace)
    except PositionError as error:
        raise overtaken_error(feed.source, error) from error


def _with_tokeniser(store: Store, feed: Feed, given: Any) -> Feed:
    """The feed, its texts split as those of the store are, and kept if the store keeps texts."""
    if feed.format in WITHOUT_TEXT:
        return feed
    tokenise = with_order(store, agreed_tokeniser(store, given, feed.source.name))
    kept = store.settings.keep_text
    return feed._replace(options=replace(feed.options, tokenise=tokenise, keep_text=kept))


class _Pace(NamedTuple):
    """When to store and when to stop."""

    batch: int
    idle: float | None
    workers: int | None
    stop: Callable[[], bool] | None


def _ingest(run: _Run, pace: _Pace) -> IngestResult:
    """Read from where the run begins to the end, or until it is stopped."""
    if run.known and run.identity is not None and run.identity.whole:
        return replace(run.result, finished=True)
    if run.feed.is_numbered:
        run.claim()
    ended, heard = True, time.monotonic()
    with closing(quick_items(run.feed, run.mark, pace.workers)) as items:
        try:
            for item in _in_batches(items, run, pace.batch):
                if isinstance(item, Item) and item.pause:
                    run.commit()
                    late = pace.idle is not None and time.monotonic() - heard >= pace.idle
                else:
                    run.take(item)
                    late, heard = False, time.monotonic()
                    if run.n_pending >= pace.batch or run.n_tokens >= _MAX_TOKENS:
                        run.commit()
                if late or (pace.stop is not None and pace.stop()):
                    ended = False
                    break
        except FeedError:
            run.commit()  # what stands before the damage
            raise
    run.commit(finished=ended)
    return run.result


def _in_batches(items: Iterable[Item | Rows], run: _Run, batch: int) -> Iterator[Item | Rows]:
    """Items, and no more rows at once than the next transaction has room for."""
    for item in items:
        if isinstance(item, Rows):
            while len(item) > batch - run.n_pending:
                first, item = item.split(batch - run.n_pending)
                yield first
        yield item


class _Run:
    """Items on their way into the store."""

    def __init__(
        self,
        store: Store,
        feed: Feed,
        replaces: bool,
        skip: bool,
        again: bool,
        progress: Callable[[Progress], None] | None,
        on_bad: Callable[[Item], None] | None,
    ) -> None:
        self.store = store
        self.feed = feed
        self.identity: Identity | None = None
        self.committed = self.mark = Mark()
        # Where the store has the feed: nothing is stored unless it still stands there.
        self.stored: Position | None = None
        self.known = False
        # What the store had when this ingest began, or the one that it goes on with.
        self.before = DocumentsBefore(store.totals().arrived)
        self.arrived = self.before.n_before
        self.replaces = replaces
        self.skip = skip
        self.again = again
        self.claimed = False
        self.progress = progress
        self.on_bad = on_bad
        self.pending: list[Item | Rows] = []
        self.n_pending = self.n_tokens = 0
        self.result = IngestResult()
        self.tokeniser = store.tokeniser()

    def begin(self, stored: Position | None, mark: Mark, finished: bool, *, again: bool) -> None:
        """Go on from a mark; `finished` if the store has it as the end."""
        self.stored = stored
        self.committed = self.mark = mark
        self.known = finished
        goes_on = mark != Mark()
        if stored is not None and (goes_on or again):
            # The same as before, so that whoever follows the file meanwhile finds its position.
            self.arrived = int(stored.detail.get("arrived", self.arrived))
            if goes_on:
                self.before = DocumentsBefore(self.arrived)
        self.result = IngestResult(self.identity.feed if self.identity else None)

    def claim(self) -> None:
        """See to it that no other feed names its documents as this one does."""
        if not self.claimed:
            _claim(self.store, self.feed.name, self.result.feed, self.again)
            self.claimed = True

    def take(self, item: Item | Rows) -> None:
        """Keep an item or rows for the next transaction."""
        if isinstance(item, Rows):
            self.pending.append(item)
            self.n_pending += len(item)
            self.n_tokens += item.n_tokens
        elif item.bad is not None:
            self._refuse(item, item.bad)
        elif item.record is not None:
            self.pending.append(item)
            self.n_pending += 1
            self.n_tokens += len(item.record.words)
        self.mark = item.mark

    def commit(self, *, finished: bool = False) -> None:
        """Store what is kept, and how far the feed was read."""
        nothing_new = not self.pending and self.mark == self.committed
        if nothing_new and (self.known or not finished):
            self.result = replace(self.result, finished=finished)
            return
        while True:
            try:
                self._append(finished)
                break
            except RecordError as error:
                pending = list(each(self.pending))
                item = pending[error.index]
                bad = BadRecord(self.feed.source.name, item.line, found=error.problem)
                if not self.skip:
                    # What stands before it can be kept.
                    del pending[error.index :]
                    self.mark = pending[-1].mark if pending else self.committed
                else:
                    del pending[error.index]
                self.pending = [*pending]
                self._refuse(item, bad)

    def _append(self, finished: bool) -> None:
        if self.feed.format not in WITHOUT_TEXT:
            check_unchanged(self.store, self.tokeniser)
        if self.pending and self.feed.has_made_key(next(each(self.pending))):
            self.claim()
        records = records_of(self.pending, replaces=self.replaces)
        if self.identity is None:
            done = self.store.append(records)
        else:
            position = self.identity.position(self.mark, finished=finished)
            position.detail["arrived"] = self.arrived
            done = self.store.append(records, position, after=self.stored)
            self.stored = position
        self.pending, self.n_pending, self.n_tokens = [], 0, 0
        self.committed, self.known = self.mark, finished
        n_replaced = self.before.count(done.replaced)
        again = done.n_records - done.n_documents - n_replaced if self.replaces else 0
        self.result = replace(
            self.result,
            n_records=self.result.n_records + done.n_records,
            n_documents=self.result.n_documents + done.n_documents,
            n_tokens=self.result.n_tokens + done.n_tokens,
            n_repeated=self.result.n_repeated + done.n_repeated,
            n_extended=self.result.n_extended + self.before.count(done.extended),
            n_replaced=self.result.n_replaced + n_replaced,
            n_superseded=self.result.n_superseded + again,
            finished=finished,
            note=self.result.note or self._note(records),
        )
        if self.progress is not None:
            self.progress(Progress(*self.feed.source.progress(self.mark.offset), self.result))

    def _note(self, records: Sequence[Record]) -> str | None:
        """What should be known of the words of some of the records."""
        tokenise = self.feed.options.tokenise
        if isinstance(tokenise, OrderedTokeniser):
            tokenise = tokenise.tokeniser
        if self.feed.format in WITHOUT_TEXT or not leaves_clauses(tokenise):
            return None
        some = range(0, len(records), 1 + len(records) // _LOOKED_AT)
        return unspaced_advice(word for i in some for word in islice(records[i].words, _LOOKED_AT))

    def _refuse(self, item: Item, bad: BadRecord) -> None:
        """Count a bad record, or stop at it with what stands before it stored."""
        if not self.skip:
            self.commit()
            raise BadRecordError(bad, self.result)
        self.result = replace(
            self.result,
            n_bad=self.result.n_bad + 1,
            bad_records=(*self.result.bad_records, bad)[:_MAX_BAD_RECORDS],
        )
        if self.on_bad is not None:
            self.on_bad(replace(item, record=None, bad=bad))


def _start(
    store: Store, identity: Identity, again: bool, replaced: str
) -> tuple[Position | None, Mark, bool]:
    """Where the store has the feed, where to begin, and whether that was its end before."""
    position = store.position(identity.feed)
    if position is None or again:
        return position, Mark(), False
    change = identity.change(position)
    if change is None:
        return position, identity.mark(position), position.finished
    if replaced == "stop":
        raise changed_error(identity.source, change)
    return position, Mark(), False


def _claim(store: Store, name: str, feed: str | None, again: bool) -> None:
    """See to it that no two feeds name their documents alike, or one would add to the other's."""
    claim = f"documents named {name}"[:400]
    position = store.position(claim)
    if position is None:
        try:
            store.append([], Position(claim, 0, False, {"feed": feed}), after=None)
            return
        except PositionError as error:
            # Another process was faster by a moment.
            position = error.found
    owner = position.detail.get("feed") if position is not None else None
    if not again and (owner is None or owner != feed):
        raise FeedError(
            f"documents {name}:1, {name}:2, ... come from {owner or 'a stream'} already: give this "
            "feed another name=, or again=True with replace=True to replace these documents, with "
            "replace=False to add to them"
        )


def _check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{what} is {value!r}, expected {' or '.join(map(repr, allowed))}")
