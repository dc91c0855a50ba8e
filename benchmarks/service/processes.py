"""Services in processes of their own, which can be killed."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T], seconds: float = 120.0) -> T:
    """Wait for something that is true, and return it."""
    end = time.monotonic() + seconds
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} seconds in vain")
        time.sleep(0.02)


class ServiceProcess:
    """`trustream serve` on a free port, or always on the same one."""

    def __init__(self, store: str, log: Path, *options: str, port: int = 0) -> None:
        self.store, self.log, self.options, self.port = store, log, options, port
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [sys.executable, "-m", "trustream", "serve", self.store, "--port",
                   str(self.port), *self.options]  # fmt: skip
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        found = until(lambda: self._address(before))
        self.port = int(found.rpartition(":")[2])

    def _address(self, before: int) -> str | None:
        text = self.log.read_bytes()[before:].decode()
        assert self.process is not None
        found = re.search(r"serving at (http://\S+)", text)
        if found is None:
            if self.process.poll() is not None:
                raise RuntimeError(text)
            return None
        return found[1]

    @property
    def address(self) -> str:
        """Of the service."""
        return f"http://127.0.0.1:{self.port}"

    def connection(self) -> http.client.HTTPConnection:
        """A connection that asks and answers."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def kill(self) -> None:
        """Kill it."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as a service manager does; its status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def children(self, module: str = "training_child") -> list[int]:
        """Its trainer, if it has one; or its process that computes (`compute_child`)."""
        assert self.process is not None
        return [pid for pid in children(self.process.pid) if module in command_of(pid)]


def command_of(pid: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def lives(pid: int) -> bool:
    """Whether a process is there, and not only its exit status."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pids: Sequence[int]) -> None:
    """Kill processes that may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
