"""PostgreSQL: a store in a schema of a database, for many machines.

A transaction whose connection is lost is done again on a new one, for `PATIENCE` seconds. If it
was lost while it was being committed, the row that each writer keeps of its last transaction says
whether it was stored: nothing is stored twice and nothing that was acknowledged is lost.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from trustream.store.addresses import PostgresAddress, shown_address
from trustream.store.backend import T
from trustream.store.errors import StoreError
from trustream.store.migrations import missing
from trustream.store.protocol import Settings

try:
    import psycopg
    from psycopg import sql

    from trustream.store.postgres_tables import PostgresTables
except ImportError as error:
    raise StoreError(
        f"PostgreSQL needs its driver ({error}): pip install 'trustream[postgres]'"
    ) from error

# Seconds to wait for other writers, and for a server that went away.
PATIENCE = 60.0
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"


class PostgresBackend(PostgresTables):
    """A store in a PostgreSQL database.

    Args:
        url: `postgresql://...`; `schema=name` in its query says where the tables are.
        create: whether to make the store if it is not there.
        first: called once, in the transaction that makes the tables; gives the settings.
        patience: seconds to wait for other writers, and for a server that went away.
    """

    settings: Settings

    def __init__(
        self,
        url: str,
        *,
        create: bool,
        first: Callable[[PostgresBackend], Settings],
        patience: float = PATIENCE,
    ) -> None:
        self.url = url
        self.name = shown_address(url)
        parts = PostgresAddress.read(url)
        self._address, self._schema = parts.driver_address(), parts.schema()
        self._patience = patience
        # Names this writer, and numbers what it writes.
        self._writer, self._number = uuid.uuid4().hex, 0
        self._connect()
        try:
            self._set_up(create, first)
        except psycopg.Error as error:
            self._database.close()
            raise self._explained(error, "opened") from error
        except BaseException:
            self._database.close()
            raise

    def _connect(self) -> None:
        try:
            self._database = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            run = self._database.execute
            path = sql.SQL("SET search_path TO {}").format(sql.Identifier(self._schema))
            run(path)
            run("SELECT set_config('lock_timeout', %s, false)", (f"{int(self._patience)}s",))
            # An append is durable when it returns, whatever the server's default.
            run(
                "SELECT set_config('synchronous_commit', 'on', false)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
        except psycopg.Error as error:
            raise self._explained(error, "opened") from error

    def _set_up(self, create: bool, first: Callable[[PostgresBackend], Settings]) -> None:
        encoding = self._all("SHOW server_encoding")[0][0]
        if encoding != "UTF8":
            raise StoreError(
                f"{self.name} keeps text as {encoding}; make a database with ENCODING 'UTF8'"
            )
        applied = self._applied()
        if not applied and not create:
            raise StoreError(
                f"{self.name} (schema {self._schema}) is not there; make the store first, "
                "or see to the address"
            )
        if missing(applied, self.name):
            self._transact(lambda: self._migrate(first), write=False, begin="BEGIN")
        row = self._all("SELECT held_out, min_documents, max_words, fixed FROM settings")[0]
        self.settings = Settings(*row)

    def _applied(self) -> list[str]:
        tables = {name for (name,) in self._all(_TABLES, self._schema)}
        if "migration" in tables:
            return [name for (name,) in self._all("SELECT name FROM migration")]
        if tables:
            raise StoreError(
                f"the schema {self._schema} of {self.name} has tables of something else; "
                "name another with ?schema=..."
            )
        return []

    def _migrate(self, first: Callable[[PostgresBackend], Settings]) -> None:
        """Apply what is missing. Asked again, because another process may have been faster."""
        run = self._database.execute
        run("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"trustream {self._schema}",))
        applied = self._applied()
        if not applied:
            schema = sql.Identifier(self._schema)
            run(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            run("CREATE TABLE migration (name text PRIMARY KEY, applied double precision NOT NULL)")
        for step in missing(applied, self.name):
            for statement in step.postgres:
                run(statement)
            run("INSERT INTO migration VALUES (%s, %s)", (step.name, time.time()))
        if not applied:
            run("INSERT INTO settings VALUES (%s, %s, %s, %s)", astuple(first(self)))

    # --- transactions

    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction, again if the connection is lost."""
        deadline = time.monotonic() + self._patience
        self._number += write
        while True:
            try:
                return self._transact(work, write=write, begin="BEGIN" if write else _READ)
            except _InDoubt as doubt:
                if self._was_stored(deadline, doubt):
                    return doubt.result
            except psycopg.Error as error:
                if not self._is_lost(error):
                    raise self._explained(error, "changed" if write else "read") from error
                if time.monotonic() > deadline:
                    raise self._explained(error, "reached") from error
                self._connect_again(deadline)

    def _transact(self, work: Callable[[], T], *, write: bool, begin: str) -> T:
        self._database.execute(begin)
        try:
            if write:
                self._database.execute(
                    "INSERT INTO writer VALUES (%s, %s)"
                    " ON CONFLICT (name) DO UPDATE SET number = excluded.number",
                    (self._writer, self._number),
                )
            result = work()
        except BaseException:
            with suppress(psycopg.Error):
                self._database.execute("ROLLBACK")
            raise
        try:
            self._database.execute("COMMIT")
        except psycopg.Error as error:
            if write and self._is_lost(error):
                raise _InDoubt(result) from error
            raise
        return result

    def _was_stored(self, deadline: float, doubt: _InDoubt) -> bool:
        """Whether the last transaction was committed, though nobody said so."""
        while True:
            try:
                self._connect_again(deadline)
                # Waits for the lost transaction, should the server still be at it.
                row = self._database.execute(
                    "INSERT INTO writer VALUES (%s, -1)"
                    " ON CONFLICT (name) DO UPDATE SET number = writer.number RETURNING number",
                    (self._writer,),
                ).fetchone()
                return row is not None and row[0] == self._number
            except (psycopg.Error, StoreError) as error:
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"{self.name} went away while it stored something: it is not known "
                        "whether it was stored; send it again with the same append ids"
                    ) from (doubt.__cause__ or error)

    def _connect_again(self, deadline: float) -> None:
        self._database.close()
        while True:
            try:
                return self._connect()
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _is_lost(self, error: psycopg.Error) -> bool:
        """Whether doing it again may help: nothing was stored, and the server may come back."""
        return self._database.closed or error.sqlstate in _PASSING

    def _explained(self, error: psycopg.Error, done: str) -> StoreError:
        """The error as one that says what to do."""
        text = str(error).strip()
        advice = _ADVICE.get(error.sqlstate or "")
        if advice is None:
            advice = next((a for part, a in _REFUSALS.items() if part in text), text)
        end = "; nothing of it was stored" if done == "changed" else ""
        return StoreError(f"{self.name} could not be {done}: {advice}{end}")

    def close(self) -> None:
        """Let go of the connection."""
        with suppress(psycopg.Error):
            self._database.execute("DELETE FROM writer WHERE name = %s", (self._writer,))
        self._database.close()


class _InDoubt(Exception):
    """The connection was lost while a transaction was being committed."""

    def __init__(self, result: Any) -> None:
        super().__init__("the connection was lost during a commit")
        self.result = result


# The server stops, has crashed or is starting; a deadlock or a conflict was resolved.
_PASSING = {"57P01", "57P02", "57P03", "40001", "40P01"}
_ADVICE = {
    "53100": "the server's disk is full; free some space there and send it again",
    "25006": "the server takes no changes (it is a standby or set to read only); give the primary",
    "42501": "the user may not do that; grant it the rights to the schema",
    "55P03": "another process has been writing for too long; try again when it is done",
}
# Refusals to connect come without a code.
_REFUSALS = {
    "password authentication failed": (
        "the server refused the user or the password; see to both in the address"
    ),
    "no password supplied": "the server wants a password; put it into the address or PGPASSWORD",
    "does not exist": "the user or the database is not there; make it (createdb, createuser) first",
    "Connection refused": "no server answers; see that it runs, and to host and port",
    "No such file or directory": "no server answers; see that it runs, and to host and port",
    "resolve host": "the host is not known; see to the address",
    "timeout expired": "the server did not answer in time; see to host, port and firewall",
}
