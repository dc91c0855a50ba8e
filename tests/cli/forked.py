"""Commands in processes of their own, forked from one Python that has loaded what they need.

Loading takes far longer than most commands do. What a process does about its arguments, streams,
signals and exit code is the same as in one that starts anew; what depends on the start of Python
itself, as encodings or streams that are closed, is not for here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Answers a line of JSON, [arguments, folder, environment, two files], with an exit code.
_SERVER = """
import gc, json, os, sys
import trustream.cli, trustream.estimators, trustream.streaming.fitted_models
from trustream.__main__ import main
gc.freeze()  # else each process looks for garbage in all of it when it ends
for line in sys.stdin:
    arguments, folder, environment, *files = json.loads(line)
    pid = os.fork()
    if pid == 0:
        for descriptor, file in enumerate([os.devnull, *files]):
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC if descriptor else os.O_RDONLY
            os.dup2(os.open(file, flags), descriptor)
        os.chdir(folder)
        os.environ.update(environment)
        sys.argv = ["trustream", *arguments]
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class ForkingCommands:
    """Runs commands one after the other; `folder` is for what they print."""

    def __init__(self, folder: Path) -> None:
        self._files = folder / "out", folder / "err"
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"},
        )

    def run(
        self, *arguments: object, folder: Path, **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        """What a command says that is called in a folder, its output redirected to two files."""
        assert self._process.stdin is not None and self._process.stdout is not None
        words = [str(argument) for argument in arguments]
        call = [words, str(folder), environment, *map(str, self._files)]
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        printed, said = (file.read_bytes() for file in self._files)
        return subprocess.CompletedProcess(words, code, printed, said)

    def close(self) -> None:
        """End it; commands that were run have ended."""
        self._process.communicate(timeout=60)
