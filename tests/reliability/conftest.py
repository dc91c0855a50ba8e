"""Stores on both databases, as in `tests/store`."""

from __future__ import annotations

from tests.store.conftest import address, file, new_address

__all__ = ["address", "file", "new_address"]
