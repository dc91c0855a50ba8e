"""How texts become words is kept by the store, on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.store.contents_of import documents
from tests.store.faulty import execute
from trustream.store import Record, StoreError, migrations, open_store
from trustream.store.migrations import MIGRATIONS
from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import CustomTokeniser, Specification

OTHER = Tokeniser(r"[\w'-]+", min_length=1, stop_words=["été", "\\"], lower=False)


def test_kept_and_changed(address: str) -> None:
    with open_store(address) as store:
        assert store.tokeniser() is None
        assert store.set_tokeniser(OTHER) == OTHER == store.tokeniser()
    with open_store(address) as store:
        assert store.tokeniser() == OTHER
        assert store.set_tokeniser(CustomTokeniser("a.b")) == CustomTokeniser("a.b")
        assert store.check().ok
    with open_store(address) as store:
        assert store.tokeniser() == CustomTokeniser("a.b")


def test_only_if_it_is_what_one_thinks(address: str) -> None:
    with open_store(address) as store:
        assert store.set_tokeniser(OTHER, before=Tokeniser()) is None
        assert store.tokeniser() is None
        assert store.set_tokeniser(OTHER, before=None) == OTHER
        assert store.set_tokeniser(Tokeniser(), before=None) == OTHER == store.tokeniser()
        assert store.set_tokeniser(Tokeniser(), before=OTHER) == Tokeniser() == store.tokeniser()


def test_of_many_at_once_one_is_kept(address: str) -> None:
    many = [Tokeniser(min_length=n) for n in range(1, 9)]
    open_store(address).close()
    seen: list[Specification | None] = []
    together = threading.Barrier(len(many))

    def propose(tokeniser: Tokeniser) -> None:
        with open_store(address) as store:
            together.wait()
            seen.append(store.set_tokeniser(tokeniser, before=None))

    threads = [threading.Thread(target=propose, args=(tokeniser,)) for tokeniser in many]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_store(address) as store:
        assert seen == [store.tokeniser()] * len(many)


def test_given_when_it_is_opened(new_address: Callable[[], str]) -> None:
    address = new_address()
    with open_store(address, tokeniser=OTHER) as store:
        assert store.tokeniser() == OTHER
    with open_store(address) as store:
        assert store.tokeniser() == OTHER
    open_store(address, tokeniser=Tokeniser.from_dict(OTHER.to_dict())).close()
    with pytest.raises(StoreError, match=r"splits texts in another way .*min_length 1, not 3"):
        open_store(address, tokeniser=tokenise)
    with pytest.raises(ValueError, match="of type int, expected a Tokeniser"):
        open_store(address, tokeniser=3)  # type: ignore[arg-type]


def test_a_store_of_an_earlier_version(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        before = tuple(step for step in MIGRATIONS if step.name != "0007_tokeniser")
        patched.setattr(migrations, "MIGRATIONS", before)
        with open_store(address, min_documents=1) as store:
            store.append([Record("a", ["x"])])
    with open_store(address) as store:
        assert store.tokeniser() is None and store.settings.min_documents == 1
        store.set_tokeniser(OTHER)
        assert store.tokeniser() == OTHER and documents(store) == {"a": {"x": 1}}


@pytest.mark.parametrize("value", ["", "[]", "{", '{"pattern": "("}', "[" * 100_000])
def test_damage_is_told_and_can_be_replaced(address: str, value: str) -> None:
    with open_store(address) as store:
        execute(store, f"UPDATE settings SET tokeniser = '{value}'")
        with pytest.raises(StoreError, match="keeps a tokeniser that cannot be read"):
            store.tokeniser()
        store.set_tokeniser(OTHER)
        assert store.tokeniser() == OTHER
