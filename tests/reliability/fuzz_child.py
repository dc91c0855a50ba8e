"""Read hostile feeds under limits of processor time and memory; the child of `test_fuzzed_feeds`.

    python -m tests.reliability.fuzz_child fuzzed KIND,KIND SEED START STOP STORE_EVERY
    python -m tests.reliability.fuzz_child slow SIZE
    python -m tests.reliability.fuzz_child bomb FORMAT FILE...

A line is printed before each input, so that the last one says what a child died of.
"""

from __future__ import annotations

import io
import math
import resource
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.feeds.helpers import documents, new_store
from tests.reliability.fuzzed_feeds import Input, kinds, make
from tests.reliability.slow_feeds import made
from trustream.feeds import FeedError, Item, Mark, ingest, parquet_rows, read
from trustream.feeds.word_coder import word_coder
from trustream.store.records import Record
from trustream.text import tokenise

# Processor time for one input: a hundred times what the slowest needs, and ten times.
FUZZED_SECONDS = 5
SLOW_SECONDS = 10
MEMORY = 2**30
LONGEST_PROBLEM = 2500


def fuzzed(names: str, seed: str, start: int, stop: int, store_every: int) -> None:
    """Read the inputs from `start` to `stop` of each kind; store one now and then."""
    warnings.simplefilter("ignore")
    there = kinds()
    chosen = {name: there[name] for name in names.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        # Once without a limit, to load what is needed.
        for kind in chosen.values():
            with only(kind.library):
                store_and_compare(Path(folder), Input(kind.name, kind.seeds[0], kind.options[0]))
        bound_memory()
        for name, kind in chosen.items():
            with only(kind.library):
                for number in range(start, stop):
                    print(f"{name} {number}", flush=True)
                    bound_time(FUZZED_SECONDS)
                    given = make(kind, f"{name}-{seed}-{number}")
                    if store_every and number % store_every == 0:
                        store_and_compare(Path(folder), given)
                    else:
                        look(Path(folder), given, as_stream=number % 5 == 4)


def slow(size: int) -> None:
    """Read all feeds that were made to take long; dumps by compiled code as well, for the same."""
    coder = word_coder(tokenise)
    warm = b"<mediawiki><page><title>x</title><revision><text>x</text></revision></page>"
    list(read(io.BytesIO(warm + b"</mediawiki>"), format="mediawiki", tokenise=coder))
    bound_memory()
    for name, kind, content in made(size):
        found = []
        for tokeniser in (tokenise, coder)[: 1 + (kind.format == "mediawiki")]:
            print(name, flush=True)
            bound_time(SLOW_SECONDS)
            options = {"tokenise": tokeniser, **kind.options}
            items = []
            last = Mark()
            try:
                for item in read(io.BytesIO(content), format=kind.format, **options):
                    check(item, last)
                    last = item.mark
                    items.append(item if kind.format == "mediawiki" else None)
            except FeedError as error:
                assert 0 < len(str(error)) < LONGEST_PROBLEM, str(error)
            found.append(items)
        assert found[0] == found[-1], f"{name}: not the same by compiled code"


def bomb(format: str, *paths: str) -> None:
    """Read small files with much in them; print by how many megabytes the process has grown."""
    list(read(io.BytesIO(b"<mediawiki>\n"), format=format))
    before = peak()
    for path in paths:
        n_items = sum(1 for _ in read(path, format=format, max_bytes=2**20))
        print(f"{n_items} {(peak() - before) // 1024}", flush=True)


def peak() -> int:
    """Kilobytes of memory that this process has had at most; `getrusage` counts its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@contextmanager
def only(library: str) -> Iterator[None]:
    """Let Parquet be read by this library and no other."""

    def missing(*_: object) -> Any:
        raise ImportError

    other = {"polars": "_Arrow", "pyarrow": "_Polars"}.get(library)
    if other is None:
        yield
        return
    before = getattr(parquet_rows, other)
    setattr(parquet_rows, other, missing)
    try:
        yield
    finally:
        setattr(parquet_rows, other, before)


def bound_memory() -> None:
    """Let the process take so much more than it has now."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))


def bound_time(seconds: float) -> None:
    """Let the process run so many more seconds; then it is killed."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds), hard))


def look(folder: Path, given: Input, *, as_stream: bool = False) -> list[Item]:
    """The items of a feed, each of which is as it should be; nothing but FeedError is raised."""
    source: Any = write(folder, given)
    options = given.options
    if as_stream:
        source = io.BytesIO(given.content)
        options = {"format": format_of(given), **options}
    items: list[Item] = []
    last = Mark()
    try:
        for item in read(source, **options):
            check(item, last)
            items.append(item)
            last = item.mark
    except FeedError as error:
        assert 0 < len(str(error)) < LONGEST_PROBLEM, str(error)
        assert "\n" not in str(error), str(error)
    return items


def check(item: Item, last: Mark) -> None:
    """An item has a record that a store takes, or a problem, or nothing to add."""
    assert not item.pause
    assert item.mark.offset >= last.offset and item.line >= 1
    if item.problem is not None:
        assert item.record is None and 0 < len(item.problem) < LONGEST_PROBLEM
        assert "\n" not in item.problem, item.problem
        return
    if item.record is None:
        return
    assert 1 <= len(item.record.key) <= 500
    assert item.record.time is None or math.isfinite(item.record.time)
    for word, count in counted(item.record).items():
        assert 1 <= len(word) <= 500 and "\0" not in word
        assert word.encode() and 1 <= count <= 2**31 - 1 and type(count) is int


def store_and_compare(folder: Path, given: Input) -> None:
    """A store has after an ingest what the reader gave, and a second ingest adds nothing."""
    items = look(folder, given)
    path = write(folder, given)
    wanted: dict[str, Counter[str]] = {}
    seen: set[str] = set()
    for record in (item.record for item in items if item.record is not None):
        if record.append_id is not None and record.append_id in seen:
            continue
        seen.add(record.append_id or "")
        counts = wanted.setdefault(record.key, Counter())
        counts.update(counted(record))
    n_bad = sum(item.problem is not None for item in items)
    name = f"{len(list(folder.iterdir()))}.db"
    with new_store(folder, name) as store:
        try:
            result = ingest(store, path, on_error="skip", batch=3, **given.options)
        except FeedError:
            result = None
        found = documents(store)
        if result is not None and result.n_bad > n_bad:
            # The store refused more, such as a count that has become too large.
            assert found.keys() <= wanted.keys()
        else:
            assert found == {key: as_scanned(counts) for key, counts in wanted.items()}
        if result is not None:
            assert result.finished
            assert ingest(store, path, on_error="skip", **given.options).n_records == 0
            assert documents(store) == found
    for part in folder.glob(f"{name}*"):
        part.unlink()


def as_scanned(counts: Counter[str]) -> dict[str, int]:
    """Counts as a scan of a store gives them, which has them as float32."""
    return {word: int(np.float32(count)) for word, count in counts.items()}


def counted(record: Record) -> dict[str, int]:
    """The words of a record with their counts."""
    return dict(record.words) if isinstance(record.words, dict) else dict(Counter(record.words))


def write(folder: Path, given: Input) -> Path:
    """The file of an input."""
    path = folder / given.name
    path.write_bytes(given.content)
    return path


def format_of(given: Input) -> str:
    """What `read` would call the format by the name, without the compression."""
    named = {".jsonl": "jsonl", ".txt": "text", ".csv": "csv", ".tsv": "csv", ".ldac": "ldac",
             ".xml": "mediawiki", ".pq": "parquet"}  # fmt: skip
    if given.name.startswith("docword."):
        return "uci"
    return next(name for suffix, name in named.items() if suffix in given.name)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "fuzzed":
        fuzzed(arguments[0], arguments[1], *map(int, arguments[2:]))
    elif what == "slow":
        slow(int(arguments[0]))
    else:
        bomb(*arguments)
    print("done", flush=True)
