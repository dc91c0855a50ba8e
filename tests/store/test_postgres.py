"""What can happen to a PostgreSQL server and to the connection to it."""

from __future__ import annotations

import builtins
import itertools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents
from tests.store.server import Server
from trustream.store import DocumentStore, Position, Record, StoreError, open_store

postgres_server = pytest.importorskip("trustream.store.postgres_server", exc_type=ImportError)
_NUMBERS = itertools.count()


@pytest.fixture
def url(server: Server) -> str:
    return f"{server.url}&schema=trouble_{next(_NUMBERS)}"


class Wire:
    """A connection that is cut at a statement: before it reaches the server, or after."""

    def __init__(self, store: DocumentStore, statement: str, after: bool) -> None:
        self._database: Any = store._database
        self._real = self._database._connection
        self._statement, self._after = statement, after
        self.cuts = 0
        self._database._connection = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        import psycopg

        if isinstance(statement, str) and statement.startswith(self._statement):
            self.cuts += 1
            if self._after:
                self._real.execute(statement, *arguments, **options)
            self._real.close()
            raise psycopg.OperationalError("the connection was cut")
        return self._real.execute(statement, *arguments, **options)


CUTS = [
    ("BEGIN", False),
    ("BEGIN", True),
    ("INSERT INTO block", True),
    ("UPDATE state", False),
    ("UPDATE state", True),
    ("COMMIT", False),
    ("COMMIT", True),
]


@pytest.mark.parametrize(("statement", "after"), CUTS)
def test_a_cut_connection_loses_and_doubles_nothing(url: str, statement: str, after: bool) -> None:
    """Records without append ids: nobody need send anything again."""
    with open_store(url, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        wire = Wire(store, statement, after)
        result = store.append([Record("a", ["x", "y"]), Record("b", ["z"])], Position("feed", 7))
        assert wire.cuts == 1
        assert (result.n_documents, result.n_tokens) == (1, 3)
        assert documents(store) == {"a": {"x": 2, "y": 1}, "b": {"z": 1}}
        assert store.totals().sequence == 2
        assert store.position("feed") == Position("feed", 7)
        store.append([Record("c", ["z", "new"])])
        assert store.vocabulary().words == ["x", "y", "z", "new"]
        check_running_totals(store)


@pytest.mark.parametrize("after", [False, True])
def test_a_cut_connection_deletes_and_saves_once(url: str, after: bool) -> None:
    with open_store(url, min_documents=1) as store:
        store.append([Record("a", ["x"]), Record("b", ["x"])])
        Wire(store, "COMMIT", after)
        assert store.delete(["a"]) == 1
        assert store.totals().sequence == 2
        Wire(store, "COMMIT", after)
        store.save("model", b"content")
        assert store.load("model") == b"content"
        assert store.saved_version("model") == 1


def test_a_draw_that_is_done_again_draws_the_same(url: str) -> None:
    with open_store(url, held_out=0.0) as store:
        store.append(Record(f"{i}", ["x"]) for i in range(100))
        expected = store.draw(10, np.random.default_rng(3)).keys
        rng = np.random.default_rng(3)
        wire = Wire(store, "COMMIT", False)
        assert store.draw(10, rng).keys == expected
        assert wire.cuts == 1
        other = np.random.default_rng(3)
        store.draw(10, other)
        assert rng.random() == other.random()


def test_a_server_that_stays_away(url: str) -> None:
    with open_store(url, min_documents=1) as store:
        database: Any = store._database
        database._server.patience = 0.5
        store.append([Record("a", ["x"])])
        address = database._server.address
        database._server.address = "postgresql://localhost:1/nobody"
        database._connection.close()
        with pytest.raises(StoreError, match="no server answers; see that it runs"):
            store.append([Record("b", ["y"])])
        with pytest.raises(StoreError, match="no server answers"):
            store.totals()
        database._server.address = address
        assert store.totals().documents == 1
        Wire(store, "COMMIT", True)
        database._server.address = "postgresql://localhost:1/nobody"
        with pytest.raises(StoreError, match=r"not known whether .* with the same append ids"):
            store.append([Record("c", ["y"], append_id="c")])
        database._server.address = address
        assert store.append([Record("c", ["y"], append_id="c")]).n_repeated == 1
        assert documents(store) == {"a": {"x": 1}, "c": {"y": 1}}


def test_wrong_password(server: Server, url: str) -> None:
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE careful LOGIN PASSWORD 'right'")
        connection.execute("GRANT CREATE ON DATABASE postgres TO careful")
        server.ask_for_password("careful")
        connection.execute("SELECT pg_reload_conf()")
    careful = url.replace("postgres:@", "careful:wrong@")
    with pytest.raises(StoreError, match="refused the user or the password") as caught:
        open_store(careful)
    assert "wrong" not in str(caught.value)
    with pytest.raises(StoreError, match="wants a password"):
        open_store(url.replace("postgres:@", "careful@"))
    with open_store(careful.replace("wrong", "right")) as store:
        assert "right" in store.url
        assert "right" not in store.name
        store.append([Record("a", ["x"])])


def test_nothing_there(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "BRIEFLY", 0.2)
    with pytest.raises(StoreError, match="no server answers; see that it runs"):
        open_store("postgresql://127.0.0.1:1/name")
    with pytest.raises(StoreError, match=r"the database is not there; make it \(createdb"):
        open_store(server.url.replace("/postgres?", "/nothing?"))


def test_a_server_that_is_not_there_yet(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for, as it is when it goes away later on."""
    monkeypatch.setattr(postgres_server, "BRIEFLY", 60.0)
    start = threading.Thread(target=server.start)
    server.stop()
    try:
        attempts = starting(monkeypatch, at=2, call=start.start)
        with open_store(url) as store:
            assert store.totals().documents == 0
        assert attempts() > 2
    finally:
        server.start()
        start.join()


def test_a_server_that_is_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """For as long as it says so, however long nobody would wait for one that says nothing."""
    monkeypatch.setattr(postgres_server, "BRIEFLY", 0.0)
    server = Server()
    try:
        open_store(server.url).close()
        server.stop()
        server.start_without_letting_in()
        attempts = starting(monkeypatch, at=3, call=server.let_in)
        with open_store(server.url, create=False) as store:
            assert store.totals().documents == 0
        assert attempts() > 3
    finally:
        server.end()


def starting(
    monkeypatch: pytest.MonkeyPatch, at: int, call: Callable[[], object]
) -> Callable[[], int]:
    """Do something before an attempt to connect; how many attempts there were."""
    real = postgres_server.Server.connect
    attempts = itertools.count(1)
    seen = [0]

    def connect(self: Any) -> Any:
        seen[0] = next(attempts)
        if seen[0] == at:
            call()
        return real(self)

    monkeypatch.setattr(postgres_server.Server, "connect", connect)
    return lambda: seen[0]


def test_names_of_schemas(server: Server) -> None:
    """PostgreSQL cuts names off after 63 bytes: two stores would be one."""
    long = "ä" * 31
    with open_store(f"{server.url}&schema={long}x", min_documents=1) as store:
        store.append([Record("a", ["x"])])
    with open_store(f"{server.url}&schema={long}y") as store:
        assert store.totals().documents == 0
    for name, size in ((f"{long}xx", 64), ("", 0), ("x" * 200, 200), ("a%00b", 3)):
        with pytest.raises(StoreError, match=f"name of {size} bytes; give it a name of 1 to 63"):
            open_store(f"{server.url}&schema={name}")


def test_rows_of_writers_that_were_killed(server: Server, url: str) -> None:
    """They go after a month; those that anybody may still ask for stay."""
    with open_store(url) as store, open_store(url) as alive:
        alive.append([Record("a", ["x"])])
        writer = alive._database._writer  # type: ignore[attr-defined]
        database: Any = store._database
        day = 86_400_000_000
        now = database._server.now()
        assert abs(now / 1e6 - time.time()) < 3600, "microseconds since 1970"
        rows = {"old": now - 31 * day, "new": now - 29 * day, "first version": 7, "asked": -1}
        for row in rows.items():
            database._connection.execute("INSERT INTO writer VALUES (%s, %s)", row)
        store.append([Record("b", ["x"])])
        found = dict(database._execute("SELECT name, number FROM writer"))
        assert set(found) == {writer, database._writer, "new", "first version", "asked"}
        assert abs(found[database._writer] - now) < day
    with open_store(url) as store:
        left = {name for (name,) in store._database._execute("SELECT name FROM writer")}
        assert left == {"new", "first version", "asked"}, "those that were closed are gone"


def test_an_old_row_of_a_writer_that_goes_on(url: str) -> None:
    """It was not used for long: its row is deleted under it, and what is in doubt is known."""
    with open_store(url, min_documents=1) as store, open_store(url) as other:
        store.append([Record("a", ["x"])])
        database: Any = store._database
        database._connection.execute("UPDATE writer SET number = number - 40 * 86400000000::bigint")
        other.append([Record("b", ["x"])])
        writers = database._execute("SELECT name FROM writer").fetchall()
        assert writers == [(other._database._writer,)]  # type: ignore[attr-defined]
        for after in (False, True):
            Wire(store, "COMMIT", after)
            store.append([Record("a", ["x"])])
        assert documents(store) == {"a": {"x": 3}, "b": {"x": 1}}


def test_a_schema_of_something_else(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA foreign_one CREATE TABLE settings (x integer)")
    with pytest.raises(StoreError, match=r"has tables of something else; name another"):
        open_store(f"{server.url}&schema=foreign_one")


def test_a_server_that_takes_no_changes(url: str) -> None:
    with open_store(url) as store:
        database: Any = store._database
        database._connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(StoreError, match=r"takes no changes.*nothing of it was stored"):
            store.append([Record("a", ["x"])])
        database._connection.execute("SET default_transaction_read_only = off")
        store.append([Record("a", ["x"])])
        assert store.totals().documents == 1


def test_somebody_else_writes_for_too_long(url: str) -> None:
    with open_store(url) as store, open_store(url) as other:
        one: Any = store._database
        two: Any = other._database
        two._connection.execute("BEGIN")
        two.counters(write=True)
        one._connection.execute("SET lock_timeout = '50ms'")
        with pytest.raises(StoreError, match="another process has been writing for too long"):
            store.append([Record("a", ["x"])])
        two._connection.execute("ROLLBACK")
        store.append([Record("a", ["x"])])


def test_a_commit_is_durable_whatever_the_default(server: Server, url: str) -> None:
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE hasty LOGIN SUPERUSER")
        connection.execute("ALTER ROLE hasty SET synchronous_commit = off")
    with open_store(url.replace("postgres:@", "hasty@")) as store:
        database: Any = store._database
        assert database._execute("SHOW synchronous_commit").fetchall() == [("on",)]


def test_without_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".")[0] == "psycopg":
            raise ModuleNotFoundError("No module named 'psycopg'")
        return real(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "trustream.store.postgres")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(StoreError, match=r"pip install 'trustream\[postgres\]'"):
        open_store("postgresql://host/name")


def test_tables_that_are_dropped_and_made_anew(server: Server, url: str) -> None:
    """A handle of the old ones would take its numbers of words for those of the new ones."""
    import psycopg

    schema = url.rpartition("=")[2]
    with open_store(url, min_documents=1) as old, open_store(url) as other:
        old.append([Record("a", ["cat", "dog"])])
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
        with pytest.raises(StoreError, match="its tables are not there any more; restore them"):
            other.totals()
        with open_store(url, min_documents=1) as new:
            for i in range(3):
                new.append([Record(f"{i}", [f"w{i}"])])
            for store in (old, other):
                with pytest.raises(StoreError, match="were made anew while it was open"):
                    store.append([Record("b", ["cat"])])
            new.append([Record("b", ["cat"])])
            assert documents(new) == {**{f"{i}": {f"w{i}": 1} for i in range(3)}, "b": {"cat": 1}}
