"""The tables of a store, made and changed by named steps in order.

Each step is applied and recorded in one transaction.
A step that has been released is never changed: a change of the tables is a new step at the end.
A store made by a newer version has steps that are not listed here, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trustream.store.errors import StoreError


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of making the tables.

    Attributes:
        name: the name that is recorded in the database.
        sqlite: statements for SQLite.
        postgres: statements for PostgreSQL.
    """

    name: str
    sqlite: tuple[str, ...]
    postgres: tuple[str, ...]


def missing(applied: Sequence[str], where: str) -> list[Migration]:
    """The steps that a database still needs.

    Raises:
        StoreError: it has steps that this version does not know.

    >>> [step.name for step in missing([], "new.db")]
    ['0001_documents', '0002_append_ids', '0003_saved', '0004_words_lost', '0005_saved_version',
     '0006_leases', '0007_tokeniser', '0008_words_leave', '0009_texts', '0010_word_order',
     '0011_history']
    """
    unknown = sorted(set(applied) - {step.name for step in MIGRATIONS})
    if unknown:
        raise StoreError(
            f"{where} was made by a newer version of trustream (it has {', '.join(unknown)}); "
            "upgrade trustream: pip install -U trustream"
        )
    return [step for step in MIGRATIONS if step.name not in applied]


_DOCUMENTS = Migration(
    "0001_documents",
    sqlite=(
        "CREATE TABLE settings (held_out REAL NOT NULL, min_documents INTEGER NOT NULL,"
        " max_words INTEGER, fixed INTEGER NOT NULL)",
        "CREATE TABLE state (sequence INTEGER NOT NULL, vocabulary INTEGER NOT NULL,"
        " training INTEGER NOT NULL, held_out INTEGER NOT NULL, tokens INTEGER NOT NULL,"
        " words INTEGER NOT NULL, added INTEGER NOT NULL, next_word INTEGER NOT NULL,"
        " next_document INTEGER NOT NULL)",
        "INSERT INTO state VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0)",
        "CREATE TABLE word (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE)",
        "CREATE TABLE block (number INTEGER PRIMARY KEY, counts BLOB NOT NULL,"
        " sequence INTEGER NOT NULL)",
        "CREATE INDEX block_sequence ON block (sequence)",
        'CREATE TABLE "column" (number INTEGER PRIMARY KEY, word INTEGER,'
        " version INTEGER NOT NULL)",
        'CREATE INDEX column_version ON "column" (version)',
        # The place is the key of the table itself, so that a draw needs no index.
        "CREATE TABLE document (place INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE,"
        " key TEXT NOT NULL UNIQUE, time REAL NOT NULL, content BLOB NOT NULL)",
        "CREATE INDEX document_time ON document (time, number)",
    ),
    postgres=(
        "CREATE TABLE settings (held_out double precision NOT NULL,"
        " min_documents bigint NOT NULL, max_words bigint, fixed boolean NOT NULL)",
        "CREATE TABLE state (sequence bigint NOT NULL, vocabulary bigint NOT NULL,"
        " training bigint NOT NULL, held_out bigint NOT NULL, tokens bigint NOT NULL,"
        " words bigint NOT NULL, added bigint NOT NULL, next_word bigint NOT NULL,"
        " next_document bigint NOT NULL)",
        "INSERT INTO state VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0)",
        'CREATE TABLE word (number bigint PRIMARY KEY, word text COLLATE "C" NOT NULL UNIQUE)',
        "CREATE TABLE block (number bigint PRIMARY KEY, counts bytea NOT NULL,"
        " sequence bigint NOT NULL)",
        "CREATE INDEX block_sequence ON block (sequence)",
        'CREATE TABLE "column" (number bigint PRIMARY KEY, word bigint, version bigint NOT NULL)',
        'CREATE INDEX column_version ON "column" (version)',
        "CREATE TABLE document (place bigint PRIMARY KEY, number bigint NOT NULL UNIQUE,"
        ' key text COLLATE "C" NOT NULL UNIQUE, time double precision NOT NULL,'
        " content bytea NOT NULL)",
        "CREATE INDEX document_time ON document (time, number)",
    ),
)

_APPEND_IDS = Migration(
    "0002_append_ids",
    sqlite=(
        "CREATE TABLE seen (append_id TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE feed (name TEXT PRIMARY KEY, offset_ INTEGER NOT NULL,"
        " finished INTEGER NOT NULL, detail TEXT NOT NULL)",
    ),
    postgres=(
        'CREATE TABLE seen (append_id text COLLATE "C" PRIMARY KEY)',
        'CREATE TABLE feed (name text COLLATE "C" PRIMARY KEY, offset_ bigint NOT NULL,'
        " finished boolean NOT NULL, detail text NOT NULL)",
        # The last transaction of each writer, by which it finds out what became of it.
        "CREATE TABLE writer (name text PRIMARY KEY, number bigint NOT NULL)",
    ),
)

_SAVED = Migration(
    "0003_saved",
    # In parts: a large checkpoint exceeds what databases take as one value.
    sqlite=(
        "CREATE TABLE saved (name TEXT NOT NULL, part INTEGER NOT NULL, content BLOB NOT NULL,"
        " PRIMARY KEY (name, part))",
    ),
    postgres=(
        'CREATE TABLE saved (name text COLLATE "C" NOT NULL, part bigint NOT NULL,'
        " content bytea NOT NULL, PRIMARY KEY (name, part))",
    ),
)

# Before this step, words were lost of documents that grew in parts past 256 different words. Which
# documents may be concerned is noted: those before a number. The counter gets another name so that
# a process of an earlier version that has the store open cannot write to it any more.
_FAULT = (
    "INSERT INTO fault (name, documents) SELECT 'words lost', next_document FROM state"
    " WHERE next_document > 0",
    "ALTER TABLE state RENAME COLUMN tokens TO token_count",
)
_WORDS_LOST = Migration(
    "0004_words_lost",
    sqlite=(
        "CREATE TABLE fault (name TEXT PRIMARY KEY, documents INTEGER NOT NULL, tokens INTEGER,"
        " words INTEGER, repaired REAL)",
        *_FAULT,
    ),
    postgres=(
        "CREATE TABLE fault (name text PRIMARY KEY, documents bigint NOT NULL, tokens bigint,"
        " words bigint, repaired double precision)",
        *_FAULT,
    ),
)

# A trigger counts, so that what a process of an earlier version saves, which has the store open, is
# counted too. The table keeps the versions of blobs that are deleted.
_SAVED_VERSION = Migration(
    "0005_saved_version",
    sqlite=(
        "CREATE TABLE saved_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL)",
        "CREATE TRIGGER count_version AFTER INSERT ON saved WHEN new.part = 0 BEGIN"
        " INSERT INTO saved_version VALUES (new.name, 1)"
        " ON CONFLICT (name) DO UPDATE SET version = version + 1; END",
        "INSERT INTO saved_version SELECT DISTINCT name, 1 FROM saved",
    ),
    postgres=(
        'CREATE TABLE saved_version (name text COLLATE "C" PRIMARY KEY, version bigint NOT NULL)',
        "CREATE FUNCTION count_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO saved_version VALUES (new.name, 1)"
        " ON CONFLICT (name) DO UPDATE SET version = saved_version.version + 1;"
        " RETURN NULL; END $$",
        # Waits for those who save at this moment; what they save is seen by the next statement.
        "CREATE TRIGGER count_version AFTER INSERT ON saved FOR EACH ROW WHEN (new.part = 0)"
        " EXECUTE FUNCTION count_version()",
        "INSERT INTO saved_version SELECT DISTINCT name, 1 FROM saved",
    ),
)

# Rows are kept when nobody holds the lease, so that no token is used twice.
_LEASES = Migration(
    "0006_leases",
    sqlite=(
        "CREATE TABLE lease (name TEXT PRIMARY KEY, token INTEGER NOT NULL, holder TEXT,"
        " since REAL NOT NULL, beat INTEGER NOT NULL, beaten REAL NOT NULL, seconds REAL NOT NULL,"
        " replaced INTEGER NOT NULL)",
    ),
    postgres=(
        'CREATE TABLE lease (name text COLLATE "C" PRIMARY KEY, token bigint NOT NULL,'
        " holder text, since double precision NOT NULL, beat bigint NOT NULL,"
        " beaten double precision NOT NULL, seconds double precision NOT NULL,"
        " replaced bigint NOT NULL)",
    ),
)

# How texts become words, as JSON; NULL where nobody has said so.
_TOKENISER = Migration(
    "0007_tokeniser",
    sqlite=("ALTER TABLE settings ADD COLUMN tokeniser TEXT",),
    postgres=("ALTER TABLE settings ADD COLUMN tokeniser text",),
)

# Words that no document has are removed from now on, and those that earlier versions left behind by
# this step. The counter gets another name so that a process of an earlier version that has the
# store open, and remembers the numbers of such words, cannot write to it any more.
_UNUSED = (
    "DELETE FROM word WHERE NOT EXISTS (SELECT 1 FROM settings WHERE {fixed}) AND number IN"
    " (SELECT w.number FROM word AS w JOIN block AS b ON b.number = w.number / 256"
    " WHERE substr(b.counts, CAST(1 + 4 * (w.number % 256) AS integer), 4) = {zero})"
)
_WORDS_LEAVE = Migration(
    "0008_words_leave",
    sqlite=(
        "ALTER TABLE state RENAME COLUMN next_word TO word_numbers",
        "ALTER TABLE seen ADD COLUMN time REAL",
        _UNUSED.format(fixed="fixed", zero="X'00000000'"),
    ),
    postgres=(
        "ALTER TABLE state RENAME COLUMN next_word TO word_numbers",
        "ALTER TABLE seen ADD COLUMN time double precision",
        _UNUSED.format(fixed="fixed", zero="'\\x00000000'::bytea"),
    ),
)

# Texts of documents, by their numbers, in stores that keep them; and whether the time of a document
# is that of its arrival, which is not known of those that are there.
_TEXTS = Migration(
    "0009_texts",
    sqlite=(
        "ALTER TABLE settings ADD COLUMN keep_text INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE text (document INTEGER PRIMARY KEY, content BLOB NOT NULL)",
        "ALTER TABLE document ADD COLUMN arrival INTEGER",
    ),
    postgres=(
        "ALTER TABLE settings ADD COLUMN keep_text bigint NOT NULL DEFAULT 0",
        "CREATE TABLE text (document bigint PRIMARY KEY, content bytea NOT NULL)",
        "ALTER TABLE document ADD COLUMN arrival boolean",
    ),
)

# The order of documents' words, by their numbers, in stores that keep it; the mark says by which
# phrases the words of a document were joined.
_WORD_ORDER = Migration(
    "0010_word_order",
    sqlite=(
        "ALTER TABLE settings ADD COLUMN keep_order INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE word_order (document INTEGER PRIMARY KEY, mark INTEGER NOT NULL,"
        " content BLOB NOT NULL)",
        "CREATE INDEX word_order_mark ON word_order (mark)",
    ),
    postgres=(
        "ALTER TABLE settings ADD COLUMN keep_order boolean NOT NULL DEFAULT false",
        "CREATE TABLE word_order (document bigint PRIMARY KEY, mark bigint NOT NULL,"
        " content bytea NOT NULL)",
        "CREATE INDEX word_order_mark ON word_order (mark)",
    ),
)

# What was noted of something over time, once in each slot of so many seconds.
_HISTORY = Migration(
    "0011_history",
    sqlite=(
        "CREATE TABLE history (name TEXT NOT NULL, every REAL NOT NULL, slot INTEGER NOT NULL,"
        " time REAL NOT NULL, content BLOB NOT NULL, PRIMARY KEY (name, every, slot))",
    ),
    postgres=(
        'CREATE TABLE history (name text COLLATE "C" NOT NULL, every double precision NOT NULL,'
        " slot bigint NOT NULL, time double precision NOT NULL, content bytea NOT NULL,"
        " PRIMARY KEY (name, every, slot))",
    ),
)

MIGRATIONS = (
    _DOCUMENTS,
    _APPEND_IDS,
    _SAVED,
    _WORDS_LOST,
    _SAVED_VERSION,
    _LEASES,
    _TOKENISER,
    _WORDS_LEAVE,
    _TEXTS,
    _WORD_ORDER,
    _HISTORY,
)
