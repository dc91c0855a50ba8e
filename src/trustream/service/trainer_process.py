"""Run a trainer beside a service, and start it again if it dies."""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from trustream.service.training_child import DAMAGED, HELD, UNPREPARED

_LOG = logging.getLogger("trustream.service")
# Seconds until it is started again: at first, and at most; and after which a run counts as good.
_FIRST, _LAST, _GOOD = 0.5, 30.0, 60.0
# Seconds until it is started again when another trainer has the model.
_HELD_PAUSE = 2.0
# Seconds for the last checkpoint.
_TO_END = 15.0


class TrainerProcess:
    """A child process that trains, watched by a thread.

    Args:
        asked: what to train, see `training_child`.
        on_state: called with how it does, see `schemas.Training`.
        on_step: called with its progress.
    """

    def __init__(
        self,
        asked: dict[str, Any],
        on_state: Callable[[dict[str, Any]], None],
        on_step: Callable[[dict[str, Any]], None],
    ) -> None:
        self._asked, self._on_state, self._on_step = asked, on_state, on_step
        self._stop = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, name="trustream-training", daemon=True)
        self._state: dict[str, Any] = {}
        self._n_restarts = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the trainer, with a checkpoint, and wait for it."""
        self._stop.set()
        process = self._process
        if process is not None:
            _close(process)
            try:
                process.wait(_TO_END)
            except subprocess.TimeoutExpired:
                _LOG.warning("the trainer did not end in time, and is killed")
                process.kill()
        if self._thread.is_alive():
            self._thread.join()

    def _tell(self, state: str, pid: int | None, problem: str | None) -> None:
        found = {
            "state": state,
            "pid": pid,
            "n_restarts": self._n_restarts,
            "problem": problem,
        }
        if found != self._state:
            self._state = found
            self._on_state(found)

    def _run(self) -> None:
        pause = _FIRST
        while not self._stop.is_set():
            began = time.monotonic()
            status, problem = self._train()
            if self._stop.is_set():
                break
            if time.monotonic() - began > _GOOD:
                pause = _FIRST
            ended = _ended(status)
            if status == HELD:
                self._tell("waiting", None, problem or ended)
            else:
                _LOG.warning("%s; it is started again in %.1f seconds", problem or ended, pause)
                # Errors of databases tell of files and machines: those are for the log.
                known = problem if status in (UNPREPARED, DAMAGED) else None
                self._tell("restarting", None, known or f"{ended}; the log of the service says why")
            # The lease of another one is asked for again soon: that costs little.
            self._stop.wait(_HELD_PAUSE if status == HELD else pause)
            pause = _FIRST if status == HELD else min(2 * pause, _LAST)
            self._n_restarts += status != HELD
        self._tell("off", None, None)

    def _train(self) -> tuple[int, str | None]:
        """Run it once: its status, and what it said was wrong."""
        process = subprocess.Popen(
            [sys.executable, "-m", "trustream.service.training_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in a terminal is for the service, also while Python starts there.
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self._process = process
        if not self._state.get("problem"):
            self._tell("starting", process.pid, None)
        problem = None
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(json.dumps(self._asked) + "\n")
            process.stdin.flush()
        if self._stop.is_set():
            _close(process)
        for line in process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if "problem" in said:
                problem = said["problem"]
            elif "state" in said:
                self._tell(said["state"], process.pid, None)
                if "n_steps" in said:
                    names = "time", "n_steps", "rho", "looks", "last_score"
                    self._on_step({name: said[name] for name in names})
        process.stdout.close()
        _close(process)
        return process.wait(), problem


def _ended(status: int) -> str:
    """How a process ended, in words.

    >>> _ended(1), _ended(-9)
    ('the trainer ended with status 1', 'the trainer was ended by signal 9')
    """
    if status < 0:
        return f"the trainer was ended by signal {-status}"
    return f"the trainer ended with status {status}"


def _close(process: subprocess.Popen[str]) -> None:
    """Tell the child that it should end."""
    with contextlib.suppress(OSError, ValueError):
        assert process.stdin is not None
        process.stdin.close()
