"""Files of a SQLite store that are deleted, emptied or replaced while it is open."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents
from trustream._open_databases import is_in_use
from trustream.store import DocumentStore, Record, StoreError, open_store, sqlite_files

RECORD = Record("b", ["y"])


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call looks at the files, as if a while had passed since the last."""
    monkeypatch.setattr(sqlite_files, "LATELY", 0.0)


def delete(file: Path) -> None:
    file.unlink()


def move(file: Path) -> None:
    file.rename(file.with_suffix(".old"))


def move_the_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))


def replace(file: Path) -> None:
    other = file.with_suffix(".new")
    open_store(other, min_documents=1).close()
    other.replace(file)


def restore(file: Path) -> None:
    shutil.copy(file.with_suffix(".copy"), file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def delete_all(file: Path) -> None:
    for name in ("", "-wal", "-shm"):
        Path(f"{file}{name}").unlink()


def delete_log(file: Path) -> None:
    Path(f"{file}-wal").unlink()


def replace_log(file: Path) -> None:
    delete_log(file)
    Path(f"{file}-wal").touch()


def empty_log(file: Path) -> None:
    os.truncate(f"{file}-wal", 0)


def delete_index(file: Path) -> None:
    Path(f"{file}-shm").unlink()


OF_THE_FILE = [delete, move, move_the_folder, replace, restore, empty, delete_all]
BESIDE_IT = [delete_log, replace_log, delete_index]


def opened(folder: Path) -> tuple[DocumentStore, Path]:
    """A store with a document, and a copy of it from before."""
    folder = folder / "folder"
    folder.mkdir()
    file = folder / "topics.db"
    open_store(file, min_documents=1, held_out=0.0).close()
    shutil.copy(file, file.with_suffix(".copy"))
    store = open_store(file)
    store.append([Record("a", ["x"])])
    return store, file


@pytest.mark.parametrize("harm", [*OF_THE_FILE, delete_log, replace_log, empty_log])
def test_no_append_is_acknowledged(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    """Not even at once, when it has already been written."""
    store, file = opened(tmp_path)
    harm(file)
    with pytest.raises(StoreError, match="moved, deleted or replaced while it was open"):
        store.append([RECORD])
    store.close()


@pytest.mark.parametrize("harm", [*OF_THE_FILE, *BESIDE_IT])
def test_nothing_is_written(tmp_path: Path, harm: Callable[[Path], None], looks: None) -> None:
    store, file = opened(tmp_path)
    harm(file)
    message = r"moved, deleted or replaced while it was open.*nothing of it was stored; put"
    for change in (
        lambda: store.append([RECORD]),
        lambda: store.delete(["a"]),
        lambda: store.save("model", b"content"),
    ):
        with pytest.raises(StoreError, match=message):
            change()  # type: ignore[no-untyped-call]
    store.close()


@pytest.mark.parametrize("harm", [*OF_THE_FILE, *BESIDE_IT])
def test_nothing_is_read(tmp_path: Path, harm: Callable[[Path], None], looks: None) -> None:
    store, file = opened(tmp_path)
    harm(file)
    for read in (
        store.totals,
        store.vocabulary,
        lambda: store.read(["a"]),
        lambda: store.draw(1, np.random.default_rng(0)),
        lambda: store.load("model"),
    ):
        with pytest.raises(StoreError, match="moved, deleted or replaced while it was open"):
            read()  # type: ignore[no-untyped-call]
    store.close()


def test_an_emptied_log_is_remembered(tmp_path: Path, looks: None) -> None:
    """SQLite goes on behind a gap, and whatever follows would be gone with the process."""
    store, file = opened(tmp_path)
    with open_store(file) as other:
        empty_log(file)
        for handle in (store, other, store):
            with pytest.raises(StoreError, match=r"topics\.db-wal was emptied"):
                handle.append([RECORD])
    store.close()


def test_logs_that_sqlite_empties_itself(tmp_path: Path, looks: None) -> None:
    store, file = opened(tmp_path)
    with open_store(file) as other:
        for i in range(3):
            assert other.erase()
            assert os.path.getsize(f"{file}-wal") == 0
            assert store.totals().documents == i + 1
            store.append([Record(f"c{i}", ["x"])])
            other.append([Record(f"c{i}", ["y"])])
    assert documents(store) == {"a": {"x": 1}, **{f"c{i}": {"x": 1, "y": 1} for i in range(3)}}
    check_running_totals(store)
    store.close()


def test_a_file_that_is_no_store_is_let_go_of(tmp_path: Path) -> None:
    """Also while somebody keeps the error: it is like any other file for the rest."""
    file = tmp_path / "model"
    file.write_bytes(bytes(5000))
    with pytest.raises(StoreError, match="not a SQLite database") as error:
        open_store(file)
    assert not is_in_use(file), error


@pytest.mark.parametrize("harm", [*OF_THE_FILE, delete_log, replace_log])
def test_in_the_middle_of_an_append(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    """It was written into a file that nobody can open any more."""
    store, file = opened(tmp_path)
    database: Any = store._database
    real = database.put_counters

    def put_counters(state: object) -> None:
        real(state)
        harm(file)

    database.put_counters = put_counters
    with pytest.raises(StoreError, match=r"not known whether .* with the same append ids"):
        store.append([RECORD])
    store.close()


def test_a_file_that_comes_back(tmp_path: Path, looks: None) -> None:
    store, file = opened(tmp_path)
    away = file.with_suffix(".old")
    file.rename(away)
    with pytest.raises(StoreError, match=r"not where it was \(No such file or directory\)"):
        store.append([RECORD])
    away.rename(file)
    store.append([RECORD])
    assert documents(store) == {"a": {"x": 1}, "b": {"y": 1}}
    check_running_totals(store)
    store.close()


def test_a_deleted_log_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """If nobody else has opened the store meanwhile: the log is taken into the file at the end."""
    store, file = opened(tmp_path)
    delete_log(file)
    record = Record("b", ["y"], append_id="b")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"topics\.db-wal is missing"):
            store.append([record])
    store.close()
    with open_store(file) as again:
        again.append([record])
        assert documents(again) == {"a": {"x": 1}, "b": {"y": 1}}
        check_running_totals(again)


def test_an_older_copy_in_the_same_file(tmp_path: Path) -> None:
    store, file = opened(tmp_path)
    copy = tmp_path / "copy.db"
    with sqlite3.connect(file) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    store.append([RECORD])
    # The way to restore a copy that SQLite's other users notice.
    with sqlite3.connect(copy) as source, sqlite3.connect(file) as target:
        source.backup(target)
    for use in (store.totals, lambda: store.append([RECORD]), store.totals):
        with pytest.raises(StoreError, match=r"gone back from change 2 to change 1.*open the"):
            use()  # type: ignore[no-untyped-call]
    # Not even when it has caught up: what is in memory is of another past.
    with open_store(file) as again:
        again.append([Record("c", ["z"])])
        again.append([Record("c", ["z"])])
        with pytest.raises(StoreError, match="gone back"):
            store.append([RECORD])
        assert documents(again) == {"a": {"x": 1}, "c": {"z": 2}}
        check_running_totals(again)
    store.close()


def test_a_link_that_leads_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        open_store(tmp_path / f"{name}.db", min_documents=1).close()
    link = tmp_path / "current.db"
    link.symlink_to(tmp_path / "one.db")
    with open_store(link) as store:
        store.append([RECORD])
        link.unlink()
        link.symlink_to(tmp_path / "two.db")
        with pytest.raises(StoreError, match="another file is in its place"):
            store.append([RECORD])


def test_the_process_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with open_store("topics.db", min_documents=1) as store:
        monkeypatch.chdir("folder")
        store.append([RECORD])
        with open_store(store.url, create=False) as again:
            assert again.totals().documents == 1
    assert os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize("content", [b"", None])
def test_an_empty_file_is_no_store(file: Path, content: bytes | None) -> None:
    if content is None:
        # Made by something that was killed before it made the tables.
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA journal_mode=WAL")
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="is empty: there is no store in it; make the store"):
        open_store(file, create=False)
    assert file.read_bytes() == before
    with open_store(file) as store:
        assert store.totals().documents == 0


@pytest.mark.parametrize("name", ["a b.db", "a%20b.db", "a?b#c.db", "a&b=c.db", "ä.db", "'\".db"])
def test_file_names_of_all_kinds(tmp_path: Path, name: str) -> None:
    with open_store(tmp_path / name, min_documents=1) as store:
        store.append([RECORD])
        assert store.name == str(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    with open_store(str(tmp_path / name), create=False) as store:
        assert store.totals().documents == 1


def test_a_hard_link(tmp_path: Path) -> None:
    """Under another name SQLite has another log: each would lose what the other acknowledged."""
    path, other = tmp_path / "topics.db", tmp_path / "copy.db"
    with open_store(path, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        os.link(path, other)
        with pytest.raises(
            StoreError, match=r"copy\.db has another name too \(it is a hard link\)"
        ):
            open_store(other)
        store.append([RECORD])
    with pytest.raises(StoreError, match=r"topics\.db has another name too"):
        open_store(path, create=False)
    other.unlink()
    with open_store(path, create=False) as store:
        assert documents(store) == {"a": {"x": 1}, "b": {"y": 1}}
