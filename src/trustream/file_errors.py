"""Say what is wrong with a file that cannot be read, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MAX_LENGTH = 300


def reason(error: BaseException) -> str:
    """Return what an exception says about a file, on one line and of a bounded length.

    Libraries that read files raise whatever they like, some of it empty, some of it pages long.

    Examples
    --------
    >>> reason(EOFError()), reason(ValueError("two\\nlines"))
    ('EOFError', 'two lines')
    >>> reason(MemoryError())
    'it needs more memory than there is'
    """
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte 0x{error.object[error.start]:02x})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= _MAX_LENGTH else f"{said[:_MAX_LENGTH]}..."


def is_damage(error: BaseException) -> bool:
    """Whether an exception of a library that reads files is about the file.

    Examples
    --------
    >>> is_damage(KeyError("x")), is_damage(KeyboardInterrupt()), is_damage(ImportError())
    (True, False, False)
    """
    # Libraries written in Rust raise this one for damage too, and it is no Exception.
    panic = type(error).__name__ == "PanicException"
    return panic or (isinstance(error, Exception) and not isinstance(error, ImportError))


@contextmanager
def readable(name: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Raise what a library says about a file as an error of this kind that names the file.

    Errors of that kind which name the file already are passed on as they are.

    Examples
    --------
    >>> with readable("a.npz"):
    ...     raise EOFError("No data left in file")
    Traceback (most recent call last):
    ...
    ValueError: cannot read a.npz: No data left in file
    """
    try:
        yield
    except BaseException as error:
        # Libraries have kinds of ValueError of their own, which say too much.
        ours = type(error) is ValueError and name in str(error)
        if kind is not ValueError:
            ours = isinstance(error, kind)
        if ours or not is_damage(error):
            raise
        raise kind(f"cannot read {name}: {reason(error)}") from error


def lines_of(path: Path) -> list[str]:
    """Return the lines of a small file of text.

    Examples
    --------
    >>> lines_of(Path("/nowhere/words.txt"))
    Traceback (most recent call last):
    ...
    ValueError: cannot read words.txt: No such file or directory
    """
    with readable(path.name):
        return path.read_text(encoding="utf-8").splitlines()
