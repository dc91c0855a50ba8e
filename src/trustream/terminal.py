"""Print on a terminal: text without control characters, and the progress of a task."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


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


@contextmanager
def progress(console: Console, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show progress as a bar on a terminal, as plain lines elsewhere; yields ``advance(done)``."""
    title = shown(title)
    if console.is_terminal:
        with _bar(console, title, total) as moved:
            yield moved
        return
    due = time.monotonic()
    last = 0

    def advance(done: int) -> None:
        nonlocal due, last
        last = done
        if time.monotonic() >= due:
            line(done)
            due = time.monotonic() + 5.0

    def line(done: int) -> None:
        of = "" if total is None else f" of {total}"
        print(f"{title}: {done}{of}", file=console.file, flush=True)

    yield advance
    line(last)


@contextmanager
def _bar(console: Console, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    # Imported late, because `shown` does not need it.
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    # Brackets in a title are part of a name, not markup.
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # A bar without a known end is removed afterwards.
    with Progress(*columns, console=console, transient=total is None) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
