"""A store in a schema of a PostgreSQL database, for many machines.

A transaction whose connection is lost is done again on a new one, for `PATIENCE` seconds. If it
was lost while it was being committed, the row that each writer keeps of its last transaction says
whether it was stored: nothing is stored twice and nothing that was acknowledged is lost.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from trustream.store.database import FirstSettings, T
from trustream.store.errors import MissingStoreError, StoreError
from trustream.store.fork_safety import remember
from trustream.store.migrations import missing

try:
    import psycopg
    from psycopg import pq, sql

    from trustream.store.postgres_server import PATIENCE, Server
    from trustream.store.postgres_tables import PostgresTables
except ImportError as error:
    raise StoreError(
        f"PostgreSQL needs its driver ({error}): pip install 'trustream[postgres]'"
    ) from error

# Seconds after which the row of a writer that was killed is deleted. A writer may have to ask
# for its row for as long as it is patient, and a process may stand still.
_ABANDONED = 30 * 86400.0
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
# Tables that hold words, keys, append ids, names of feeds or models.
_ERASED = ("document", "text", "word_order", "word", "seen", "feed", "saved")
_IDLE = pq.TransactionStatus.IDLE


class PostgresDatabase(PostgresTables):
    """A store in a PostgreSQL database.

    Args:
        url: `postgresql://...`; `schema=name` in its query says where the tables are.
        create: whether to make the store if it is not there.
        first: called once, in the transaction that makes the tables; gives the settings.
        patience: seconds to wait for other writers, and for a server that went away.
    """

    def __init__(
        self,
        url: str,
        *,
        create: bool,
        first: FirstSettings,
        patience: float = PATIENCE,
    ) -> None:
        self._server = Server(url, patience)
        super().__init__(url, self._server.name)
        self._schema = self._server.schema
        # Names this writer. What it writes is numbered by the server's clock, in microseconds,
        # so that the number also says when that was.
        self._writer, self._number, self._signed = uuid.uuid4().hex, 0, False
        remember(self)
        with self.lock:
            self._connection = self._server.connect_patiently()
            try:
                self._set_up(create, first)
            except psycopg.Error as error:
                self._connection.close()
                raise self._server.explained(error, "opened") from self._server.cause(error)
            except BaseException:
                self._connection.close()
                raise

    def _set_up(self, create: bool, first: FirstSettings) -> None:
        (encoding,) = self._execute("SHOW server_encoding").fetchone()
        if encoding != "UTF8":
            raise StoreError(
                f"{self.name} keeps text as {encoding}; make a database with ENCODING 'UTF8'"
            )
        applied = self._applied()
        if not applied and not create:
            raise MissingStoreError(
                f"{self.name} (schema {self._schema}) is not there", "or see to the address"
            )
        if missing(applied, self.name):
            self._transact(lambda: self._migrate(first), write=False, begin="BEGIN")
        self.settings = self._read_settings()
        # Of a table, so that another of that name is told from it.
        (self._table,) = self._execute("SELECT to_regclass('writer')::oid").fetchone()

    def _applied(self) -> list[str]:
        tables = {name for (name,) in self._execute(_TABLES, self._schema)}
        if "migration" in tables:
            return [name for (name,) in self._execute("SELECT name FROM migration")]
        if tables:
            raise StoreError(
                f"the schema {self._schema} of {self.name} has tables of something else; "
                "name another with ?schema=..."
            )
        return []

    def _migrate(self, first: FirstSettings) -> None:
        self._execute("SELECT pg_advisory_xact_lock(hashtext(?))", f"trustream {self._schema}")
        super()._migrate(first)

    def _prepare(self) -> None:
        schema = sql.Identifier(self._schema)
        self._connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))

    # --- transactions

    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction, again if the connection is lost."""
        self._detector.written = 0
        result = self._run(work, write)
        self._detector.commit()
        return result

    def _run(self, work: Callable[[], T], write: bool) -> T:
        deadline = time.monotonic() + self._server.patience
        if write:
            self._number = max(self._number + 1, self._server.now())
        while True:
            try:
                return self._transact(work, write=write, begin="BEGIN" if write else _READ)
            except _InDoubt as doubt:
                if self._was_stored(deadline, doubt):
                    return doubt.result
            except psycopg.Error as error:
                if not self._is_lost(error):
                    done = "changed" if write else "read"
                    raise self._server.explained(error, done) from self._server.cause(error)
                if time.monotonic() > deadline:
                    raise self._server.explained(error, "reached") from self._server.cause(error)
                self._connect_again(deadline)

    def _transact(self, work: Callable[[], T], *, write: bool, begin: str) -> T:
        """The transaction, which is over in any case, whatever interrupts it."""
        try:
            if self._connection.pgconn.transaction_status != _IDLE:
                # The last one was interrupted again while it dealt with an interrupt.
                self._connection.pgconn.finish()
            result = self._until_commit(work, write, begin)
            try:
                self._connection.execute("COMMIT")
            except psycopg.Error as error:
                if write and self._is_lost(error):
                    raise _InDoubt(result) from self._server.cause(error)
                raise
        except Exception:
            raise
        except BaseException:
            # Interrupted in the middle of anything: the server ends this transaction, and the
            # next one gets a new connection. No Python function is called here, since another
            # interrupt would be heard inside it.
            self._connection.pgconn.finish()
            raise
        return result

    def _until_commit(self, work: Callable[[], T], write: bool, begin: str) -> T:
        try:
            self._connection.execute(begin)
            if write:
                self._sign()
            return work()
        except Exception:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")
            if self._connection.pgconn.transaction_status != _IDLE:
                self._connection.pgconn.finish()
            raise

    def _sign(self) -> None:
        """Store the number of this transaction; the first time also delete abandoned ones."""
        row = self._connection.execute(
            "INSERT INTO writer VALUES (%s, %s)"
            " ON CONFLICT (name) DO UPDATE SET number = excluded.number RETURNING tableoid",
            (self._writer, self._number),
        ).fetchone()
        if row is not None and self._table is not None and row[0] != self._table:
            # Words have other numbers there than those that are remembered.
            raise StoreError(
                f"the tables of {self.name} were made anew while it was open; nothing of it was "
                "stored; open the store again"
            )
        if not self._signed:
            self._signed = True
            # Older versions counted from 1, which does not say when that was.
            self._connection.execute(
                "DELETE FROM writer WHERE name IN (SELECT name FROM writer"
                " WHERE number BETWEEN 1e15::bigint AND %s FOR UPDATE SKIP LOCKED)",
                (self._number - int(1e6 * _ABANDONED),),
            )

    def _was_stored(self, deadline: float, doubt: _InDoubt) -> bool:
        """Whether the last transaction was committed, although the server's answer was lost."""
        while True:
            try:
                self._connect_again(deadline)
                # Waits for the lost transaction, should the server still be at it.
                row = self._connection.execute(
                    "INSERT INTO writer VALUES (%s, -1)"
                    " ON CONFLICT (name) DO UPDATE SET number = writer.number RETURNING number",
                    (self._writer,),
                ).fetchone()
                return row is not None and row[0] == self._number
            except (psycopg.Error, StoreError):
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"{self.name} went away while it stored something: it is not known "
                        "whether it was stored; send it again with the same append ids"
                    ) from doubt.__cause__

    def _connect_again(self, deadline: float) -> None:
        self._connection.close()
        self._connection = self._server.connect_patiently(deadline)

    def _is_lost(self, error: psycopg.Error) -> bool:
        """Whether doing it again may help: nothing was stored, and the server may come back."""
        return self._connection.closed or error.sqlstate in _PASSING

    # --- erasing

    def overwrite(self) -> None:
        """Not possible: the server keeps old rows for those who may still read them."""

    def erase(self, *, rewrite: bool, wait: float) -> bool:
        """Have the server write the tables anew; its own log and its copies are not the store's."""
        if not rewrite:
            return False
        try:
            done = [self._rewrite(table) for table in _ERASED]
        except psycopg.Error as error:
            raise self._server.explained(error, "changed") from self._server.cause(error)
        return all(done)

    def _rewrite(self, table: str) -> bool:
        """Write a table to a new file; whether the server did, which only warns who may not."""
        before = self._execute("SELECT pg_relation_filenode(?::regclass)", table).fetchone()
        self._connection.execute(f"VACUUM FULL {table}")
        after = self._execute("SELECT pg_relation_filenode(?::regclass)", table).fetchone()
        return bool(after != before)

    # --- life

    def close(self) -> None:
        """Let go of the connection."""
        try:
            if self._number:
                with suppress(psycopg.Error):
                    self._connection.execute("DELETE FROM writer WHERE name = %s", (self._writer,))
        finally:
            self._connection.pgconn.finish()

    def leave(self, *, quiet: bool) -> None:
        """Let go of it in a child that was forked: the server must hear nothing from the child."""
        socket = self._connection.pgconn.socket
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, socket, inheritable=False)
        os.close(nothing)


class _InDoubt(Exception):
    """The connection was lost while a transaction was being committed."""

    def __init__(self, result: Any) -> None:
        super().__init__("the connection was lost during a commit")
        self.result = result


# The server stops, has crashed or is starting; a deadlock or a conflict was resolved.
_PASSING = {"57P01", "57P02", "57P03", "40001", "40P01"}
