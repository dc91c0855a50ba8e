"""The registry of algorithms: the only place that lists them.

To add one, write a file in `trustream.inference` with its pure step and an
`~trustream.inference.algorithm.Algorithm`, and add a line to `ALGORITHMS`. Estimators, trainers and
commands then take its name.
"""

from __future__ import annotations

from collections.abc import Callable

from trustream.inference.algorithm import Algorithm
from trustream.inference.batch import BatchVB
from trustream.inference.memoized import Memoized
from trustream.inference.memory_format import MemoryFormat
from trustream.inference.natural_gradient import NaturalGradient
from trustream.inference.streaming_batch import StreamingBatch
from trustream.inference.streaming_vb import StreamingVB
from trustream.inference.trust_region import TrustRegion

ALGORITHMS: list[Algorithm] = [
    TrustRegion(),
    NaturalGradient(),
    BatchVB(),
    StreamingVB(),
    StreamingBatch(),
    Memoized(),
]


def names() -> list[str]:
    """Every name that `get` takes, aliases included.

    >>> names()[:3]
    ['trust-region', 'natural-gradient', 'online']
    """
    return [name for algorithm in ALGORITHMS for name in (algorithm.name, *algorithm.aliases)]


def streaming() -> list[str]:
    """Names of the algorithms that can learn from a store that grows.

    >>> streaming()
    ['trust-region', 'natural-gradient', 'streaming-vb', 'streaming-batch']
    """
    return [algorithm.name for algorithm in ALGORITHMS if algorithm.data != "all"]


def choice(accepts: Callable[[Algorithm], bool], quote: str = "") -> str:
    """Names of the algorithms that are accepted, for messages that say what to use.

    >>> choice(lambda algorithm: algorithm.takes_parts)
    'trust-region, natural-gradient or streaming-vb'
    >>> print(choice(lambda algorithm: algorithm.data == "batches", quote='"'))
    "trust-region" or "natural-gradient"
    """
    found = [f"{quote}{algorithm.name}{quote}" for algorithm in ALGORITHMS if accepts(algorithm)]
    return " or ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


def memories() -> dict[str, MemoryFormat]:
    """What algorithms keep beside lambda, by the name in a file.

    >>> list(memories())
    ['Averages', 'Draws']
    """
    found: dict[str, MemoryFormat] = {}
    for algorithm in ALGORITHMS:
        if algorithm.memory is not None:
            found.setdefault(algorithm.memory.memory_type.__name__, algorithm.memory)
    return found


def get(name: str) -> Algorithm:
    """The algorithm of that name.

    >>> get("online").name
    'natural-gradient'

    Raises:
        ValueError: there is none of that name.
    """
    for algorithm in ALGORITHMS:
        if name in (algorithm.name, *algorithm.aliases):
            return algorithm
    raise ValueError(f"there is no algorithm {name!r}: use one of {', '.join(names())}")
