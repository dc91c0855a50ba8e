"""Start Ray on this machine, or join the cluster that is running."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from trustream.cluster.addresses import Address, check_answers, is_same_place, parse_address
from trustream.cluster.errors import ClusterError
from trustream.kernels import threads

# Nothing is sent to Ray's makers, and its warnings about other people's hardware are not shown.
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray_module() -> Any:
    """Ray, imported when it is first needed.

    Raises:
        ClusterError: it is not installed.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ClusterError(
            f"a cluster needs Ray ({error}): pip install 'trustream[cluster]'"
        ) from error
    return ray


class _Users:
    """How many contexts use the Ray that one of them has started or joined."""

    def __init__(self) -> None:
        self._lock, self._n = threading.Lock(), 0

    def enter(self, ray: Any, address: Address, options: dict[str, Any]) -> bool:
        """Start or join Ray if it does not run; whether `leave` is to be called."""
        with self._lock:
            if not ray.is_initialized():
                self._n = 0
                _start(ray, address, options)
            else:
                _check_same(ray, address)
                if not self._n:
                    return False  # somebody else's, which stays when we go
            self._n += 1
            return True

    def leave(self, ray: Any) -> None:
        """The last one ends it."""
        with self._lock:
            self._n -= 1
            if self._n == 0:
                ray.shutdown()


_USERS = _Users()


@contextmanager
def connected(
    address: Address | str, *, n_cpus: int | None = None, object_store_bytes: int | None = None
) -> Iterator[Any]:
    """Ray, for as long as the context lasts.

    If this process is connected to a cluster already, that cluster is used, and the process stays
    connected afterwards. Of several contexts at once the last one ends the connection.

    Args:
        address: of the cluster; "local" starts Ray here and ends it afterwards.
        n_cpus: of a Ray that is started here; None is all cores.
        object_store_bytes: memory for shared arrays of a Ray that is started here; None is Ray's
            own choice, 30 % of the memory.

    Raises:
        ClusterError: Ray is not installed, cannot be started, nobody answers at the address, or
            this process is connected to a cluster at another one.
    """
    if isinstance(address, str):
        address = parse_address(address)
    ray = ray_module()
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address.is_local:
        options |= {
            # Another cluster's address in the environment is not meant.
            "address": "local",
            "num_cpus": n_cpus or threads.available_cores(),
            "include_dashboard": False,
            "object_store_memory": object_store_bytes,
        }
    else:
        options["address"] = address.ray
    is_ours = _USERS.enter(ray, address, options)
    try:
        yield ray
    finally:
        if is_ours:
            _USERS.leave(ray)


def _start(ray: Any, address: Address, options: dict[str, Any]) -> None:
    if not address.is_local:
        # Ray itself would wait for minutes.
        check_answers(address)
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        what = "Ray could not be started on this machine"
        if not address.is_local:
            what = f"no cluster answers at {address}: start one (ray start --head), or see to it"
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise ClusterError(f"{what} ({said[0]:.300})") from error
    except BaseException:
        # An interrupt may come when some of Ray's processes run already.
        with suppress(Exception):
            ray.shutdown()
        raise


def _check_same(ray: Any, address: Address) -> None:
    """Refuse the address of another cluster than the one that this process is connected to."""
    if address.ray in (None, "auto"):
        return
    there = str(ray.get_runtime_context().gcs_address)
    if not is_same_place(there, str(address)):
        raise ClusterError(
            f"this process is connected to the cluster at {there}, and {address} is another one: "
            "end the connection first (ray.shutdown(), or the end of `connected`), or use another "
            "process"
        )
