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
    fault = text_fault(name)
    return None if fault is None else "; ".join(fault)


def text_fault(text: object) -> tuple[str, str] | None:
    """What is wrong with a name or a word, and what to do about it; None if nothing is.

    >>> text_fault("")
    ('has 0 characters', 'give it 1 to 500')
    """
    if not isinstance(text, str):
        return f"is of type {type(text).__name__}", "give a string"
    if not 1 <= len(text) <= MAX_CHARACTERS:
        return f"has {len(text)} characters", f"give it 1 to {MAX_CHARACTERS}"
    return character_fault(text)


def character_fault(text: str) -> tuple[str, str] | None:
    """What is wrong with the characters of a text of any length, and what to do about it.

    >>> character_fault("a\\0b")
    ('has a NUL character, which databases do not store', 'remove it')
    """
    if "\0" in text:
        return "has a NUL character, which databases do not store", "remove it"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return (
                "has half of a surrogate pair, which is not valid Unicode",
                'decode the text with errors="replace"',
            )
    return None
