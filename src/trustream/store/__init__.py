"""Store documents in a database as they arrive, and save what is learned from them.

    store = open_store("topics.db")                  # SQLite, one file
    store = open_store("postgresql://host/name")     # PostgreSQL

`protocol` says what you can do with a store. `document_store` is the store itself, on a `writer`
and a `reader`; `database` has the SQL that SQLite and PostgreSQL share.
"""

from trustream.store.addresses import resolve_address, shown_address
from trustream.store.check_result import CheckResult, Damage
from trustream.store.coded_words import CodedWords, WordTable
from trustream.store.document_store import DocumentStore
from trustream.store.errors import MissingStoreError, PositionError, RecordError, StoreError
from trustream.store.held_lease import HeldLease
from trustream.store.holders import Holder
from trustream.store.lease import Lease, LeaseHeldError, LeaseLostError, ReplacedError
from trustream.store.opening import open_store
from trustream.store.protocol import Store
from trustream.store.records import (
    Appended,
    Documents,
    Position,
    Record,
    Settings,
    StoredOrder,
    StoredText,
    Totals,
    Vocabulary,
    VocabularyChanges,
)

__all__ = [
    "Appended",
    "CheckResult",
    "CodedWords",
    "Damage",
    "DocumentStore",
    "Documents",
    "HeldLease",
    "Holder",
    "Lease",
    "LeaseHeldError",
    "LeaseLostError",
    "MissingStoreError",
    "Position",
    "PositionError",
    "Record",
    "RecordError",
    "ReplacedError",
    "Settings",
    "Store",
    "StoreError",
    "StoredOrder",
    "StoredText",
    "Totals",
    "Vocabulary",
    "VocabularyChanges",
    "WordTable",
    "open_store",
    "resolve_address",
    "shown_address",
]
