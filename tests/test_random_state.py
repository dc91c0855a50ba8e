"""The state of a random generator in a file."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustream import persist

NAMES = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


@pytest.mark.parametrize("name", NAMES)
def test_generator_round_trip(tmp_path: Path, name: str) -> None:
    generator = np.random.Generator(getattr(np.random, name)(12345))
    generator.integers(0, 9, size=3, dtype=np.uint32)  # leaves half a 64-bit word in the buffer
    generator.spawn(2)
    persist.write(tmp_path / "model", {}, {"random": persist.generator_to_json(generator)})
    again = persist.generator_from_json(persist.read(tmp_path / "model")[1]["random"])
    for rng in (generator, again):
        assert type(rng.bit_generator).__name__ == name
    assert (generator.integers(0, 9, 5, np.uint32) == again.integers(0, 9, 5, np.uint32)).all()
    assert (generator.gamma(0.5, size=2000) == again.gamma(0.5, size=2000)).all()
    [child], [other] = generator.spawn(1), again.spawn(1)
    assert (child.random(10) == other.random(10)).all()


def test_generator_of_the_legacy_kind() -> None:
    bit_generator = np.random.RandomState(7)._bit_generator
    generator = np.random.Generator(bit_generator)
    again = persist.generator_from_json(persist.generator_to_json(generator))
    assert (generator.random(1000) == again.random(1000)).all()


def test_generator_name_in_a_file_is_not_trusted() -> None:
    value = persist.generator_to_json(np.random.default_rng(0))
    value["state"]["bit_generator"] = "RandomState"
    with pytest.raises(ValueError, match="unknown random generator 'RandomState'"):
        persist.generator_from_json(value)


def damaged(name: str) -> list[dict[str, Any]]:
    """States that differ from a good one at one place each."""
    generator = np.random.Generator(getattr(np.random, name)(1))
    good = persist.generator_to_json(generator)
    found: list[dict[str, Any]] = []

    def spoil(inside: Any, path: tuple[Any, ...]) -> None:
        for key in list(inside) if isinstance(inside, dict) else range(min(2, len(inside))):
            where = (*path, key)
            for new in (None, -1, 2**200, 1.5, float("nan"), "x", [], {}, True, [0] * 10_000):
                # A generator of the legacy kind has no seed sequence, and any entropy will do.
                if where == ("seed_sequence",) and new is None:
                    continue
                if where[-1] == "entropy" and new in (2**200, []):
                    continue
                if (where[-1] == "spawn_key" and new == []) or new == [0] * 10_000:
                    continue
                bad = copy.deepcopy(good)
                place = bad
                for step in path:
                    place = place[step]
                place[key] = new
                found.append(bad)
            if isinstance(inside[key], dict | list):
                spoil(inside[key], where)

    spoil(good, ())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_damaged_states_are_refused(name: str) -> None:
    cases = damaged(name)
    assert len(cases) > 60
    for bad in cases:
        with pytest.raises(ValueError, match=r"expected|missing|unknown"):
            persist.generator_from_json(bad)


def test_positions_outside_the_state_are_refused() -> None:
    # NumPy takes them as they come, and draws what stands behind its memory.
    state = persist.generator_to_json(np.random.Generator(np.random.MT19937(1)))
    for position in (625, 10**6, -5):
        state["state"]["state"]["pos"] = position
        with pytest.raises(ValueError, match="expected an integer from 0 to 624"):
            persist.generator_from_json(state)
    state = persist.generator_to_json(np.random.Generator(np.random.Philox(1)))
    for position in (5, 10**6, -5):
        state["state"]["buffer_pos"] = position
        with pytest.raises(ValueError, match="expected an integer from 0 to 4"):
            persist.generator_from_json(state)
    state["state"]["buffer_pos"] = 4
    state["seed_sequence"]["pool_size"] = 10**9
    with pytest.raises(ValueError, match="pool_size"):
        persist.generator_from_json(state)


@pytest.mark.parametrize("value", [None, [], "x", {}, {"state": {}, "seed_sequence": None}])
def test_something_else_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|missing"):
        persist.generator_from_json(value)
