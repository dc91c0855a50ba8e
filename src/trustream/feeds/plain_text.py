"""Plain text: a document a line."""

from __future__ import annotations

from trustream.feeds.items import BAD_RECORD, Item, Items, Mark, Options, said
from trustream.feeds.lines import read_lines
from trustream.feeds.records import make_record, make_words
from trustream.feeds.sources import Source


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
    for line in read_lines(source, mark, options.max_bytes):
        if line is None:
            yield Item(mark, mark.number, pause=True)
            continue
        mark = line.mark
        try:
            text = line.text(options.max_bytes)
            record = None
            if text.strip():
                words = make_words(options.tokenise, text)
                record = make_record(f"{name}:{mark.number}", words, max_words=options.max_words)
            yield Item(mark, mark.number, record)
        except BAD_RECORD as error:
            yield Item(mark, mark.number, problem=said(error))
