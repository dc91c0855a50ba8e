"""Read data: files and streams of documents, matrices, ratings and vocabularies.

    from trustream.feeds import ingest
    from trustream.store import open_store

    with open_store("topics.db") as store:
        ingest(store, "articles.jsonl.gz")

`ingest` adds the records of a feed to a store, each exactly once, and `find_files` lists the feeds
of a folder or a pattern. `read` yields what is in a feed,
bad records among it, and stores nothing. `read_documents` yields the documents alone,
`read_data` tells documents from matrices, `read_matrix` returns a matrix, or documents as one,
`read_ratings` the columns of a table of ratings, and `read_vocabulary` words. `change_tokeniser`
lets a store split texts in another way, `learn_phrases` finds words that belong together.
"""

from trustream.feeds.data import Data, read_data, read_matrix
from trustream.feeds.errors import BadRecord, BadRecordError, FeedError
from trustream.feeds.feed import read, read_documents
from trustream.feeds.file_lists import FoundFiles, NamedFile, find_files
from trustream.feeds.formats import FORMATS
from trustream.feeds.ingestion import ingest
from trustream.feeds.items import Item, Mark
from trustream.feeds.matrix_files import read_vocabulary
from trustream.feeds.options import Options, RatingColumns
from trustream.feeds.phrase_learning import learn_phrases
from trustream.feeds.rating_files import read_ratings
from trustream.feeds.results import IngestResult, Progress
from trustream.feeds.store_tokeniser import TokeniserChange, agreed_tokeniser, change_tokeniser

__all__ = [
    "FORMATS",
    "BadRecord",
    "BadRecordError",
    "Data",
    "FeedError",
    "FoundFiles",
    "IngestResult",
    "Item",
    "Mark",
    "NamedFile",
    "Options",
    "Progress",
    "RatingColumns",
    "TokeniserChange",
    "agreed_tokeniser",
    "change_tokeniser",
    "find_files",
    "ingest",
    "learn_phrases",
    "read",
    "read_data",
    "read_documents",
    "read_matrix",
    "read_ratings",
    "read_vocabulary",
]
