"""List the files of a folder or of a pattern that are feeds."""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path
from typing import NamedTuple

from trustream._open_databases import is_in_use
from trustream.feeds.errors import FeedError
from trustream.feeds.formats import format_name
from trustream.feeds.sources import FileSource
from trustream.file_errors import readable, reason


class NamedFile(NamedTuple):
    """A file, and what its documents without an id are named by."""

    path: Path
    name: str


class FoundFiles(NamedTuple):
    """What was found.

    Attributes:
        files: files that can be read, by their path.
        unknown: files whose format cannot be told by their name.
        unreadable: files and folders that may not be read, each with the reason.
    """

    files: list[NamedFile]
    unknown: list[Path]
    unreadable: list[tuple[Path, str]]


def find_files(source: str | Path, format: str | None = None) -> FoundFiles:
    """The files of a folder and the folders in it, or those that a pattern names, in sorted order.

    Files whose names begin with a dot are passed over, and so are such folders. Names of documents
    begin with the path below the folder, or below the part of the pattern that has no wildcard: two
    files of the same name do not meet.

    Args:
        source: a folder, or a pattern as the shell has it: `*`, `?` and `[...]`, and `**` for
            folders at any depth. A file stands for itself.
        format: of all files; by each file's suffix if None, and then others are left out.

    Raises:
        FeedError: there is no such thing, or nothing in it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.txt", "a.jsonl", "notes.doc", ".hidden.txt"):
    ...         _ = Path(folder, name).write_text("cats")
    ...     found = find_files(folder)
    >>> [file.name for file in found.files], [path.name for path in found.unknown]
    (['a.jsonl', 'b.txt'], ['notes.doc'])
    """
    path = Path(source)
    found = FoundFiles([], [], [])
    with readable(str(source), FeedError):
        if path.is_dir():
            _walk(path, path, format, found, set())
        elif path.exists() or not glob.has_magic(str(source)):
            return FoundFiles([NamedFile(path, path.name)], [], [])
        else:
            base = _base(str(source))
            for name in sorted(glob.glob(str(source), recursive=True)):
                _add(Path(name), base, format, found)
    if not any(found):
        raise FeedError(f"there are no files in {source}" if path.is_dir() else _nothing(source))
    return found


def _nothing(source: str | Path) -> str:
    return f"there is no file {source}, and none that it would name as a pattern"


def _walk(
    folder: Path, base: Path, format: str | None, found: FoundFiles, seen: set[tuple[int, int]]
) -> None:
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:  # links may lead back
            return
        seen.add((status.st_dev, status.st_ino))
        names = sorted(os.listdir(folder), key=os.fsencode)
    except OSError as error:
        found.unreadable.append((folder, reason(error)))
        return
    for name in names:
        if name.startswith("."):
            continue
        if (folder / name).is_dir():
            _walk(folder / name, base, format, found, seen)
        else:
            _add(folder / name, base, format, found)


def _add(path: Path, base: Path, format: str | None, found: FoundFiles) -> None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return  # a folder, a pipe
        if is_in_use(path):
            found.unknown.append(path)
            return
        with path.open("rb"):
            pass
        format_name(FileSource(path), format)
    except FeedError:
        found.unknown.append(path)
    except OSError as error:
        found.unreadable.append((path, reason(error)))
    else:
        name = os.fsencode(path.relative_to(base).as_posix()).decode(errors="replace")
        found.files.append(NamedFile(path, name))


def _base(pattern: str) -> Path:
    """The folder before the first wildcard.

    >>> _base("data/2024-*/part.jsonl").as_posix(), _base("*.txt").as_posix()
    ('data', '.')
    """
    parts = Path(pattern).parts
    plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])
