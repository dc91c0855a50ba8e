"""The methods of a store that keep how its texts become words."""

from __future__ import annotations

import json
from types import EllipsisType

from trustream.store.call_guard import guarded
from trustream.store.errors import StoreError
from trustream.store.leased_store import LeasedStore
from trustream.tokenisers import Specification, from_dict


class TokeniserOfStore(LeasedStore):
    """A store in a database that keeps a tokeniser; see `Store`."""

    _name: str
    # As it is written, and what it says.
    _read_tokeniser: tuple[str | None, Specification | None] = None, None

    @guarded
    def tokeniser(self) -> Specification | None:
        database = self._database
        return self._parsed(database.run(lambda: database.tokeniser(), write=False))

    @guarded
    def set_tokeniser(
        self, tokeniser: Specification, *, before: Specification | EllipsisType | None = ...
    ) -> Specification | None:
        database, value = self._database, json.dumps(tokeniser.to_dict())

        def work() -> Specification | None:
            found = database.tokeniser(write=True)
            if before is not ... and (kept := self._parsed(found)) != before:
                return kept
            if found != value:
                database.put_tokeniser(value)
            return tokeniser

        return database.run(work, write=True)

    def _parsed(self, value: str | None) -> Specification | None:
        if value is None:
            return None
        if value == self._read_tokeniser[0]:
            return self._read_tokeniser[1]
        try:
            found = from_dict(json.loads(value))
        except (ValueError, RecursionError) as error:
            raise StoreError(
                f"{self._name} keeps a tokeniser that cannot be read ({error}); set it anew: "
                "trustream tokeniser STORE --default, with the options that it had"
            ) from error
        # Asked for before each transaction of a feed.
        self._read_tokeniser = value, found
        return found
