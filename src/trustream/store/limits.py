"""What a store accepts: how long names may be, how large counts and documents."""

from __future__ import annotations

MAX_CHARACTERS = 500
# The largest 32-bit count.
MAX_COUNT = 2**31 - 1
# Eight bytes each: a document stays well under what databases take as one value.
MAX_DISTINCT = 2**20


def name_fault(name: object) -> str | None:
    """What is wrong with a word, a key, an append id or another name; None if nothing is.

    >>> name_fault("a"), name_fault(""), name_fault("x" * 501)
    (None, 'has 0 characters; give it 1 to 500', 'has 501 characters; give it 1 to 500')
    >>> name_fault(7)
    'is of type int; give a string'
    """
    if not isinstance(name, str):
        return f"is of type {type(name).__name__}; give a string"
    if not 1 <= len(name) <= MAX_CHARACTERS:
        return f"has {len(name)} characters; give it 1 to {MAX_CHARACTERS}"
    if "\0" in name:
        return "has a NUL character, which databases do not store; remove it"
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            return (
                "has half of a surrogate pair, which is not valid Unicode; "
                'decode the text with errors="replace"'
            )
    return None
