"""Where a cluster is."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HOST_PORT = re.compile(r"[A-Za-z0-9_.\-]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where Ray is, as `parse_address` understood it.

    Attributes:
        ray: what Ray takes, "auto" or "host:port"; None starts Ray on this machine.
    """

    ray: str | None

    @property
    def is_local(self) -> bool:
        """Whether Ray is started here, and ended afterwards."""
        return self.ray is None

    def __str__(self) -> str:
        return self.ray or "local"


def parse_address(text: str) -> Address:
    """Read the address of a cluster.

    Args:
        text: "local" starts Ray on this machine; "auto" is the cluster that this machine is a node
            of; "host:port" is that of the head node.

    >>> parse_address("local").is_local, parse_address("10.0.0.7:6379").ray
    (True, '10.0.0.7:6379')
    >>> parse_address("ray://10.0.0.7:10001")
    Traceback (most recent call last):
    ...
    ValueError: 'ray://10.0.0.7:10001' is an address of Ray's client, through which all data would \
pass twice: run this on a node of the cluster (ray exec, ray job submit) and give "auto"

    Raises:
        ValueError: it is no such address.
    """
    given = text.strip() if isinstance(text, str) else text
    if not isinstance(given, str):
        raise ValueError(f'the address of a cluster is {text!r}: give "local", "auto" or host:port')
    if given in ("local", "auto"):
        return Address(None if given == "local" else "auto")
    if given.startswith("ray://"):
        raise ValueError(
            f"{given!r} is an address of Ray's client, through which all data would pass twice: "
            'run this on a node of the cluster (ray exec, ray job submit) and give "auto"'
        )
    if not _HOST_PORT.fullmatch(given) or int(given.rpartition(":")[2]) > 65535:
        raise ValueError(
            f'{given!r} is no address of a cluster: give "local" to start Ray on this machine, '
            '"auto" for the cluster that this machine belongs to, or host:port of its head node'
        )
    return Address(given)
