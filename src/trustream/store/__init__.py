"""The document store: a database of documents that grows, and of what is learned from it.

    store = open_store("topics.db")                  # SQLite, one file
    store = open_store("postgresql://host/name")     # PostgreSQL

`protocol` says what a store does; each backend is plain SQL.
"""

from trustream.store.addresses import resolve_address, shown_address
from trustream.store.check_result import CheckResult, Damage
from trustream.store.document_store import DocumentStore
from trustream.store.errors import PositionError, RecordError, StoreError
from trustream.store.opening import open_store
from trustream.store.protocol import (
    Appended,
    Documents,
    Position,
    Record,
    Settings,
    Store,
    Totals,
    Vocabulary,
    VocabularyChanges,
)

__all__ = [
    "Appended",
    "CheckResult",
    "Damage",
    "DocumentStore",
    "Documents",
    "Position",
    "PositionError",
    "Record",
    "RecordError",
    "Settings",
    "Store",
    "StoreError",
    "Totals",
    "Vocabulary",
    "VocabularyChanges",
    "open_store",
    "resolve_address",
    "shown_address",
]
