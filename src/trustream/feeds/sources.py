"""Read bytes from files, compressed files, files that grow, and streams."""

from __future__ import annotations

import gzip
import io
import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from trustream._open_databases import is_in_use
from trustream.feeds.compression import CHUNK, decompressed_bz2, decompressed_xz, decompressed_zst
from trustream.feeds.errors import FeedError
from trustream.file_errors import readable

# Seconds between two looks at a file or a stream that nothing came from.
POLL = 0.2

_COMPRESSED: dict[str, Any] = {
    ".gz": gzip.open,
    ".bz2": decompressed_bz2,
    ".xz": decompressed_xz,
    ".zst": decompressed_zst,
}


class FileSource:
    """A file, perhaps compressed; offsets are bytes of what is in it.

    Args:
        path: the file; `.gz`, `.bz2`, `.xz` and `.zst` are decompressed.
        follow: wait at its end for more.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"one two")
    ...     file.flush()
    ...     source = FileSource(file.name)
    ...     source.compressed, list(source.chunks(4))
    (False, [b'two'])
    """

    def __init__(self, path: str | Path, *, follow: bool = False) -> None:
        self.path = Path(os.path.abspath(path))
        # A name need not be UTF-8, and a store takes nothing else.
        self.name = os.fsencode(self.path.name).decode(errors="replace")
        suffix = self.path.suffix.lower()
        self.compressed = suffix in _COMPRESSED
        self._open = _COMPRESSED.get(suffix)
        self._raw: IO[bytes] | None = None
        self.rows: int | None = None
        with self._readable():
            if not self.path.exists():
                raise FeedError(f"there is no file {path}")
            if is_in_use(self.path):
                raise FeedError(
                    f"{path} belongs to a store that is open in this process: give another file"
                )
            if self.path.is_dir():
                raise FeedError(f"{path} is a directory: name the files in it, or find_files does")
        if follow and self.compressed:
            raise FeedError(f"{self.name} is compressed and cannot be followed as it grows")
        self.follow = follow

    @property
    def is_part(self) -> bool:
        """Whether more stands in the file than is read of it."""
        return False

    @property
    def suffix(self) -> str:
        """Of the name without that of the compression: `.txt` of `a.txt.gz`."""
        name = self.path.stem if self.compressed else self.name
        return Path(name).suffix.lower()

    def size(self) -> int:
        """Bytes on disk."""
        with self._readable():
            return self.path.stat().st_size

    def progress(self, offset: int) -> tuple[int, int | None]:
        """How much was taken in of how much: bytes on disk, or rows where `rows` is set."""
        if self.rows is not None:
            return offset, self.rows
        raw = self._raw
        return raw.tell() if raw is not None and not raw.closed else self.size(), self.size()

    def chunks(self, offset: int = 0) -> Iterator[bytes | None]:
        """The bytes from `offset` on; None when a followed file has nothing new."""
        with self._readable(), self.path.open("rb") as raw:
            self._raw = raw
            file = self._open(raw) if self._open else raw
            _skip(file, offset)
            while True:
                # Not `read`, which would lose what it has when it comes to damage.
                if chunk := file.read1(CHUNK):
                    yield chunk
                elif self.follow and self._may_grow(raw):
                    yield None
                    time.sleep(POLL)
                else:
                    return

    def head(self, size: int) -> bytes:
        """The first bytes of what is in it; fewer if it is damaged behind them."""
        content = bytearray()
        with self._readable(), self.path.open("rb") as raw:
            file = self._open(raw) if self._open else raw
            try:
                while len(content) < size and (chunk := file.read1(size - len(content))):
                    content += chunk
            except Exception:
                if not content:
                    raise
        return bytes(content)

    def raw(self, offset: int, size: int) -> bytes:
        """Bytes on disk."""
        with self._readable(), self.path.open("rb") as raw:
            raw.seek(offset)
            return raw.read(size)

    def _readable(self) -> AbstractContextManager[None]:
        return readable(self.name, FeedError)

    def _may_grow(self, raw: IO[bytes]) -> bool:
        """Whether the open file still is the one of that name; logs are moved away when full."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(raw.fileno())
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            return False
        if here.st_size < raw.tell():
            raise FeedError(f"{self.name} became shorter while it was followed")
        return True


class StreamSource:
    """A binary stream such as standard input, read once from where it stands.

    >>> import io
    >>> list(StreamSource(io.BytesIO(b"one two")).chunks())
    [b'one two']
    """

    path = None
    suffix = ""
    compressed = False
    follow = False
    is_part = False

    def __init__(self, stream: IO[bytes] | None = None) -> None:
        self.stream = _standard_input() if stream is None else stream
        self.name = str(getattr(self.stream, "name", "stream")).strip("<>")
        if isinstance(self.stream, io.TextIOBase):
            raise FeedError(f"{self.name} is a stream of text: open it in binary mode")
        self._done = 0

    def progress(self, offset: int) -> tuple[int, int | None]:
        """Bytes taken in; of how many is not known."""
        return self._done, None

    def chunks(self, offset: int = 0) -> Iterator[bytes | None]:
        """The bytes that come; None when nothing has come for a while."""
        descriptor = _pipe(self.stream)
        while True:
            if descriptor is not None and not select.select([descriptor], [], [], POLL)[0]:
                yield None
                continue
            with readable(self.name, FeedError):
                # Past the buffer, for what lies there is not seen by `select`.
                chunk = (
                    self.stream.read(CHUNK) if descriptor is None else os.read(descriptor, CHUNK)
                )
            if not chunk:
                return
            if not isinstance(chunk, bytes | bytearray):
                kind = type(chunk).__name__
                raise FeedError(f"{self.name} gives {kind}, expected bytes: open it in binary mode")
            self._done += len(chunk)
            yield bytes(chunk)


Source = FileSource | StreamSource


def open_source(source: str | Path | IO[bytes] | Source, *, follow: bool = False) -> Source:
    """A source of a path, of `-` for standard input, or of a binary stream; sources are returned.

    >>> import io
    >>> open_source(io.BytesIO()).name
    'stream'
    """
    if isinstance(source, Source):
        return source
    if source == "-":
        return StreamSource()
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        with readable(path.name, FeedError):
            if path.exists() and not path.is_file() and not path.is_dir():
                return StreamSource(path.open("rb"))  # a named pipe
            return FileSource(source, follow=follow)
    if hasattr(source, "read"):
        return StreamSource(source)
    kind = type(source).__name__
    raise FeedError(f"a feed is a path, '-' for standard input, or a binary stream; got a {kind}")


def _standard_input() -> IO[bytes]:
    # There is none where it was closed before Python began, and in a notebook it has only texts.
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FeedError("there is no standard input to read from: give a file")
    return stream


def _pipe(stream: IO[bytes]) -> int | None:
    """The descriptor of a pipe, a socket or a terminal that can be waited for."""
    try:
        descriptor = stream.fileno()
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        select.select([descriptor], [], [], 0)
    except (OSError, ValueError, AttributeError):
        return None
    return descriptor


def _skip(file: Any, offset: int) -> None:
    """Go to an offset; compressed files take their time, but no memory."""
    if file.seekable():
        file.seek(offset)
        return
    while offset > 0:
        chunk = file.read1(min(offset, CHUNK))
        if not chunk:
            return
        offset -= len(chunk)
