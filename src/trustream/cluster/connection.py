"""Start Ray on this machine, or join the cluster that is running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trustream.cluster.addresses import Address, parse_address
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


@contextmanager
def connected(
    address: Address | str, *, n_cpus: int | None = None, object_store_bytes: int | None = None
) -> Iterator[Any]:
    """Ray, for as long as the context lasts.

    If this process is connected to a cluster already, it stays so afterwards, and that cluster is
    used.

    Args:
        address: of the cluster; "local" starts Ray here and ends it afterwards.
        n_cpus: of a Ray that is started here; None is all cores.
        object_store_bytes: memory for shared arrays of a Ray that is started here; None is Ray's
            own choice, 30 % of the memory.

    Raises:
        ClusterError: Ray is not installed, cannot be started, or nobody answers at the address.
    """
    if isinstance(address, str):
        address = parse_address(address)
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address.is_local:
        options |= {
            "num_cpus": n_cpus or threads.available_cores(),
            "include_dashboard": False,
            "object_store_memory": object_store_bytes,
        }
        # Another cluster's address in the environment is not meant.
        options["address"] = "local"
    else:
        options["address"] = address.ray
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        what = "Ray could not be started on this machine"
        if not address.is_local:
            what = f"no cluster answers at {address}: start one (ray start --head), or see to it"
        raise ClusterError(f"{what} ({str(error).strip().splitlines()[0]:.300})") from error
    try:
        yield ray
    finally:
        ray.shutdown()
