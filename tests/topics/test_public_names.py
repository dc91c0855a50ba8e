"""The names that `trustream.topics` offers."""

from __future__ import annotations

import pytest

from trustream import topics


def test_every_public_name_is_there_and_has_a_home() -> None:
    homes = [name for names in topics._HOME.values() for name in names]
    assert sorted(topics.__all__) == sorted([*homes, *topics._MODULES])
    for name in topics.__all__:
        assert getattr(topics, name).__doc__, name
    assert {*topics.__all__} <= {*dir(topics)}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = topics.nothing  # type: ignore[attr-defined]
