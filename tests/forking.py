"""Processes of Python that need not load trustream: they are forked from one that has loaded it.

Loading takes some seconds, far longer than most of what tests do in other processes. What such a
process does about signals, streams, files and its end is what one does that was started anew. What
depends on the start of Python itself is not for here: encodings, closed streams, what is loaded.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from select import select
from typing import IO

# Each message is a line of JSON, and with it come the three standard streams and a pipe. A process
# in between writes the new one's id to the pipe, and its exit code when it has ended.
_SERVER = """
import gc, json, os, signal, socket, sys
import trustream.cli, trustream.estimators, trustream.streaming.fitted_models
from trustream.__main__ import main
control = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
gc.freeze()  # else each process looks for garbage in all of it when it ends
if os.fork():
    os._exit(0)  # nobody's child: tests look at those of their own process
while True:
    message, streams, _, _ = socket.recv_fds(control, 1 << 20, 4)
    while message and not message.endswith(b"\\n"):
        message += control.recv(1 << 20)
    if not message or os.fork() == 0:
        break
    for stream in streams:
        os.close(stream)
if not message:
    os._exit(0)
control.close()
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
report = streams.pop()
pid = os.fork()
if pid:
    for stream in streams:
        os.close(stream)
    os.write(report, f"{pid}\\n".encode())
    os.write(report, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\\n".encode())
    os._exit(0)
os.close(report)
for descriptor, stream in enumerate(streams):
    os.dup2(stream, descriptor)
    os.close(stream)
sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)
for name in ("stdin", "stdout", "stderr"):
    getattr(sys, name).buffer.raw.name = f"<{name}>"
given = json.loads(message)
os.chdir(given["folder"])
os.environ.clear()
os.environ.update(given["environment"])
sys.argv = ["trustream" if given["code"] is None else "-c", *given["arguments"]]
if given["code"] is None:
    main()
else:
    exec(compile(given["code"], "<string>", "exec"), {"__name__": "__main__"})
"""


@functools.cache
def _server(process: int) -> socket.socket:
    """The connection to the process that forks for this one; it ends with the connection."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with its:
        # Output waits in Python's buffers, as it does for most users.
        env = {name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-c", _SERVER, str(its.fileno())]
        subprocess.run(command, pass_fds=[its.fileno()], env=env, check=True)
    return mine


class Forked:
    """A process like that of `subprocess.Popen`, with pipes for all its streams.

    Args:
        code: what it runs, as of `python -c`; None is the command line of trustream.
        arguments: of the code or of the command line.
        cwd, env: folder and environment; None are those of this process.
    """

    def __init__(
        self,
        code: str | None,
        *arguments: object,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        message = {
            "code": code,
            "arguments": [str(argument) for argument in arguments],
            "folder": os.getcwd() if cwd is None else str(cwd),
            "environment": dict(os.environ if env is None else env),
        }
        pipes = [os.pipe() for _ in range(4)]
        its = [pipes[0][0], *(pipe[1] for pipe in pipes[1:])]
        line, server = f"{json.dumps(message)}\n".encode(), _server(os.getpid())
        server.sendall(line[socket.send_fds(server, [line], its) :])
        for descriptor in its:
            os.close(descriptor)
        self.stdin: IO[str] = os.fdopen(pipes[0][1], "w")
        self.stdout: IO[str] = os.fdopen(pipes[1][0], errors="surrogateescape")
        self.stderr: IO[str] = os.fdopen(pipes[2][0], errors="surrogateescape")
        self._report = os.fdopen(pipes[3][0])
        self.pid = int(self._report.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None if it has not ended."""
        if self.returncode is None and select([self._report], [], [], 0)[0]:
            self.returncode = int(self._report.readline())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None and not select([self._report], [], [], timeout)[0]:
            raise TimeoutError(f"process {self.pid} has not ended after {timeout} seconds")
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, timeout: float | None = None, *, input: str = "") -> tuple[str, str]:
        """Give it the rest of its input and wait for its end; returns what it has written."""
        with ThreadPoolExecutor(3) as threads:
            out, err = threads.submit(self.stdout.read), threads.submit(self.stderr.read)
            threads.submit(self._give, input)
            try:
                self.wait(timeout)
            except TimeoutError:
                self.kill()
                raise
            return out.result(), err.result()

    def _give(self, text: str) -> None:
        with suppress(BrokenPipeError), self.stdin:
            self.stdin.write(text)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, unless it has ended."""
        self.send_signal(signal.SIGKILL)


def run_forked(
    code: str | None,
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300.0,
    input: str = "",
) -> subprocess.CompletedProcess[str]:
    """A process from its beginning to its end, as by `subprocess.run`."""
    process = Forked(code, *arguments, cwd=cwd, env=env)
    out, err = process.communicate(timeout, input=input)
    return subprocess.CompletedProcess([*map(str, arguments)], process.wait(), out, err)
