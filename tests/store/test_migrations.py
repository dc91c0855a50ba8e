"""Tables made by other versions: older ones are brought up to date, newer ones refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.store.contents_of import documents
from tests.store.faulty import execute
from trustream.store import Record, StoreError, migrations, open_store, saved_bytes
from trustream.store.migrations import MIGRATIONS, Migration


def use(monkeypatch: pytest.MonkeyPatch, steps: tuple[Migration, ...]) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)


EXTRA = Migration("9999_extra", *[("CREATE TABLE extra (x integer)",)] * 2)
BROKEN = Migration("9999_broken", *[("CREATE TABLE extra (x integer)", "NOT SQL AT ALL")] * 2)


# The settings of a store cannot be read without these.
SETTINGS = tuple(step for step in MIGRATIONS if step.name in ("0009_texts", "0010_word_order"))
WITHOUT_ORDER = (
    "DROP TABLE word_order",
    "ALTER TABLE settings DROP COLUMN keep_order",
    "DELETE FROM migration WHERE name = '0010_word_order'",
)
WITHOUT_TEXTS = (
    *WITHOUT_ORDER,
    "DROP TABLE text",
    "ALTER TABLE settings DROP COLUMN keep_text",
    "ALTER TABLE document DROP COLUMN arrival",
    "DELETE FROM migration WHERE name = '0009_texts'",
)


def fill(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x", "y", "x"])])


def test_an_older_store_is_brought_up_to_date(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(address)
    use(monkeypatch, (*MIGRATIONS, EXTRA))
    for _ in range(2):
        with open_store(address) as store:
            assert documents(store) == {"a": {"x": 2, "y": 1}}
            execute(store, "INSERT INTO extra VALUES (1)")
            names = [row[0] for row in execute(store, "SELECT name FROM migration ORDER BY name")]
            assert names == [step.name for step in (*MIGRATIONS, EXTRA)]


@pytest.mark.parametrize("n", range(1, len(MIGRATIONS)))
def test_each_released_step_leads_on(address: str, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """A store with the first steps only, as an early version would have made it."""
    use(monkeypatch, (*MIGRATIONS[: min(n, 8)], *SETTINGS))
    with open_store(address, min_documents=1) as old:
        for statement in WITHOUT_TEXTS if n < 9 else WITHOUT_ORDER:
            # Not as a change of the store, for which the first steps have no tables.
            old._database._execute(statement)
    use(monkeypatch, MIGRATIONS)
    fill(address)
    with open_store(address) as store:
        store.save("model", b"x")
        assert store.settings.min_documents == 1
        assert store.check().ok
        assert documents(store) == {"a": {"x": 2, "y": 1}}


def test_a_store_from_before_texts(address: str) -> None:
    """Nothing is known of how its documents came by their times; it goes on without texts."""
    with open_store(address, min_documents=1) as old:
        old.append([Record("a", ["x"], 5.0), Record("b", ["x"])])
        execute(old, *WITHOUT_TEXTS)
    with open_store(address) as store:
        store.append([Record("c", ["x"], text="new")])
        found = store.read(["a", "b", "c"])
        assert found.times is not None and found.times[0] == 5.0
        assert found.arrival is not None and found.arrival.tolist() == [False, False, True]
        assert store.settings.keep_text == 0 and store.texts(["c"]) == {}
        store.append([Record("b", ["x"], replace=True)])
        assert store.read(["b"]).arrival == [True]
        assert store.check().ok


def test_what_an_older_version_saved_has_a_version(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what it saves when a newer one has brought the store up to date that it has open."""
    monkeypatch.setattr(saved_bytes, "_PART", 3)
    names = [step.name for step in MIGRATIONS]
    use(monkeypatch, (*MIGRATIONS[: names.index("0005_saved_version")], *SETTINGS))
    with open_store(address) as old:
        old.save("model", b"many parts")
        old.save("model", b"parts again")
        old.save("empty", b"")
        use(monkeypatch, MIGRATIONS)
        with open_store(address) as store:
            versions = [store.saved_version(name) for name in ("model", "empty", "nobody's")]
            assert versions == [1, 1, None]
            for version in range(2, 6):
                (old if version % 2 else store).save("model", b"some parts %d" % version)
                assert store.saved_version("model") == version
                assert store.load("model") == old.load("model") == b"some parts %d" % version
            old.save("new", b"")
            assert store.saved_version("new") == 1
            assert store.check().ok


def test_a_newer_store_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, (*MIGRATIONS, EXTRA))
    fill(address)
    use(monkeypatch, MIGRATIONS)
    with pytest.raises(StoreError, match=r"newer version of trustream.*9999_extra.*upgrade"):
        open_store(address)


def test_a_step_that_fails_leaves_nothing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(address)
    use(monkeypatch, (*MIGRATIONS, BROKEN))
    with pytest.raises(StoreError, match=r"could not be (changed|opened)"):
        open_store(address)
    use(monkeypatch, (*MIGRATIONS, EXTRA))
    with open_store(address) as store:
        assert documents(store) == {"a": {"x": 2, "y": 1}}
        execute(store, "INSERT INTO extra VALUES (1)")


def test_a_new_store_whose_making_fails_can_be_made_again(
    new_address: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = new_address()
    use(monkeypatch, (*MIGRATIONS, BROKEN))
    with pytest.raises(StoreError):
        open_store(address)
    use(monkeypatch, MIGRATIONS)
    fill(address)


def test_names_are_in_order_and_different() -> None:
    names = [step.name for step in MIGRATIONS]
    assert names == sorted(set(names))
