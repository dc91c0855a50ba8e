"""The state of a random generator as JSON and back, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def generator_to_json(generator: np.random.Generator) -> dict[str, Any]:
    """Return all that decides the future of ``generator`` as JSON values.

    Python's JSON keeps integers of any length, so PCG64's 128 bits stand as they are. The seed
    sequence is kept too, because ``generator.spawn`` draws from it and not from the state.

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
    if name not in _BIT_GENERATORS:
        raise ValueError(
            f"cannot save a random generator of type {name}; expected one of "
            f"{', '.join(_BIT_GENERATORS)}"
        )
    return {
        "state": _encode(bit_generator.state),
        "seed_sequence": _encode_seed_sequence(bit_generator),
    }


def generator_from_json(value: dict[str, Any]) -> np.random.Generator:
    """Return a generator that goes on exactly where the one given to `generator_to_json` was.

    Examples
    --------
    >>> generator = np.random.Generator(np.random.MT19937(5))
    >>> again = generator_from_json(generator_to_json(generator))
    >>> bool((generator.random(1000) == again.random(1000)).all())
    True
    """
    state = _decode(value["state"])
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ValueError(
            f"unknown random generator {name!r}; expected one of {', '.join(_BIT_GENERATORS)}"
        )
    saved = value["seed_sequence"]
    # Without a saved one any seed will do: the state replaces what it gives.
    seed_sequence = np.random.SeedSequence(**(saved or {"entropy": 0}))
    bit_generator = getattr(np.random, name)(seed_sequence)
    bit_generator.state = state
    return np.random.Generator(bit_generator)


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


def _decode(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"dtype", "values"}:
        return np.array(value["values"], dtype=value["dtype"])
    if isinstance(value, dict):
        return {key: _decode(item) for key, item in value.items()}
    return value
