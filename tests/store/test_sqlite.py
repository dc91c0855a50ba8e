"""What can happen to a SQLite file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import check_running_totals, documents, everything
from trustream import persist
from trustream.cli import main
from trustream.store import DocumentStore, Record, StoreError, open_store, sqlite
from trustream.store.sqlite import SqliteDatabase
from trustream.store.sqlite_tables import SqliteTables


def pragma(store: DocumentStore, text: str) -> object:
    database = store._database
    assert isinstance(database, SqliteDatabase)
    return database._connection.execute(f"PRAGMA {text}").fetchone()


def test_an_append_is_flushed_to_the_disk(file: Path) -> None:
    with open_store(file) as store:
        assert pragma(store, "journal_mode") == ("wal",)
        assert pragma(store, "synchronous") == (2,), "FULL: only then commits flush the log"


def test_a_full_disk(file: Path) -> None:
    rng = np.random.default_rng(0)
    with open_store(file, min_documents=1, held_out=0.0) as store:
        store.append([Record("first", ["a"])])
        (pages,) = pragma(store, "page_count")  # type: ignore[misc]
        pragma(store, f"max_page_count={pages + 10}")
        acknowledged = 0
        with pytest.raises(StoreError, match=r"disk is full; free some space.*nothing of it") as e:
            for i in range(1000):
                store.append([Record(f"{i}", [f"w{w}" for w in rng.integers(0, 9999, 200)])])
                acknowledged += 1
        assert isinstance(e.value.__cause__, sqlite3.Error)
        assert acknowledged > 0
        before = everything(store)
        with pytest.raises(StoreError, match="disk is full"):
            store.save("model", bytes(1 << 20))
        with pytest.raises(StoreError, match="disk is full"):
            store.append([Record(f"big {i}", ["b"]) for i in range(5000)])
        assert everything(store) == before
        # Reading goes on, and so does writing when there is space again.
        assert len(store.draw(5, rng).keys) == min(5, acknowledged + 1)
        pragma(store, "max_page_count=1000000")
        store.append([Record("last", ["b"])])
        assert len(documents(store)) == acknowledged + 2


def test_a_file_that_may_not_be_written(file: Path) -> None:
    with open_store(file, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        # The same error of SQLite as for a file without permission, which root always has.
        pragma(store, "query_only=1")
        with pytest.raises(StoreError, match="may not be written to; allow it"):
            store.append([Record("b", ["y"])])
        assert documents(store) == {"a": {"x": 1}}
        pragma(store, "query_only=0")
        store.append([Record("b", ["y"])])
        assert store.vocabulary().words == ["x", "y"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_without_permission(file: Path) -> None:
    with open_store(file) as store:
        store.append([Record("a", ["x"])])
    file.chmod(0o400)
    file.parent.chmod(0o500)
    try:
        with (
            pytest.raises(StoreError, match=r"may (not )?be written to"),
            open_store(file) as store,
        ):
            store.append([Record("b", ["y"])])
    finally:
        file.parent.chmod(0o700)


def test_a_file_of_something_else(file: Path) -> None:
    file.write_text("id,text\n1,something\n" * 100)
    with pytest.raises(StoreError, match="not a SQLite database; give another file"):
        open_store(file)
    assert file.read_text().startswith("id,text")


def test_a_database_of_something_else(file: Path) -> None:
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE settings (x)")
    content = file.read_bytes()
    with pytest.raises(StoreError, match="but not one of trustream; give another file"):
        open_store(file)
    assert file.read_bytes() == content, "it was left alone"


def test_an_empty_file_is_a_new_store(file: Path) -> None:
    file.touch()
    with open_store(file) as store:
        assert store.totals().documents == 0


def test_a_damaged_file(file: Path) -> None:
    with open_store(file, min_documents=1, held_out=0.0) as store:
        store.append(Record(f"{i}", [f"w{j}" for j in range(i, i + 50)]) for i in range(500))
    content = bytearray(file.read_bytes())
    content[8192:-4096] = os.urandom(len(content) - 8192 - 4096)
    file.write_bytes(content)
    with (
        pytest.raises(StoreError, match=r"damaged; restore a copy.*recover"),
        open_store(file) as store,
    ):
        store.draw(100, np.random.default_rng(0))
        store.append(Record(f"{i}", ["a"]) for i in range(500))


def test_places_where_no_store_can_be(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder; give the path of a file"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match=r"the folder .*nowhere is not there; make it first"):
        open_store(tmp_path / "nowhere" / "a.db")
    with pytest.raises(StoreError, match="a store lives in a file"):
        open_store(":memory:")
    with pytest.raises(StoreError, match="is a device or a pipe; give the path of a file"):
        open_store("/dev/null")


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", "-WAL"])
def test_names_that_sqlite_takes_for_its_own(file: Path, end: str) -> None:
    """What was stored under such a name was deleted when the store beside it was opened."""
    reason = f"ends in {end.lower()}, as that of a file which SQLite keeps beside .* another name"
    with open_store(file, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        for create in (True, False):
            with pytest.raises(StoreError, match=reason):
                open_store(f"{file}{end}", create=create)
        link = file.with_name("link.db")
        link.symlink_to(f"{file}{end}")
        with pytest.raises(StoreError, match=reason):
            open_store(link)
        assert store.append([Record("b", ["x"])]).n_documents == 1
    assert not Path(f"{file}{end}").exists()
    assert CliRunner().invoke(main, ["init", f"{file}{end}"]).exit_code == 1
    with pytest.raises(ValueError, match=r"belongs to .* give another name"):
        persist.write(f"{file}{end}", {}, {})


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("new", [True, False])
def test_a_store_in_the_place_of_a_file_of_sqlite(file: Path, end: str, new: bool) -> None:
    """As earlier versions let people make them."""
    if not new:
        open_store(file).close()
    other = file.with_name("other.db")
    with open_store(other, min_documents=1) as store:
        store.append([Record("a", ["x"])])
    other.rename(f"{file}{end}")
    before = Path(f"{file}{end}").read_bytes()
    with pytest.raises(StoreError, match=rf"cannot be opened: .*db{end} is a database.* rename"):
        open_store(file)
    assert Path(f"{file}{end}").read_bytes() == before
    assert file.exists() != new
    Path(f"{file}{end}").rename(other)
    with open_store(file) as store, open_store(other, create=False) as kept:
        assert (store.totals().documents, kept.totals().documents) == (0, 1)


def test_a_journal_that_a_crash_has_left(file: Path, tmp_path: Path) -> None:
    """A rollback journal is SQLite's own: what it takes back must not stand in the way."""
    open_store(file, min_documents=1).close()
    crashed = tmp_path / "crashed.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("PRAGMA cache_size=1")
        database.execute("BEGIN")
        database.execute("CREATE TABLE half (x)")
        database.executemany("INSERT INTO half VALUES (?)", [("x" * 4000,)] * 200)
        shutil.copy(f"{file}-journal", f"{crashed}-journal")
        shutil.copy(file, crashed)
        database.execute("ROLLBACK")
    with open_store(crashed, create=False) as store:
        store.append([Record("a", ["x"])])
        assert store.check().ok


def test_somebody_else_writes_for_too_long(file: Path) -> None:
    with open_store(file) as store, sqlite3.connect(file, isolation_level=None) as other:
        store._database._patience = 0.2  # type: ignore[attr-defined]
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(StoreError, match="another process has been writing"):
            store.append([Record("a", ["x"])])
        assert time.monotonic() - start < 5
        assert store.totals().documents == 0
        other.execute("COMMIT")
        store.append([Record("a", ["x"])])


def test_readers_go_on_while_somebody_writes(file: Path) -> None:
    with open_store(file, held_out=0.0) as store, open_store(file) as other:
        store.append([Record("a", ["x"])])
        writing = sqlite3.connect(file, isolation_level=None)
        writing.execute("BEGIN IMMEDIATE")
        assert other.draw(1, np.random.default_rng(0)).keys == ["a"]
        writing.execute("ROLLBACK")
        writing.close()


def big(i: int) -> list[Record]:
    """An append that changes many pages."""
    return [Record(f"{d}", [f"w{(7 * i + d) % 500}"]) for d in range(200)]


@pytest.fixture
def short_log(monkeypatch: pytest.MonkeyPatch) -> int:
    """What there is for 64 MB, at a hundredth of the size."""
    limit = sqlite.LOG_LIMIT // 100
    monkeypatch.setattr(sqlite, "LOG_LIMIT", limit)
    pragmas = [p for p in sqlite._PRAGMAS if not p.startswith("journal_size_limit")]
    monkeypatch.setattr(sqlite, "_PRAGMAS", (*pragmas, f"journal_size_limit={limit // 2}"))
    return limit


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("n", [150, pytest.param(500, marks=pytest.mark.slow)])
def test_the_log_has_a_bound_though_somebody_always_reads(
    file: Path, short_log: int, n: int
) -> None:
    def read(tell: Callable[[str], None]) -> None:
        rng = np.random.default_rng(0)
        with open_store(file) as store:
            tell("reading")
            while not (file.parent / "stop").exists():
                store.draw(200, rng)

    log = Path(f"{file}-wal")
    with open_store(file, min_documents=1, held_out=0.0) as store:
        store.append(big(0))
        readers = [Child.start(read) for _ in range(2)]
        try:
            for reader in readers:
                reader.first_line()
            largest = 0
            for i in range(rounds(n)):
                store.append(big(i))
                largest = max(largest, log.stat().st_size)
        finally:
            (file.parent / "stop").touch()
            statuses = [reader.end()[0] for reader in readers]
        assert statuses == [0, 0]
        # Readers may be in the way for some appends on end.
        assert short_log < largest < 10 * short_log
        check_running_totals(store)


def test_a_reader_that_stays_is_not_waited_for_each_time(
    file: Path, short_log: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_FOR_READERS", 0.2)
    log = Path(f"{file}-wal")
    with open_store(file, min_documents=1, held_out=0.0) as store:
        database = store._database
        assert isinstance(database, SqliteDatabase)
        store.append(big(0))
        with sqlite3.connect(file, isolation_level=None) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM document").fetchone()
            i = waits = 0
            while log.stat().st_size < 3 * short_log:
                before = database._try_again
                store.append(big(i := i + 1))
                waits += database._try_again > before
                # As if an hour had passed since the first.
                database._try_again += 3600 if waits == 1 and database._try_again > before else 0
            assert waits == 1
            reader.execute("ROLLBACK")
        database._try_again = 0.0
        for _ in range(2):
            store.append(big(0))
        assert log.stat().st_size <= short_log
        check_running_totals(store)


def test_an_interrupted_reader_whose_exception_is_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As notebooks keep the last one: it has the cursor that was being read from."""

    real = SqliteTables._select_in

    def interrupting(*arguments: Any) -> Any:
        cursor = real(*arguments)
        next(cursor)
        raise KeyboardInterrupt

    with open_store(file, min_documents=1, held_out=0.0) as store, open_store(file) as other:
        store.append(Record(f"{i}", ["x"]) for i in range(50))
        store._database._patience = 5.0  # type: ignore[attr-defined]
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as kept:
            patch.setattr(SqliteTables, "_select_in", interrupting)
            store.draw(20, np.random.default_rng(0))
        assert kept.traceback
        other.append([Record("of another", ["y"])])
        assert store.totals().documents == 51
        store.append([Record("last", ["y"])])
        check_running_totals(other)
