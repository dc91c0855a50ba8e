"""Read large feeds quickly: words by compiled code, and records by several processes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from trustream.feeds.feed import Feed
from trustream.feeds.items import Item, Mark
from trustream.feeds.rows import Rows
from trustream.feeds.word_coder import word_coder

# Characters of text from which on loading compiled code pays.
_LARGE = 4_000_000


def quick_items(
    feed: Feed, mark: Mark, workers: int | None = None
) -> Generator[Item | Rows, None, None]:
    """The items of a feed after a mark; many together may come as rows, and words as `CodedWords`.

    Args:
        feed: what is read.
        mark: where reading begins.
        workers: processes that make records, 0 for none but this one; None chooses by the size of
            the file and the number of processors. Feeds that have to be read by one process are.

    >>> import io
    >>> from trustream.feeds.feed import open_feed
    >>> feed = open_feed(io.BytesIO(b"Cats"), format="text")
    >>> [item.record.words for item in quick_items(feed, Mark())]
    [['cats']]
    """
    # Loaded here: neither is needed for what is small.
    from trustream.feeds import workers as processes

    if workers is None:
        workers = processes.number_of_workers(feed, mark)
    tokenise = word_coder(feed.options.tokenise, after=_LARGE)
    coded = feed._replace(options=replace(feed.options, tokenise=tokenise))
    if workers and processes.can_share(feed):
        yield from processes.shared_items(feed, coded, mark, workers)
        return
    yield from coded.items(mark)
