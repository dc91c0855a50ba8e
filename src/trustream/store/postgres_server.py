"""Connect to the server of a PostgreSQL store, and explain its errors."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from psycopg import pq, sql

from trustream.store.addresses import PostgresAddress
from trustream.store.errors import StoreError

# Seconds to wait for other writers, for a server that went away, and for one that is starting.
PATIENCE = 60.0
# Seconds to wait where nothing answers at all when a store is opened: a server that restarts
# answers soon, and whoever mistyped the address need not wait for long.
BRIEFLY = 5.0


class Server:
    """The server and the schema that hold a store.

    Args:
        url, patience: see `PostgresDatabase`.

    Attributes:
        name: the address as it may be shown.
        address: what the driver is given.
        schema: where the tables are.
    """

    def __init__(self, url: str, patience: float) -> None:
        self._parts = PostgresAddress.read(url)
        self.name, self.patience = self._parts.shown(), patience
        self.address, self.schema = self._parts.driver_address(), self._parts.schema()
        # What to add to this process's clock for the server's.
        self._clock = 0.0

    def now(self) -> int:
        """The server's time in microseconds since 1970."""
        return int(1e6 * (self._clock + time.monotonic()))

    # --- connections

    def connect(self) -> psycopg.Connection[Any]:
        """A new connection, ready to be used."""
        database = psycopg.connect(self.address, autocommit=True, connect_timeout=10)
        try:
            schema = sql.Identifier(self.schema)
            database.execute(sql.SQL("SET search_path TO {}").format(schema))
            # An append is durable when it returns, whatever the server's default.
            database.execute(
                "SELECT set_config('synchronous_commit', 'on', false)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
            row = database.execute(
                "SELECT extract(epoch FROM clock_timestamp())::float8,"
                " set_config('lock_timeout', %s, false)",
                (f"{int(self.patience)}s",),
            ).fetchone()
        except BaseException:
            database.close()
            raise
        self._clock = (row[0] if row else time.time()) - time.monotonic()
        return database

    def connect_patiently(self, deadline: float | None = None) -> psycopg.Connection[Any]:
        """A new connection to a server that may have to start first.

        Args:
            deadline: until when to try again, whatever the server says, in place of a connection
                that was lost; None, to open a store, waits for a server that is starting.
        """
        start = time.monotonic()
        while True:
            try:
                return self.connect()
            except psycopg.Error as error:
                end = start + self._worth_waiting(error) if deadline is None else deadline
                if time.monotonic() > end:
                    raise self.explained(error, "opened") from self.cause(error)
            time.sleep(0.1)

    def _worth_waiting(self, error: psycopg.Error) -> float:
        """For how many seconds to wait for a server that refused a connection."""
        text = str(error)
        # Nothing was reached that might change its mind.
        if isinstance(error, psycopg.ProgrammingError) or "resolve host" in text:
            return 0.0
        # The server may speak any language; its answer to a ping is a code.
        address = psycopg.conninfo.make_conninfo(self.address, connect_timeout=5)
        answer = pq.PGconn.ping(address.encode())
        if answer == pq.Ping.REJECT or "the database system is" in text:
            return self.patience
        return min(BRIEFLY, self.patience) if answer == pq.Ping.NO_RESPONSE else 0.0

    # --- what can go wrong

    def explained(self, error: psycopg.Error, done: str) -> StoreError:
        """The driver's error as one that says what to do."""
        text = str(error).strip()
        if error.sqlstate is None:
            advice = next((a for part, a in _REFUSALS.items() if part in text), None)
        else:
            advice = _ADVICE.get(error.sqlstate)
        advice = advice or self._parts.without_secrets(text)
        end = "; nothing of it was stored" if done == "changed" else ""
        return StoreError(f"{self.name} could not be {done}: {advice}{end}")

    def cause(self, error: psycopg.Error) -> psycopg.Error | None:
        """The driver's error, to be shown as the cause, unless it repeats what is secret."""
        text = str(error)
        shown = self._parts.without_secrets(text)
        if shown == text:
            return error
        # Python keeps it all the same, as what was being dealt with.
        error.args, error.__context__, error.__cause__ = (shown,), None, None
        return None


_ADVICE = {
    "53100": "the server's disk is full; free some space there and send it again",
    "25006": "the server takes no changes (it is a standby or set to read only); give the primary",
    "42501": "the user may not do that; grant it the rights to the schema",
    "42P01": "its tables are not there any more; restore them from a copy, and open it again",
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
