"""Feeds: files and streams of documents, read record by record into a store.

    from trustream.feeds import ingest
    from trustream.store import open_store

    with open_store("topics.db") as store:
        ingest(store, "articles.jsonl.gz")

`ingest` stores each record exactly once; `read` yields what is in a feed and stores nothing.
"""

from trustream.feeds.formats import FORMATS, read
from trustream.feeds.ingesting import ingest
from trustream.feeds.items import FeedError, Item, Mark, Options
from trustream.feeds.results import BadRecordError, IngestResult, Progress

__all__ = [
    "FORMATS",
    "BadRecordError",
    "FeedError",
    "IngestResult",
    "Item",
    "Mark",
    "Options",
    "Progress",
    "ingest",
    "read",
]
