"""Services in processes of their own, which can be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.service.clients import until


class ServiceProcess:
    """`trustream serve` on a free port, or always on the same one."""

    def __init__(self, store: str, log: Path, *options: str, port: int = 0) -> None:
        self.store, self.log, self.options, self.port = store, log, options, port
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> None:
        command = [sys.executable, "-m", "trustream", "serve", self.store, "--port",
                   str(self.port), *self.options]  # fmt: skip
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        if not wait:
            return
        found = until(lambda: self._address(before))
        self.port = int(found.rpartition(":")[2])

    def _address(self, before: int) -> str | None:
        text = self.log.read_bytes()[before:].decode()
        assert self.process is not None
        found = re.search(r"serving at (http://\S+)", text)
        if found is None:
            assert self.process.poll() is None, text
            return None
        return found[1]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=60, trust_env=False)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as a service manager does; its status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def children(self) -> list[int]:
        assert self.process is not None
        return children(self.process.pid)


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
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
