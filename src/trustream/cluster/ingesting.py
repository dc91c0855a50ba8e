"""Add the documents of files to a store by several workers, each document exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from trustream.cluster.calls import Call
from trustream.cluster.over_parts import in_order
from trustream.cluster.pool import pool_on
from trustream.cluster.sources import StoreSource
from trustream.cluster.worker import Worker
from trustream.feeds import FeedError, IngestResult, find_files
from trustream.feeds.ingestion import ingest as ingest_file
from trustream.feeds.ingestion import rewind
from trustream.feeds.positions import feed_position
from trustream.store import open_store
from trustream.store.errors import PositionError
from trustream.store.limits import is_number_from
from trustream.store.protocol import Store

# Times that one file is gone on with after somebody else has added a part of it.
_MOST_OVERTAKEN = 1000


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """A file whose documents are in the store.

    Attributes:
        file: its path.
        name: what its documents without an id are named by.
        result: what was added by the worker that came to the end of the file.
        n_before: lines or rows that another worker had added before it was lost; what they were is
            not in `result`.
    """

    file: str
    name: str
    result: IngestResult
    n_before: int


def ingest(
    store: str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    cluster: str = "local",
    workers: int | None = None,
    format: str | None = None,
    again: bool = False,
    replace: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Iterator[IngestedFile]:
    """Add the documents of many files to a store, a file at a time by each worker.

    Workers read files, make words of texts and write to the store, with the position in the file in
    the same transaction: whatever dies, each document is added once. A file whose worker is lost is
    gone on with by another, where the store has its position, and the same call after a failure
    goes on with what is missing. Files yield in their order.

    Documents of one id in several files get the words of all of them, in whatever order; with
    `replace=True` the last to arrive counts, and which that is, is not certain.

    Parameters
    ----------
    store : str or Path
        Address of a PostgreSQL store. A SQLite store is for workers on this machine, and takes one
        writer at a time.
    files : str, Path or sequence of them
        Files, folders and patterns, of any format that `trustream.feeds.ingest` reads. Workers must
        find them under the same names.
    cluster : str, default="local"
        Of the cluster, as in `trustream.cluster.transform`.
    workers : int, default=None
        None is one for each core of the cluster.
    format, again, replace, **options
        As in `trustream.feeds.ingest`: `batch`, `on_error`, `replaced`, and how records are read.
    progress : callable, default=None
        Called as progress(files done, files).

    Raises
    ------
    FeedError
        If a file cannot be read. What was added before stays, with its position.
    """
    for name in ("follow", "idle", "stop", "on_bad"):
        if options.pop(name, None):
            raise ValueError(f"{name} is for files that one process reads: leave it out")
    if again and replace is None:
        raise ValueError(
            "again=True reads records that may be in the store already: give replace=True to "
            "replace their documents, or replace=False to add their words once more"
        )
    listed = _listed(files, format)
    if options.get("name") and len(listed) > 1:
        raise ValueError(
            f"name is {options['name']!r}, and there are {len(listed)} files, whose documents "
            "would have the same names: leave it out"
        )
    options = {**options, "format": format, "replace": replace, "workers": 0}
    with open_store(store, create=False) as opened:
        url, shown = opened.url, opened.name
        starts = [_start(opened, path, again, options) for path, _ in listed]
    return _ingest(StoreSource(url, shown), listed, starts, cluster, workers, options, progress)


def _ingest(
    source: StoreSource,
    listed: list[tuple[str, str]],
    starts: list[int],
    cluster: str,
    workers: int | None,
    options: dict[str, Any],
    progress: Callable[[int, int], None] | None,
) -> Iterator[IngestedFile]:
    if workers is not None:
        workers = min(workers, len(listed))
    given = options.get("name")
    calls = [
        # Two at once would only stand in each other's way.
        Call(ingested, (source.url, path, {**options, "name": given or name}), place=i, alone=True)
        for i, (path, name) in enumerate(listed)
    ]
    with pool_on(cluster, source, workers) as pool:
        results = zip(listed, starts, in_order(pool, calls), strict=True)
        for done, ((path, name), start, (result, began)) in enumerate(results, start=1):
            if progress is not None:
                progress(done, len(listed))
            yield IngestedFile(path, name, result, max(0, began - start))


def ingested(worker: Worker, url: str, path: str, options: dict[str, Any]) -> tuple[Any, int]:
    """Ingest a file from where the store has it; returns the result and the line it began at."""
    store: Store = worker.kept.get(("store", url), lambda: open_store(url, create=False))
    began = _line(store, path)
    result = IngestResult()
    for _ in range(_MOST_OVERTAKEN):
        try:
            return _sum(result, ingest_file(store, path, **options)), began
        except FeedError as error:
            # A worker taken for dead may have added a part of the file meanwhile: go on there.
            if not isinstance(error.__cause__, PositionError):
                raise
            last = error
    raise last


def _listed(files: str | Path | Sequence[str | Path], format: str | None) -> list[tuple[str, str]]:
    """Paths and names of files, each once."""
    some = [files] if isinstance(files, str | Path) else list(files)
    listed: dict[str, str] = {}
    for one in some:
        found = find_files(one, format)
        if found.unreadable:
            raise FeedError("cannot read " + "; ".join(f"{p}: {w}" for p, w in found.unreadable))
        for file in found.files:
            listed.setdefault(str(file.path.absolute()), file.name)
    return list(listed.items())


def _start(store: Store, path: str, again: bool, options: dict[str, Any]) -> int:
    """The line of a file that the store has read to; with `again` set back to its start."""
    if again:
        rewind(store, path, **_reading(options))
    return _line(store, path)


def _line(store: Store, path: str) -> int:
    position = feed_position(store, path)
    line = 0 if position is None else position.detail.get("line")
    return int(line or 0) if is_number_from(0, line) else 0


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that say how a file is read."""
    others = ("replace", "workers", "batch", "on_error", "replaced")
    return {name: value for name, value in options.items() if name not in others}


def _sum(first: IngestResult, second: IngestResult) -> IngestResult:
    """What two ingests of a file have added together."""
    numbers = [field.name for field in fields(IngestResult) if field.name.startswith("n_")]
    added = {name: getattr(first, name) + getattr(second, name) for name in numbers}
    return replace(second, **added)
