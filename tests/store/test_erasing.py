"""What is deleted is gone: from the tables, from the file of SQLite, and from its log."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.store.contents_of import documents, known_words
from tests.store.faulty import execute
from trustream.cli import main
from trustream.store import DocumentStore, Record, StoreError, open_store

SECRETS = ("zanzibarsecret", "person-4711")


def raw(file: Path) -> bytes:
    """The bytes of the file, its log and the log's index."""
    names = [file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm")]
    return b"".join(name.read_bytes() for name in names if name.exists())


def traces(file: Path, *secrets: str) -> list[str]:
    content = raw(file)
    return [secret for secret in secrets if secret.encode() in content]


def fill(store: DocumentStore, n: int = 300) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(500)]
    for start in range(0, n, 50):
        store.append(
            Record(f"key {i}", rng.choice(words, 40).tolist()) for i in range(start, start + 50)
        )


@pytest.mark.parametrize("long", [False, True])
def test_nothing_is_left_in_the_files(file: Path, long: bool) -> None:
    """Also of a document on pages of its own; others have the store open."""
    word, key = SECRETS[0], SECRETS[1] + "z" * (400 if long else 0)
    with open_store(file, min_documents=1) as store, open_store(file) as other:
        fill(store)
        more = [f"v{i}" for i in range(3000)] if long else ["w1"]
        store.append([Record(key, [word, *more])])
        other.append([Record(key, [word])])
        assert traces(file, word, key) == [word, key]
        assert store.delete([key]) == 1
        assert traces(file, word, key) == []
        assert store.check().ok
        assert word not in known_words(other)
        other.append([Record("key 1", ["w1"])])
        assert store.check().ok


def test_pages_that_become_free_are_overwritten(file: Path) -> None:
    with open_store(file, min_documents=1) as store:
        fill(store)
        keys = [f"{SECRETS[1]}/{i}" for i in range(400)]
        store.append(Record(key, [f"{SECRETS[0]}{i}", "w1"]) for i, key in enumerate(keys))
        store.delete(keys)
        assert traces(file, *SECRETS) == []


def test_copies_from_before_a_document_grew_are_overwritten(file: Path) -> None:
    with open_store(file, min_documents=1) as store:
        fill(store)
        for step in range(12):
            more = [f"w{i}" for i in range(20 * step, 20 * step + 20)]
            store.append([Record(SECRETS[1], more)])
            store.append(Record(f"key {i}", more) for i in range(0, 300, 7))
        store.delete([SECRETS[1]])
        assert traces(file, *SECRETS) == []


def test_a_replaced_document_leaves_nothing_either(file: Path) -> None:
    with open_store(file, min_documents=1) as store:
        fill(store)
        store.append([Record("a", [SECRETS[0], "w1"])])
        store.append([Record("a", ["w1"], replace=True)])
        assert store.erase()
        assert traces(file, SECRETS[0]) == []


def test_a_rewrite_removes_what_any_version_left(file: Path) -> None:
    """Keys and words are moved about in a file that nothing was overwritten in."""
    rng = np.random.default_rng(1)
    with open_store(file, min_documents=1) as store:
        connection = store._database._connection  # type: ignore[attr-defined]
        connection.execute("PRAGMA secure_delete=OFF").fetchone()
        for step in range(30):
            store.append(
                Record(f"{SECRETS[1]}-{i}-" + "z" * int(rng.integers(300)), [f"{SECRETS[0]}-{i}-"])
                for i in range(step * 20, step * 20 + 20)
            )
            store.append(
                Record(key, [f"w{i}" for i in rng.integers(0, 900, 200)])
                for key in rng.choice(list(documents(store)), 10).tolist()
            )
        store.save("model", f"{SECRETS[0]} in a model".encode() * 5000)
        store.save("model", b"another")
        store.delete(documents(store))
        assert traces(file, *SECRETS), "there is something to be removed"
        assert store.erase(rewrite=True)
        assert traces(file, *SECRETS) == []
        assert store.check().ok


def test_a_reader_in_the_way_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trustream.store.document_store._TO_ERASE", 0.1)
    with open_store(file, min_documents=1) as store, open_store(file) as reader:
        fill(store)
        store.append([Record(SECRETS[1], [SECRETS[0]])])

        def while_reading() -> None:
            list(reader._database.stream("SELECT count(*) FROM document"))
            assert store.delete([SECRETS[1]]) == 1, "it is deleted all the same"
            assert not store.erase()

        reader._database.run(while_reading, write=False)
        assert SECRETS[1] not in documents(store)
        assert store.erase()
        assert traces(file, *SECRETS) == []


def test_others_append_while_a_reader_is_waited_for(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trustream.store.document_store._TO_ERASE", 3.0)
    done: list[bool] = []
    with open_store(file) as store, open_store(file) as writer, open_store(file) as reader:
        fill(store, 50)

        def while_reading() -> float:
            list(reader._database.stream("SELECT count(*) FROM document"))
            store.append([Record("a", ["x"])])
            erasing = threading.Thread(target=lambda: done.append(store.erase()))
            erasing.start()
            slowest, n = 0.0, 0
            while erasing.is_alive():
                began = time.monotonic()
                writer.append([Record(f"n{n}", ["x"])])
                slowest, n = max(slowest, time.monotonic() - began), n + 1
                time.sleep(0.02)
            return slowest

        assert reader._database.run(while_reading, write=False) < 2.0
    assert done == [False]


def test_words_leave_and_come_back(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x", "secret"]), Record("b", ["x"])])
        unknown: list[str] = []
        assert store.delete(["a", "c", "a", "", "c"], on_unknown=unknown.append) == 1
        assert unknown == ["c", ""]
        assert known_words(store) == {"x"}
        assert store.vocabulary().words == ["x", None]
        store.append([Record("d", ["secret"])])
        assert store.vocabulary().words == ["x", "secret"]
        assert store.keep(newest=0) == 2
        assert known_words(store) == set()
        assert store.check().ok
        store.append([Record("d", ["y"])])
        assert documents(store) == {"d": {"y": 1}}
        assert store.check(repair=True).ok


def test_erase_on_both(address: str) -> None:
    with open_store(address, min_documents=1) as store, open_store(address) as other:
        fill(store, 100)
        other.append([Record("key 60", ["w1"])])
        store.delete([f"key {i}" for i in range(50)])
        assert store.erase() == ("://" not in address)
        assert store.erase(rewrite=True)
        assert len(documents(other)) == 50
        fill(other, 100)
        fill(store, 100)
        assert store.check().ok
        assert documents(store) == documents(other)
    with pytest.raises(StoreError, match="closed"):
        store.erase()


def test_the_command_on_both(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        fill(store, 100)
    first = CliRunner().invoke(main, ["delete", address, "key 1"])
    assert first.exit_code == 0
    assert "1 document deleted" in first.stdout
    assert ("until they are overwritten after a VACUUM" in first.stdout) == ("://" in address)
    second = CliRunner().invoke(main, ["delete", address, "key 1", "key 2", "--rewrite"])
    assert second.exit_code == 1
    assert ("standbys and backups" in second.stdout) == ("://" in address)
    assert "no document has 1 of these ids: 'key 1'" in second.stderr


def test_append_ids_expire(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        record = Record("a", ["x"], append_id="mail of person-4711")
        store.append([record])
        assert store.expire_append_ids(time.time() - 3600) == 0
        assert store.append([record]).n_repeated == 1
        assert store.expire_append_ids(time.time() + 3600) == 1
        assert store.append([record]).n_repeated == 0, "it counts as new then"
        for wrong in (float("nan"), float("inf")):
            with pytest.raises(ValueError, match="give seconds since 1970"):
                store.expire_append_ids(wrong)
        assert store.check().ok


def test_expired_append_ids_are_overwritten(file: Path) -> None:
    with open_store(file) as store:
        store.append(Record(f"{i}", ["x"], append_id=f"{SECRETS[1]}/{i}/") for i in range(500))
        assert store.expire_append_ids(time.time() + 3600) == 500
        assert store.erase()
        assert traces(file, SECRETS[1]) == []


def test_saved_bytes_are_changed_in_place(address: str) -> None:
    with open_store(address) as store:
        store.save("model", b"secret")
        store.save("a", b"other")
        assert store.saved_names() == ["a", "model"]
        assert not store.change_saved("model", lambda content: None)
        assert not store.change_saved("nobody", lambda content: content)
        assert not store.change_saved("", lambda content: content)
        assert (store.saved_version("model"), store.load("model")) == (1, b"secret")
        assert store.change_saved("model", lambda content: content.replace(b"secret", b"public"))
        assert (store.saved_version("model"), store.load("model")) == (2, b"public")
        assert store.check().ok


def test_words_that_an_earlier_version_left_behind(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They leave when the store is brought up to date; the old version cannot write any more."""
    with open_store(address, min_documents=1) as store:
        store.append(Record(f"{i}", [f"w{i}", "x"], append_id=f"{i}") for i in range(600))
        store.delete(["3", "300", "599"])
        # As it would have been.
        execute(
            store,
            "INSERT INTO word VALUES (4, 'w3'), (301, 'w300')",
            "ALTER TABLE state RENAME COLUMN word_numbers TO next_word",
            "ALTER TABLE seen DROP COLUMN time",
            "DELETE FROM migration WHERE name = '0008_words_leave'",
        )
        with open_store(address) as new:
            assert new.check().ok
            assert len(known_words(new)) == 598
            assert new.append([Record("0", ["x"], append_id="0")]).n_repeated == 1
            assert new.expire_append_ids(time.time() - 3600) == 0
            assert new.expire_append_ids(time.time() + 3600) == 600
            # What the counters are written with by a version that remembers words for ever.
            with pytest.raises(StoreError, match="next_word"):
                execute(store, "UPDATE state SET sequence = 7, next_word = 700")
    with open_store(address) as store:
        assert store.check().ok


def test_words_of_a_fixed_vocabulary_are_not_left_behind(address: str) -> None:
    with open_store(address, vocabulary=["a", "b", "c"]) as store:
        store.append([Record("1", ["a"]), Record("2", ["b"])])
        store.delete(["2"])
        execute(
            store,
            "ALTER TABLE state RENAME COLUMN word_numbers TO next_word",
            "ALTER TABLE seen DROP COLUMN time",
            "DELETE FROM migration WHERE name = '0008_words_leave'",
        )
    with open_store(address) as store:
        assert store.vocabulary().words == ["a", "b", "c"]
        assert store.check().ok
