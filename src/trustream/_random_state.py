"""Convert the state of a random generator to JSON and back, without loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trustream._schema import Rule, check_values, integer, mapping, one_of, optional, shown, text

_HALF = {"has_uint32": integer(0, 1), "uinteger": integer(0, 2**32 - 1)}
_PCG = {"state": integer(0, 2**128 - 1), "inc": integer(0, 2**128 - 1)}


class _Kind(NamedTuple):
    """Rules for the state of one kind of generator.

    NumPy does not check positions and sizes, and reads outside its memory where they are wrong, so
    they are checked here.

    Attributes:
        state: rules for numbers of the inner state.
        arrays: types and lengths of arrays of the inner state.
        rest: rules for numbers beside the inner state.
        outer: types and lengths of arrays beside the inner state.
    """

    state: dict[str, Rule]
    arrays: dict[str, tuple[str, int]]
    rest: dict[str, Rule]
    outer: dict[str, tuple[str, int]] = {}


_KINDS = {
    "MT19937": _Kind({"pos": integer(0, 624)}, {"key": ("uint32", 624)}, {}),
    "PCG64": _Kind(_PCG, {}, _HALF),
    "PCG64DXSM": _Kind(_PCG, {}, _HALF),
    "Philox": _Kind(
        {},
        {"counter": ("uint64", 4), "key": ("uint64", 2)},
        {"buffer_pos": integer(0, 4), **_HALF},
        {"buffer": ("uint64", 4)},
    ),
    "SFC64": _Kind({}, {"state": ("uint64", 4)}, _HALF),
}
_SEED_SEQUENCE = {
    "entropy": Rule(
        lambda value: _is_integer(value) or _are_integers(value), "integers of at least 0"
    ),
    "spawn_key": Rule(lambda value: _are_integers(value), "a list of integers of at least 0"),
    # NumPy uses 4; larger pools take memory and time.
    "pool_size": integer(4, 1024),
    "n_children_spawned": integer(0, 2**32 - 1),
}


def generator_to_json(generator: np.random.Generator) -> dict[str, Any]:
    """Return the full state of ``generator`` as JSON values.

    Python's JSON keeps integers of any length, so PCG64's 128 bits are kept as integers. The seed
    sequence is included, because ``generator.spawn`` uses it and not the state.

    Examples
    --------
    >>> import json
    >>> first = np.random.default_rng(0)
    >>> text = json.dumps(generator_to_json(first))
    >>> second = generator_from_json(json.loads(text))
    >>> bool(first.random() == second.random())
    True
    """
    bit_generator = generator.bit_generator
    name = type(bit_generator).__name__
    if name not in _KINDS:
        raise ValueError(
            f"cannot save a random generator of type {name}; expected one of {', '.join(_KINDS)}"
        )
    return {
        "state": _encode(bit_generator.state),
        "seed_sequence": _encode_seed_sequence(bit_generator),
    }


def generator_from_json(value: dict[str, Any]) -> np.random.Generator:
    """Return a generator that continues exactly like the one given to `generator_to_json`.

    Examples
    --------
    >>> generator = np.random.Generator(np.random.MT19937(5))
    >>> again = generator_from_json(generator_to_json(generator))
    >>> bool((generator.random(1000) == again.random(1000)).all())
    True
    """
    check_values(value, {"state": mapping, "seed_sequence": optional(mapping)}, "a generator")
    state = _decoded(value["state"])
    saved = value["seed_sequence"]
    if saved is not None:
        check_values(saved, _SEED_SEQUENCE, "a seed sequence")
    # Without a saved one any seed will do, because the state is replaced.
    seed_sequence = np.random.SeedSequence(**(saved or {"entropy": 0}))
    bit_generator = getattr(np.random, state["bit_generator"])(seed_sequence)
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def _decoded(state: dict[str, Any]) -> dict[str, Any]:
    """A generator's state with arrays in place of their JSON values, validated."""
    name = state.get("bit_generator")
    if not isinstance(name, str) or name not in _KINDS:
        raise ValueError(
            f"unknown random generator {shown(name)}; expected one of {', '.join(_KINDS)}"
        )
    kind = _KINDS[name]
    rules = {**kind.rest, "bit_generator": text, "state": mapping}
    rules |= dict.fromkeys(kind.outer, mapping)
    check_values(state, rules, f"the state of {name}")
    inner = state["state"]
    check_values(inner, {**kind.state, **dict.fromkeys(kind.arrays, mapping)}, f"{name}")
    inner = inner | {key: _array(inner[key], *of) for key, of in kind.arrays.items()}
    outer = {key: _array(state[key], *of) for key, of in kind.outer.items()}
    return {**state, **outer, "state": inner}


def _array(value: dict[str, Any], dtype: str, size: int) -> np.ndarray:
    """The array of this type and length that `_encode` encoded."""
    highest = int(np.iinfo(dtype).max)
    rules = {"dtype": one_of([dtype]), "values": Rule(lambda found: True, "a list")}
    check_values(value, rules, "an array")
    if not (_are_integers(value["values"], highest) and len(value["values"]) == size):
        raise ValueError(f"expected {size} integers from 0 to {highest}")
    return np.array(value["values"], dtype=dtype)


def _is_integer(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_integers(value: Any, highest: int | None = None) -> bool:
    return isinstance(value, list) and all(
        _is_integer(item) and (highest is None or item <= highest) for item in value
    )


def _encode_seed_sequence(bit_generator: np.random.BitGenerator) -> dict[str, Any] | None:
    """Return the seed sequence, or None where there is none (a generator of the legacy kind)."""
    sequence = getattr(bit_generator, "seed_seq", None)
    if not isinstance(sequence, np.random.SeedSequence):
        return None
    entropy: Any = sequence.entropy
    return {
        "entropy": entropy
        if isinstance(entropy, int)
        else [int(part) for part in np.ravel(entropy)],
        "spawn_key": [int(key) for key in sequence.spawn_key],
        "pool_size": int(sequence.pool_size),
        "n_children_spawned": int(sequence.n_children_spawned),
    }


def _encode(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "values": value.tolist()}
    return int(value) if isinstance(value, np.integer) else value
