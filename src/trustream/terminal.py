"""Print on a terminal: text without control characters, and the progress of a task."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

# Whether `say_compiling` has said it.
_said = False
# Where there is no terminal.
_SECONDS_BETWEEN_LINES = 5.0


def shown(text: object) -> str:
    r"""Return a text in which control characters are escaped, so that it is safe to print.

    Words, keys, labels and names of files may come from untrusted sources. A control character in
    them can move the cursor, change colours, rename the window or fake a line of output, and a
    mark of direction or of no width makes one word look like another. Each such character is
    escaped as in a Python string. Letters, marks and blanks of all scripts are kept.

    Parameters
    ----------
    text : object
        Its ``str`` is used.

    Returns
    -------
    str
        One line, without control characters (C0, C1, DEL), marks of direction, characters
        without a width, separators of lines and paragraphs, and lone surrogates.

    Examples
    --------
    >>> shown("żółw 龜")
    'żółw 龜'
    >>> print(shown("cat\x1b[31m\ndog\u202e"))
    cat\x1b[31m\ndog\u202e
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def say_compiling() -> None:
    """Say on standard error that kernels are being compiled; only the first call says it."""
    global _said
    if not _said and sys.stderr is not None:
        _said = True
        with suppress(OSError):
            print(
                "trustream: compiling its kernels, once after an install (some seconds)",
                file=sys.stderr,
                flush=True,
            )


class Advance(Protocol):
    """Called with how much is done, and a note on it."""

    def __call__(self, done: int, note: str = "") -> None: ...


def amount(done: int, total: int | None, unit: str) -> str:
    """Return how much of something is done, with its unit; bytes are counted in kB, MB or GB.

    >>> amount(1200, 3000, "documents"), amount(1200, None, "documents")
    ('1,200 of 3,000 documents', '1,200 documents')
    >>> amount(262_144, 621_916, "bytes"), amount(1_500_000, 117_000_000, "bytes")
    ('262 of 622 kB', '1.5 of 117.0 MB')
    """
    scale, name, digits = 1, unit, 0
    if unit == "bytes":
        largest = done if total is None else total
        for scale, name, digits in ((10**9, "GB", 2), (10**6, "MB", 1), (10**3, "kB", 0)):  # noqa: B007
            if largest >= scale:
                break
        else:
            scale, name = 1, "bytes"
    parts = [f"{number / scale:,.{digits}f}" for number in (done, total) if number is not None]
    return f"{' of '.join(parts)} {name}".rstrip()


@contextmanager
def progress(console: Console, title: str, total: int | None, unit: str = "") -> Iterator[Advance]:
    """Show progress as a bar on a terminal, as plain lines elsewhere; yields ``advance(done)``.

    Parameters
    ----------
    console : rich.console.Console
    title : str
        What is being done, such as the name of a file.
    total : int or None
        How much there is to do, if that is known.
    unit : str
        What is counted, "documents" for example; "bytes" are shown in kB, MB or GB.
    """
    title = shown(title)
    if console.is_terminal:
        with _bar(console, title, total, unit) as moved:
            yield moved
        return
    due = time.monotonic()
    last = printed = ""

    def advance(done: int, note: str = "") -> None:
        nonlocal due, last
        last = _described(done, total, unit, note)
        if time.monotonic() >= due:
            show()
            due = time.monotonic() + _SECONDS_BETWEEN_LINES

    def show() -> None:
        nonlocal printed
        if last != printed:
            print(f"{title}: {last}", file=console.file, flush=True)
            printed = last

    yield advance
    show()


def _described(done: int, total: int | None, unit: str, note: str) -> str:
    known = amount(done, total, unit) if done or total is not None else ""
    return ", ".join(filter(None, [known, shown(note)]))


@contextmanager
def _bar(console: Console, title: str, total: int | None, unit: str) -> Iterator[Advance]:
    # Imported late, because `shown` does not need it.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # Brackets in a title are part of a name, not markup.
    name = TextColumn("{task.description}", markup=False)
    done_of = TextColumn("{task.fields[described]}", markup=False)
    # A bar without a known end is removed afterwards.
    with Progress(
        name, BarColumn(20), done_of, TimeElapsedColumn(), console=console, transient=total is None
    ) as bar:
        task = bar.add_task(title, total=total, described=_described(0, total, unit, ""))

        def advance(done: int, note: str = "") -> None:
            bar.update(task, completed=done, described=_described(done, total, unit, note))

        yield advance
