"""Read data: files and streams of documents, matrices, ratings and vocabularies.

    from trustream.feeds import ingest
    from trustream.store import open_store

    with open_store("topics.db") as store:
        ingest(store, "articles.jsonl.gz")

`ingest` adds the records of a feed to a store, each exactly once, and `find_files` lists the feeds
of a folder or a pattern. `read` yields what is in a feed,
bad records among it, and stores nothing. `read_documents` yields the documents alone,
`read_data` tells documents from matrices, `read_matrix` returns a matrix, or documents as one,
`read_ratings` the columns of a table of ratings, `read_vocabulary` words and
`read_seed_words` words of topics. `change_tokeniser` lets a store split texts in
another way, `learn_phrases` finds words that belong together in files, `stored_phrases` in the
documents of a store, and `adopt_phrases` joins them there.
"""

from __future__ import annotations

from trustream._lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trustream.feeds.data import Data, read_data, read_matrix
    from trustream.feeds.errors import BadRecord, BadRecordError, FeedError
    from trustream.feeds.feed import read, read_documents
    from trustream.feeds.file_lists import FoundFiles, NamedFile, find_files
    from trustream.feeds.formats import FORMATS
    from trustream.feeds.ingestion import ingest
    from trustream.feeds.items import Item, Mark
    from trustream.feeds.matrix_files import read_seed_words, read_vocabulary
    from trustream.feeds.options import Options, RatingColumns
    from trustream.feeds.phrase_adoption import AdoptedPhrases, adopt_phrases, stored_phrases
    from trustream.feeds.phrase_learning import learn_phrases
    from trustream.feeds.rating_files import read_ratings
    from trustream.feeds.results import IngestResult, Progress
    from trustream.feeds.store_tokeniser import TokeniserChange, agreed_tokeniser, change_tokeniser

__all__ = [
    "FORMATS",
    "AdoptedPhrases",
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
    "adopt_phrases",
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
    "read_seed_words",
    "read_vocabulary",
    "stored_phrases",
]

# Loaded on first use: a process that helps to read a file should not wait for what others need.
_HOME = {
    "AdoptedPhrases": "phrase_adoption",
    "BadRecord": "errors",
    "BadRecordError": "errors",
    "Data": "data",
    "FORMATS": "formats",
    "FeedError": "errors",
    "FoundFiles": "file_lists",
    "IngestResult": "results",
    "Item": "items",
    "Mark": "items",
    "NamedFile": "file_lists",
    "Options": "options",
    "Progress": "results",
    "RatingColumns": "options",
    "TokeniserChange": "store_tokeniser",
    "adopt_phrases": "phrase_adoption",
    "agreed_tokeniser": "store_tokeniser",
    "change_tokeniser": "store_tokeniser",
    "find_files": "file_lists",
    "ingest": "ingestion",
    "learn_phrases": "phrase_learning",
    "read": "feed",
    "read_data": "data",
    "read_documents": "feed",
    "read_matrix": "data",
    "read_ratings": "rating_files",
    "read_seed_words": "matrix_files",
    "read_vocabulary": "matrix_files",
    "stored_phrases": "phrase_adoption",
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()}
)
