"""What one ingest has read and not stored yet, and what it has stored: a transaction at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from trustream.feeds.blocks import ENDS
from trustream.feeds.documents_before import DocumentsBefore
from trustream.feeds.errors import BadRecord, BadRecordError, FeedError, field_name
from trustream.feeds.feed import Feed
from trustream.feeds.items import Item, Mark
from trustream.feeds.positions import Identity
from trustream.feeds.results import IngestResult, Progress
from trustream.feeds.rows import Rows, each, records_of
from trustream.feeds.sources import FileSource
from trustream.feeds.store_tokeniser import WITHOUT_TEXT, check_unchanged
from trustream.segmenters import unspaced_advice
from trustream.store.errors import PositionError, RecordError, StoreError
from trustream.store.limits import is_number_from
from trustream.store.position_checks import After
from trustream.store.protocol import Store
from trustream.store.records import Position, Record
from trustream.text import leaves_clauses
from trustream.word_order import OrderedTokeniser

_MAX_BAD_RECORDS = 20
# Records of a transaction, and words of a record, that are looked at for a note.
_LOOKED_AT = 20


class Run:
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
        self.stored: After = None
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

    def begin(self, stored: After, mark: Mark, finished: bool, *, again: bool) -> None:
        """Go on from a mark; `finished` if the store has it as the end."""
        self.stored = stored
        self.committed = self.mark = mark
        self.known = finished
        goes_on = mark != Mark()
        if isinstance(stored, Position) and (goes_on or again):
            # The same as before, so that whoever follows the file meanwhile finds its position.
            arrived = stored.detail.get("arrived")
            self.arrived = int(arrived or 0) if is_number_from(0, arrived) else self.arrived
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
                name = None if item.record is None else field_name(error, item.record)
                bad = BadRecord(self.feed.source.name, item.line, found=error.problem, name=name)
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
            reached, total = self.feed.source.progress(self.mark.offset)
            if not finished and _reads_ahead(self.feed):
                reached = self.mark.offset
            self.progress(Progress(reached, total, self.result))

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


def _reads_ahead(feed: Feed) -> bool:
    """Whether much more may have been read than stored, of a file whose marks count its bytes."""
    source = feed.source
    return isinstance(source, FileSource) and not source.compressed and feed.format in ENDS


def _claim(store: Store, name: str, feed: str | None, again: bool) -> None:
    """See to it that no two feeds name their documents alike, or one would add to the other's."""
    claim = f"documents named {name}"[:400]
    try:
        position = store.position(claim)
        is_damaged = position is not None and "feed" not in position.detail
    except StoreError:
        if not again:
            raise
        is_damaged = True
    if is_damaged and again:
        store.append([], Position(claim, 0, False, {"feed": feed}))
        return
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
