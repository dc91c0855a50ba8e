"""Explain SQLite's errors, and clean up after them."""

from __future__ import annotations

import gc
import sqlite3

from trustream.store.errors import StoreError

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and send it again",
    sqlite3.SQLITE_READONLY: (
        "the file or its folder may not be written to; allow it (SQLite writes beside the file "
        "too), or copy the store elsewhere"
    ),
    sqlite3.SQLITE_BUSY: (
        "another process has been writing for more than {patience:g} s; try again when it is done"
    ),
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database; give another file",
    sqlite3.SQLITE_CORRUPT: (
        "the database is damaged; restore a copy, or rescue what is left with the sqlite3 "
        "program's .recover"
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the file cannot be opened; see that its folder exists and may be written to"
    ),
    sqlite3.SQLITE_IOERR: "the disk reported an error; look at its health and free space",
}


def is_code(error: sqlite3.Error, code: int) -> bool:
    """Whether an error has a code; extended codes have it in their last byte."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == code


def explained(error: sqlite3.Error, name: str, done: str, patience: float) -> StoreError:
    """An error of SQLite as a `StoreError` that says what to do.

    Args:
        error: what SQLite said.
        name: the store's name, as it may be shown.
        done: what could not be done: opened, read or changed.
        patience: seconds that a writer waited for others.
    """
    end = "; nothing of it was stored" if done == "changed" else ""
    advice = _advice(error).format(patience=patience)
    return StoreError(f"{name} could not be {done}: {advice}{end}")


def _advice(error: sqlite3.Error) -> str:
    for code, advice in _ADVICE.items():
        if is_code(error, code):
            return advice
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return "it was closed after an error of the disk; open the store again"
    text = f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"
    return text.replace("{", "{{").replace("}", "}}")


def close_cursors(database: sqlite3.Connection) -> None:
    """Close all cursors of a connection.

    One that was interrupted keeps what it reads as it was, for the whole connection and for as
    long as somebody keeps the exception (as notebooks do): nothing new would be seen or written.
    """
    for cursor in gc.get_referrers(database):
        if isinstance(cursor, sqlite3.Cursor):
            cursor.close()
