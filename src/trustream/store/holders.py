"""Who holds a lease: a process that can be told from all others, and be found dead."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import uuid
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path

_PROC = Path("/proc")
# Holders of this process that somebody still has, by their keys. Weak references have no
# callbacks, in which an interrupt would be swallowed.
_HERE: dict[str, weakref.ref[Holder]] = {}


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Holder:
    """A process that holds something, or a part of one.

    Attributes:
        host: name of its machine.
        pid: process id there.
        started: when the process started, by whatever tells processes with one id apart; "" if
            that cannot be found out.
        boot: the machine and its last start; "" if that cannot be found out.
        space: within which process ids are unique, for example a container.
        key: tells holders of one process apart.

    >>> holder = Holder.here()
    >>> holder.is_dead(), Holder.from_json(holder.to_json()) == holder
    (False, True)
    """

    host: str
    pid: int
    started: str
    boot: str
    space: str
    key: str

    @classmethod
    def here(cls) -> Holder:
        """A new one in this process, which lives until nobody has it any more."""
        pid = os.getpid()
        host, key = socket.gethostname(), uuid.uuid4().hex
        holder = cls(host, pid, _started(pid) or "", _boot(), _space(), key)
        for gone in [key for key, found in list(_HERE.items()) if found() is None]:
            _HERE.pop(gone, None)
        _HERE[key] = weakref.ref(holder)
        return holder

    def retire(self) -> None:
        """Let others of this process know that it holds nothing any more."""
        _HERE.pop(self.key, None)

    def is_dead(self, *, one_machine: bool = False) -> bool:
        """Whether it certainly holds nothing any more; False if that cannot be known here.

        Args:
            one_machine: whether it can only have run on this machine, so that it has ended if
                that was before the machine's last start.
        """
        boot = _boot()
        if one_machine and self.boot and boot and self.boot != boot:
            return True
        # A machine may change its name.
        is_here = self.boot == boot if boot else self.host == socket.gethostname()
        if not is_here or self.space != _space():
            return False
        if self.pid == os.getpid() and self.started in ("", _started(self.pid)):
            found = _HERE.get(self.key)
            return found is None or found() is None
        started = _started(self.pid)
        return started is None or ("" not in (started, self.started) and started != self.started)

    def to_json(self) -> str:
        """As text for a table."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Holder:
        """What `to_json` gave.

        Raises:
            ValueError: it is something else.

        >>> Holder.from_json("[]")
        Traceback (most recent call last):
        ...
        ValueError: the holder is not a process with its fields
        """
        try:
            holder = cls(**json.loads(text))
        except (TypeError, ValueError, RecursionError):
            raise ValueError("the holder is not a process with its fields") from None
        values = asdict(holder)
        if type(values.pop("pid")) is not int or not all(type(v) is str for v in values.values()):
            raise ValueError("the holder has fields of wrong types")
        return holder

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def _started(pid: int) -> str | None:
    """When a process started; None if there is no such process, "" if that is not known."""
    if os.name != "posix":
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # it is somebody else's
    return _started_on_linux(pid) if sys.platform.startswith("linux") else _started_by_ps(pid)


def _started_on_linux(pid: int) -> str | None:
    try:
        # The name of the program, in brackets, may contain anything.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""  # it is there, but hidden, or it has ended at this moment
    # A process that has ended and that nobody has asked about yet still has an entry.
    return None if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str:
    asked = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _space() -> str:
    try:
        return os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return ""


def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
