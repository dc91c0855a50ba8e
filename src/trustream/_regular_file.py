"""Replace and read regular files; devices, pipes and other files are refused.

Replacing a device, a pipe or a socket would put a file in its place, and reading from a pipe would
block until another process writes.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trustream._open_databases import check_not_in_use, ends_as_beside

PathLike = str | os.PathLike[str]

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def replace_file(path: PathLike, parts: Iterable[bytes | memoryview]) -> None:
    """Replace a file atomically: readers of `path` see either the old or the new content.

    Symbolic links are followed, and the mode of an existing file is kept.

    Raises:
        ValueError: `path` exists and is not a regular file.
        OSError: it cannot be written, or the disk is full; the old file is unchanged.

    >>> replace_file(os.devnull, [b"content"])
    Traceback (most recent call last):
    ...
    ValueError: cannot write to ...: it is a device; give the name of a file
    """
    with replacement(path) as temporary, open(temporary, "wb", buffering=0) as file:
        try:
            for part in parts:
                _write(file, part)
        except OSError as error:
            raise OSError(f"cannot write {os.path.realpath(path)}: {error}") from error


@contextmanager
def replacement(path: PathLike) -> Iterator[Path]:
    """Yield an empty file that takes the place of `path` at the end, for what a library writes.

    After an exception it is gone, and `path` is as it was. See `replace_file`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacement(f"{folder}/words.txt") as temporary:
    ...         _ = temporary.write_text("cat")
    ...     Path(folder, "words.txt").read_text()
    'cat'
    """
    target = _target(path)
    # Readers of a folder pass over names that begin with a dot.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        # The umask applies to a new file. The replacement of an existing one is private to its
        # owner while it is written, because the existing file may be.
        os.close(os.open(temporary, flags, 0o666 if mode is None else 0o600))
        yield temporary
        _flush(temporary, os.O_RDWR)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name != "nt":  # Windows cannot open a directory
        _flush(target.parent, os.O_RDONLY)


@contextmanager
def open_regular(path: PathLike, what: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and yield it with its size; other files are refused without blocking.

    Raises:
        FileNotFoundError: there is no such file; the message calls it `what`.
        ValueError: it is not a regular file.
    """
    path = Path(path)
    check_not_in_use(path)
    try:
        _refuse_unless_regular(path.stat(), f"cannot read {path}")
        # The file may have been replaced since: open it without blocking, and check again.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no {what} {path}") from None
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        _refuse_unless_regular(found, f"cannot read {path}")
        yield file, found.st_size  # type: ignore[misc]


def _target(path: PathLike) -> Path:
    """The file to which a path refers, which may not exist yet."""
    check_not_in_use(path, "replace")
    target = Path(os.path.realpath(path))
    end = ends_as_beside(target)
    if end is not None and Path(str(target)[: -len(end)]).is_file():
        raise ValueError(
            f"cannot write to {path}: a file of this name belongs to {str(target)[: -len(end)]} if "
            "that is a SQLite database, and is deleted with it; give another name"
        )
    with suppress(FileNotFoundError):
        found = os.stat(path)
        _refuse_unless_regular(found, f"cannot write to {path}")
        # A descriptor under /dev or /proc can refer to a file that has been deleted.
        if not (target.exists() and os.path.samestat(found, target.stat())):
            raise ValueError(
                f"cannot write to {path}: the file has been deleted; give another name"
            )
    return target


def _refuse_unless_regular(found: os.stat_result, beginning: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")
        raise ValueError(f"{beginning}: it is {kind}; give the name of a file")


def _write(file: BinaryIO, part: bytes | memoryview) -> None:
    """Write all of `part`: a single call may write less."""
    rest = memoryview(part)
    while rest.nbytes:
        rest = rest[file.write(rest) :]


def _flush(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
