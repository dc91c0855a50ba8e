"""One ingest of a file into a store at a time: two would both store what comes next."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trustream.feeds.items import FeedError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_one(store: str, feed: str) -> Iterator[None]:
    """Keep other processes of this user on this machine from ingesting the same feed meanwhile.

    The lock ends with the process, however it ends. Where there is no `flock`, nothing is locked.

    Args:
        store: the store's address.
        feed: the feed's name.

    Raises:
        FeedError: another ingest has the lock.

    >>> with only_one("topics.db", "/data/news.jsonl"):
    ...     with only_one("topics.db", "/data/news.jsonl"):
    ...         pass
    Traceback (most recent call last):
    ...
    trustream.feeds.items.FeedError: /data/news.jsonl is being ingested into this store already; ...
    """
    if fcntl is None:
        yield
        return
    address = store if "://" in store else os.path.realpath(store)
    name = hashlib.sha256(f"{os.getuid()}\n{address}\n{feed}".encode(errors="replace")).hexdigest()
    path = Path(tempfile.gettempdir()) / f"trustream-{name[:32]}.lock"
    descriptor = _locked(path)
    if descriptor is None:
        raise FeedError(
            f"{feed} is being ingested into this store already; wait until that is done, or stop it"
        )
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock; None if another does."""
    while True:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before may have deleted the file that was opened here.
            there = os.stat(path)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            os.close(descriptor)
            continue
        here = os.fstat(descriptor)
        if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
            return descriptor
        os.close(descriptor)
