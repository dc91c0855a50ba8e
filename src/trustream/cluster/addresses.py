"""Where a cluster is, and whether somebody answers there."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass

from trustream.cluster.errors import ClusterError

_HOST_PORT = re.compile(r"[A-Za-z0-9_.\-]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")
# Seconds to wait for an answer.
_PATIENCE = 10.0
# The first bytes of a connection in HTTP/2, which Ray speaks, and the kind of frame that answers.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
_SETTINGS = 4


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


def is_same_place(one: str, other: str) -> bool:
    """Whether two addresses host:port are those of the same place.

    >>> is_same_place("127.0.0.1:6379", "127.0.0.1:6379"), is_same_place("127.0.0.1:1", "h.:2")
    (True, False)
    """
    (host, port), (other_host, other_port) = _parts(one), _parts(other)
    if port != other_port:
        return False
    return host == other_host or bool(_numbers(host) & _numbers(other_host))


def check_answers(address: Address, patience: float = _PATIENCE) -> None:
    """See to it that some cluster may be at an address; that of "auto" only Ray knows.

    Args:
        address: "auto", or host:port.
        patience: seconds to wait for an answer.

    Raises:
        ClusterError: nobody answers, or somebody who does not speak as Ray does.
    """
    place = address.ray
    if place == "auto":
        place = os.environ.get("RAY_ADDRESS", "")
    if not place or not _HOST_PORT.fullmatch(place):
        return
    try:
        with socket.create_connection(_parts(place), timeout=patience) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return
            connection.sendall(_PREFACE)
            speaks = connection.recv(9)[3:4] == bytes([_SETTINGS])
    except OSError as error:
        raise ClusterError(
            f"no cluster answers at {place} ({error.strerror or error}): start one there (ray "
            "start --head --port PORT), or see to the address"
        ) from error
    if not speaks:
        raise ClusterError(
            f"what answers at {place} is no cluster of Ray: give host:port of its head node, as "
            "`ray start --head` says it"
        )


def _parts(place: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    return host.strip("[]"), int(port)


def _numbers(host: str) -> set[str]:
    """The numbers of a host; none if nobody knows it."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None)}
    except OSError:
        return set()
