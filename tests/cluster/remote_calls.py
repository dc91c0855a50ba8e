"""Functions that tests have workers call; at the top level of a module, as calls need them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np


def double(worker: Any, x: Any) -> Any:
    return 2 * x


def pid(worker: Any) -> int:
    return os.getpid()


def die_once(worker: Any, flag: str) -> str:
    """End the worker's process the first time that it is called with the flag."""
    path = Path(flag)
    if not path.exists():
        path.write_text("here")
        os._exit(1)
    return "alive"


def die(worker: Any) -> None:
    os._exit(1)


def fail(worker: Any) -> None:
    raise ValueError("wrong input")


def sleep_once(worker: Any, flag: str) -> str:
    """Dawdle the first time."""
    path = Path(flag)
    if not path.exists():
        path.write_text("here")
        time.sleep(3600)
    return "awake"


def sleep_first(worker: Any, folder: str, n: int) -> str:
    """Dawdle the first n times."""
    mine = len(list(Path(folder).iterdir()))
    Path(folder, f"{mine}-{os.getpid()}").write_text("here")
    if mine < n:
        time.sleep(3600)
    return "awake"


def nap(worker: Any, seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def slowly(worker: Any, n: int, seconds: float) -> Any:
    """A large result after some time."""
    time.sleep(seconds)
    return np.ones(n)


class Poison:
    """A source that ends the process which unpacks it."""

    name, only_here = "poison", False

    def __reduce__(self) -> Any:
        return os._exit, (1,)

    def open(self) -> Any:
        raise AssertionError("it was never unpacked")


def read(worker: Any, numbers: Any) -> Any:
    documents, _ = worker.source.read(np.asarray(numbers))
    return documents.keys, documents.counts.sum()


def large(worker: Any, n: int) -> Any:
    return np.ones(n)


def noted(worker: Any, folder: str) -> Any:
    """A large result; each call leaves a file."""
    Path(folder, str(time.time_ns())).write_text("here")
    return np.ones(1000)


def lacks_it_once(worker: Any, flag: str, x: Any) -> Any:
    """The first time as if the argument had been lost with its node."""
    import ray

    path = Path(flag)
    if not path.exists():
        path.write_text("here")
        raise ray.exceptions.ObjectLostError("00", None, "")
    return x.sum()


def no_room(worker: Any) -> None:
    """What Ray raises where a result does not fit into shared memory."""
    import ray

    raise ray.exceptions.ObjectStoreFullError("there is no room for 10 bytes")
