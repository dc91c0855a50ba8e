"""A trainer that is killed goes on from its last checkpoint, and ends where it would have ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import planted_lda
from trustream import StreamTrainer, open_store
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint

OPTIONS: dict[str, Any] = {"batch_size": 20, "score_every": 7}
N_STEPS = 300

# Imports once, then forks a trainer for every line it is sent: starting Python takes seconds, and
# what matters is where in its steps and checkpoints a trainer is hit. The line says how many steps
# it may take; a trainer that has taken them with work left waits to be killed.
SERVER = """
import os, signal, sys
from trustream import StreamTrainer, open_store
path, n_steps, options = sys.argv[1], int(sys.argv[2]), eval(sys.argv[3])
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        store = open_store(path, create=False)
        trainer = StreamTrainer(store, 3, checkpoint_every=0.0, n_jobs=1, **options)
        left = n_steps - trainer.n_steps
        trainer.run(steps=min(int(line), left))
        if int(line) < left:
            signal.pause()
        trainer.close()
        store.close()
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Server:
    """Trainers, one after the other, that can be killed."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", SERVER, str(path), str(N_STEPS), repr(OPTIONS)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, n_steps: int) -> int:
        """The process id of a new trainer, which takes at most so many steps."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{n_steps}\n")
        self._process.stdin.flush()
        return int(self._answer())

    def end(self) -> int:
        """Wait for the trainer; its exit code, -9 if it was killed."""
        return int(self._answer())

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def fill(path: Path) -> None:
    counts, _ = planted_lda(np.random.default_rng(0), 3, 40, 200, 25, 0.1, 0.1)
    rows = np.asarray(counts.toarray(), int)
    with open_store(path, min_documents=1, held_out=0.1) as store:
        store.append(
            Record(f"d{d}", {f"word{v}": int(n) for v, n in enumerate(row) if n}, float(d))
            for d, row in enumerate(rows)
        )


def steps_of(path: Path) -> int:
    with open_store(path, create=False) as store:
        checkpoint = load_checkpoint(store)
        return 0 if checkpoint is None else checkpoint.state.n_steps


def killed_run(path: Path, n_kills: int) -> int:
    """Kill trainers at random moments, then let one finish; how many were killed in a step."""
    rng = np.random.default_rng(0)
    at_work, window, before = 0, 0.1, 0
    # So many steps for each that there is work left for the last.
    n_steps = max(1, N_STEPS // (n_kills + 1))
    server = Server(path)
    for _ in range(n_kills):
        pid = server.start(n_steps)
        # A trainer takes some tens of milliseconds to begin, and a few for a step.
        time.sleep(float(rng.uniform(0.0, window)))
        os.kill(pid, signal.SIGKILL)
        assert server.end() == -signal.SIGKILL
        # Machines differ: each trainer should get some steps further, and none to its end.
        after = steps_of(path)
        at_work += after - before < n_steps
        window *= 1.5 if after == before else 0.7 if after - before == n_steps else 1.0
        before = after
    assert before > 0
    server.start(N_STEPS)
    assert server.end() == 0
    server.close()
    return at_work


def expected(path: Path) -> bytes:
    """The checkpoint of an uninterrupted run on the same documents."""
    fill(path)
    with open_store(path, create=False) as store:
        with StreamTrainer(store, 3, n_jobs=1, **OPTIONS) as trainer:
            trainer.run(steps=N_STEPS)
        content = store.load("model")
    assert content is not None
    return content


@pytest.mark.parametrize(
    "n_kills",
    [
        int(os.environ.get("TRUSTREAM_KILLS", "20")),
        pytest.param(200, marks=pytest.mark.slow),
    ],
)
def test_killed_at_random_moments(tmp_path: Path, n_kills: int) -> None:
    wanted = expected(tmp_path / "whole.db")
    fill(tmp_path / "killed.db")
    assert killed_run(tmp_path / "killed.db", n_kills) >= n_kills / 4
    with open_store(tmp_path / "killed.db", create=False) as store:
        assert store.load("model") == wanted
        assert store.totals().documents == 200
