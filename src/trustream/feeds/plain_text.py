"""Read plain text: one document per line."""

from __future__ import annotations

from trustream.feeds.items import Items, Mark
from trustream.feeds.lines import read_line_records
from trustream.feeds.options import Options
from trustream.feeds.sources import Source
from trustream.feeds.validation import make_record, make_words, with_text
from trustream.store.records import Record


def read_plain_text(source: Source, mark: Mark, options: Options) -> Items:
    """Records of lines, named by the file and the line; empty lines are passed over.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b"Cats and dogs\\n\\nBirds\\n"))
    >>> items = read_plain_text(source, Mark(), Options(name="pets"))
    >>> [(item.record.key, item.record.words) for item in items if item.record]
    [('pets:1', ['cats', 'dogs']), ('pets:3', ['birds'])]
    """
    name = options.name or source.name

    def record(text: str, number: int) -> Record:
        words = make_words(options.tokenise, text)
        made = make_record(f"{name}:{number}", words, max_words=options.max_words)
        return with_text(made, text, None, options) if options.keep_text else made

    return read_line_records(source, mark, options, record)
