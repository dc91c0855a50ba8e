"""The texts of documents, in stores that keep them: compressed, and cut at a length.

A text is kept beside its document, under the document's number. It is one value in the database:
the title, a NUL character and the text, in UTF-8, compressed by zlib.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress

from trustream.store.compressed_text import decompressed
from trustream.store.database import Database
from trustream.store.errors import StoreError
from trustream.store.limits import MAX_CHARACTERS
from trustream.store.records import Record, StoredText
from trustream.store.table_rows import DocumentRow

# Characters of a document's text that are kept unless a store is made with another number.
KEPT_CHARACTERS = 10_000
# The most that a store may be made with; a text stays well under what databases take as one value.
MAX_KEPT = 10_000_000
# The fastest: texts are short, and others save little.
_LEVEL = 1
_BYTES_OF_CHARACTER = 4


def pack_text(kept: StoredText) -> bytes:
    """The bytes of a text and its title.

    >>> unpack_text(pack_text(StoredText("Cats and dogs", "Pets")))
    StoredText(text='Cats and dogs', title='Pets')
    """
    title = (kept.title or "").replace("\0", " ")
    # Halves of surrogate pairs, which feeds may have, are no Unicode.
    return zlib.compress(f"{title}\0{kept.text}".encode(errors="replace"), _LEVEL)


def unpack_text(content: bytes, limit: int = MAX_KEPT) -> StoredText:
    """A text and its title, of which the text has so many characters at most.

    Raises:
        ValueError: the bytes are not those of a text.

    >>> unpack_text(b"else")
    Traceback (most recent call last):
    ...
    ValueError: is not compressed
    """
    most = _BYTES_OF_CHARACTER * (limit + MAX_CHARACTERS + 1)
    title, separator, text = decompressed(content, most).partition("\0")
    if not separator or len(title) > MAX_CHARACTERS or len(text) > limit:
        raise ValueError("is no title and text, or too long")
    return StoredText(text, title or None)


def text_of(key: str, content: bytes) -> StoredText:
    """The text of the document with a key.

    Raises:
        StoreError: the text is damaged.
    """
    try:
        return unpack_text(content)
    except ValueError as error:
        raise StoreError(
            f"the text of document {key!r:.200} is damaged: it {error}; remove all such texts with "
            "trustream check STORE --repair, and ingest these documents again to have them"
        ) from error


def joined(before: StoredText | None, records: Iterable[Record], limit: int) -> StoredText:
    """The text of a document with the records that came to it.

    Each part begins on a line of its own; the last title counts.

    >>> parts = [Record("a", [], text="Cats"), Record("a", [], text="and dogs", title="Pets")]
    >>> joined(StoredText("My"), parts, limit=11)
    StoredText(text='My\\nCats\\nand', title='Pets')
    """
    text, title = ("", None) if before is None else (before.text, before.title)
    for record in records:
        if record.text and len(text) < limit:
            text = (f"{text}\n{record.text}" if text else record.text)[:limit]
        if record.title:
            title = record.title[:MAX_CHARACTERS]
    return StoredText(text, title)


def keep_texts(
    database: Database,
    records: Sequence[Record],
    of_record: Sequence[int],
    numbers: Sequence[int],
    rows: Mapping[int, DocumentRow],
    replaced: Set[int],
) -> None:
    """Keep the texts of records that are appended.

    Args:
        database: the store's database, in the transaction that appends.
        records: the records.
        of_record: the document of each, by its number in the batch.
        numbers: the number of each document of the batch in the order of arrival.
        rows: documents of the batch that were in the store before.
        replaced: those of them that are replaced.
    """
    limit = database.settings.keep_text
    parts: dict[int, list[Record]] = {}
    for record, i in zip(records, of_record, strict=True):
        if record.text or record.title:
            parts.setdefault(i, []).append(record)
    database.remove_texts([numbers[i] for i in replaced])
    grown = [numbers[i] for i in parts if i in rows and i not in replaced]
    before: dict[int, StoredText] = {}
    if grown:
        # What they had is a part of what they have, but may not stay behind when it is deleted.
        database.overwrite()
        for number, content in database.texts_of(grown):
            # One that is damaged counts as none: it must not stand in the way of words.
            with suppress(ValueError):
                before[number] = unpack_text(content)
    if parts:
        database.put_texts(
            [
                (numbers[i], pack_text(joined(before.get(numbers[i]), some, limit)))
                for i, some in parts.items()
            ]
        )
