"""Add the records of a feed to a store, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from trustream.feeds.errors import FeedError
from trustream.feeds.feed import Feed, open_feed
from trustream.feeds.ingest_run import Run
from trustream.feeds.items import Item, Mark
from trustream.feeds.positions import Identity, changed_error, overtaken_error
from trustream.feeds.quick_reading import quick_items
from trustream.feeds.results import IngestResult, Progress
from trustream.feeds.rows import Rows
from trustream.feeds.sources import FileSource
from trustream.feeds.store_tokeniser import WITHOUT_TEXT, agreed_tokeniser, with_order
from trustream.store.errors import PositionError, StoreError
from trustream.store.limits import is_number_from, short_repr
from trustream.store.position_checks import After
from trustream.store.protocol import Store
from trustream.store.records import Position

# Tokens after which a batch is stored, whatever its records, so that memory has a bound.
_MAX_TOKENS = 500_000


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
    if not is_number_from(1, batch):
        raise ValueError(f"batch is {short_repr(batch)}, expected a whole number, 1 or more")
    if workers is not None and not is_number_from(0, workers):
        raise ValueError(
            f"workers is {short_repr(workers)}, expected a whole number, 0 or more, or None to "
            "choose"
        )
    # NaN would never be reached.
    if idle is not None and not idle >= 0:
        raise ValueError(f"idle is {idle}, expected seconds, 0 or more, or None for ever")
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
    run = Run(store, feed, bool(replace), on_error == "skip", again, progress, on_bad)
    if not isinstance(feed.source, FileSource):
        return _ingest(run, pace)
    run.identity = _identity(feed)
    run.begin(*_start(store, run.identity, again, replaced), again=again)
    try:
        return _ingest(run, pace)
    except PositionError as error:
        raise overtaken_error(feed.source, error) from error


def rewind(
    store: Store, source: str | Path, *, format: str | None = None, **options: Any
) -> Position | None:
    """Let the next `ingest` of a file read it from its start, as `again=True` does for one.

    For whoever may have to repeat an ingest that was cut short: `again` would begin anew each time.
    Nothing is changed if the file was never read.

    Args:
        store: that has the position of the file.
        source: its path.
        format, options: as for `ingest`.

    Returns the position that the store has now; None if the file was never read.

    >>> import tempfile
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/topics.db") as store:
    ...     _ = Path(folder, "pets.txt").write_text("cats and dogs")
    ...     counts = [ingest(store, f"{folder}/pets.txt").n_records for _ in range(2)]
    ...     _ = rewind(store, f"{folder}/pets.txt")
    ...     counts, ingest(store, f"{folder}/pets.txt", replace=True).n_replaced
    ([1, 0], 1)
    """
    identity = _identity(open_feed(source, format=format, **options))
    stored = _position_to_replace(store, identity.feed)
    if stored is None:
        return None
    position = identity.position(Mark(), finished=False)
    position.detail["arrived"] = store.totals().arrived
    try:
        store.append([], position, after=stored)
    except PositionError as error:
        raise overtaken_error(identity.source, error) from error
    return position


def _identity(feed: Feed) -> Identity:
    if not isinstance(feed.source, FileSource):
        raise ValueError(f"{feed.source.name} is no file, and has no position")
    return Identity(feed.source, feed.format, whole=feed.is_whole)


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


def _ingest(run: Run, pace: _Pace) -> IngestResult:
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


def _in_batches(items: Iterable[Item | Rows], run: Run, batch: int) -> Iterator[Item | Rows]:
    """Items, and no more rows at once than the next transaction has room for."""
    for item in items:
        if isinstance(item, Rows):
            while len(item) > batch - run.n_pending:
                first, item = item.split(batch - run.n_pending)
                yield first
        yield item


def _start(
    store: Store, identity: Identity, again: bool, replaced: str
) -> tuple[After, Mark, bool]:
    """Where the store has the feed, where to begin, and whether that was its end before."""
    if again:
        return _position_to_replace(store, identity.feed), Mark(), False
    position = store.position(identity.feed)
    if position is None:
        return None, Mark(), False
    change = identity.change(position)
    if change is None:
        return position, identity.mark(position), position.finished
    if replaced == "stop":
        raise changed_error(identity.source, change)
    return position, Mark(), False


def _position_to_replace(store: Store, feed: str) -> After:
    """Where the store has a feed that is read from its start; not compared if that is damaged."""
    try:
        return store.position(feed)
    except StoreError:
        return ...


def _check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{what} is {value!r}, expected {' or '.join(map(repr, allowed))}")
