"""Regular files: replaced as a whole, read by one descriptor; nothing else is taken for one.

Writing to a device, a pipe or a socket by replacing it would put a file in its place, and reading
from a pipe would wait for somebody to write: both are refused.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def replace_file(path: PathLike, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file as a whole: whoever reads `path` sees the old content or the new one.

    A symbolic link is followed, and the mode of an old file kept.

    Raises:
        ValueError: there is something else than a regular file.
        OSError: it cannot be written, or the disk is full; the old file is as it was.

    >>> replace_file(os.devnull, [b"content"])
    Traceback (most recent call last):
    ...
    ValueError: cannot write to ...: it is a device; give the name of a file
    """
    target = _target(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        # The umask decides who may read a new file. What replaces one that only its owner may read
        # is never seen by others, not even while it is written.
        descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600)
        with open(descriptor, "wb", buffering=0) as file:
            try:
                for part in parts:
                    _write(file, part)
            except OSError as error:
                raise OSError(f"cannot write {target}: {error}") from error
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name != "nt":  # Windows cannot open a directory
        _flush_folder(target.parent)


@contextmanager
def open_regular(path: PathLike, what: str) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file and its size; other things are refused, and never waited for.

    Raises:
        FileNotFoundError: there is none; the message calls it `what`.
        ValueError: it is something else than a regular file.
    """
    path = Path(path)
    try:
        _refuse_unless_regular(path.stat(), f"cannot read {path}")
        # Something else may have taken its place: an open that never waits, then another look.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no {what} {path}") from None
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        _refuse_unless_regular(found, f"cannot read {path}")
        yield file, found.st_size  # type: ignore[misc]


def _target(path: PathLike) -> Path:
    """The file that a path stands for, perhaps one that is not there yet."""
    target = Path(os.path.realpath(path))
    with suppress(FileNotFoundError):
        found = os.stat(path)
        _refuse_unless_regular(found, f"cannot write to {path}")
        # A descriptor under /dev or /proc can name a file that has no name any more.
        if not (target.exists() and os.path.samestat(found, target.stat())):
            raise ValueError(f"cannot write to {path}: it has no name of its own; give another")
    return target


def _refuse_unless_regular(found: os.stat_result, beginning: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no regular file")
        raise ValueError(f"{beginning}: it is {kind}; give the name of a file")


def _write(file: BinaryIO, part: bytes | memoryview) -> None:
    """All of it: a single call may write less."""
    rest = memoryview(part)
    while rest.nbytes:
        rest = rest[file.write(rest) :]


def _flush_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
