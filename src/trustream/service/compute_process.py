"""Compute in a process of its own, which is started when it is needed and ended when it is not.

The libraries that compute with topics and those that compile code take some 300 MB. A service that
nobody asks anything does without them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import queue
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from trustream.feeds.packed_items import PackedItems, Unpacker, frame, message
from trustream.feeds.rows import records_of
from trustream.service.computing import ALIVE, UNHURRIED, ComputingTask, Question, Reply
from trustream.store.errors import StoreError

_LOG = logging.getLogger("trustream.service")
# How often something is tried, if the process dies while it is at it.
_TRIES = 2
# Seconds until a process that was told to end is killed.
_TO_END = 10.0
# Seconds for the first sign of life of a new process.
_TO_START = 120.0


@dataclass(eq=False)
class _Call:
    name: str
    arguments: tuple[Any, ...]
    n_tries: int = 0
    began: float = 0.0
    done: Future[Any] = field(default_factory=Future)


class ComputeProcess:
    """A process that does what `Computing` can, see `computing.Compute`.

    If it dies, what it was at is done again by a new one: all of it may be done twice.

    Args:
        task: what it computes with.
        idle_seconds: after which it is ended, if nobody has needed it.
        silent_seconds: after which it is killed, if it should be at work and does not give a sign
            of life: it hangs, or was stopped.
        longest: seconds after which it is killed, if it has not answered what somebody waits for.
    """

    def __init__(
        self,
        task: ComputingTask,
        idle_seconds: float,
        *,
        silent_seconds: float = 60.0,
        longest: float = 600.0,
    ) -> None:
        self._task, self._idle_seconds = task, idle_seconds
        self._silent_seconds, self._longest = silent_seconds, longest
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._closed = False
        self._used = time.monotonic()

    def submit(self, name: str, *arguments: Any) -> Future[Any]:
        """See `Compute`."""
        call = _Call(name, arguments)
        # Whoever waits for it may go away: it is done all the same.
        call.done.set_running_or_notify_cancel()
        self._begin(call)
        return call.done

    def _begin(self, call: _Call) -> None:
        call.n_tries += 1
        with self._lock:
            if self._closed:
                call.done.set_exception(StoreError("the service is being stopped"))
                return
            self._used = time.monotonic()
            if self._child is None:
                self._child = _Child(self._task, self._ended)
            self._child.ask(call)

    def _ended(self, child: _Child) -> None:
        """Called when a process has ended; what it has not answered is done by another."""
        with self._lock:
            if self._child is child:
                self._child = None
            closed = self._closed
        left = child.unanswered()
        if left and not closed:
            _LOG.warning(
                "the process that computes ended with status %s; it is started again", child.status
            )
        for call in left:
            if call.n_tries < _TRIES:
                self._begin(call)
            else:
                problem = "the process that computes has died twice: there may be too little memory"
                call.done.set_exception(StoreError(problem))

    def rest(self) -> None:
        """See `Compute`: the process ends if nobody has needed it for a while."""
        with self._lock:
            child = self._child
            if child is None:
                return
            now = time.monotonic()
            if child.is_busy:
                self._used = now
            elif now - self._used > self._idle_seconds:
                self._child = None
                child.end()
                release_memory()

    def look_after(self) -> None:
        """See `Compute`: a process that hangs is killed, and what it was at is done again."""
        child = self._child
        if child is not None and child.is_stuck(self._silent_seconds, self._longest):
            _LOG.warning("the process that computes hangs, and is killed")
            child.process.kill()

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        child = self._child
        return None if child is None else child.process.pid

    def close(self) -> None:
        """End the process, and wait for it."""
        with self._lock:
            self._closed = True
            child = self._child
        if child is not None:
            child.end()
            child.join()


def release_memory() -> None:
    """Give memory that is free back to the system, which the C library keeps for later."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class _Child:
    """One process, and a thread each that sends to it and hears from it."""

    def __init__(self, task: ComputingTask, on_end: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trustream.service.compute_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in a terminal is for the service, also while Python starts there.
            start_new_session=True,
        )
        self.status: int | None = None
        self._heard: float | None = None
        self._on_end = on_end
        self._lock = threading.Lock()
        self._waiting: dict[int, _Call] = {}
        self._number = 0
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unsent.put(frame(task))
        self._threads = [
            threading.Thread(target=work, name=f"trustream-{name}", daemon=True)
            for name, work in (("asking", self._send), ("hearing", self._hear))
        ]
        for thread in self._threads:
            thread.start()

    def ask(self, call: _Call) -> None:
        """Send a question; the thread that hears answers it."""
        with self._lock:
            call.began = time.monotonic()
            self._number += 1
            number = self._number
            self._waiting[number] = call
        self._unsent.put(frame(Question(number, call.name, call.arguments)))

    @property
    def is_busy(self) -> bool:
        """Whether it has not answered all."""
        return bool(self._waiting)

    def is_stuck(self, silent_seconds: float, longest: float) -> bool:
        """Whether it is at work, and silent for too long, or at something for too long."""
        with self._lock:
            waiting = list(self._waiting.values())
        now, heard = time.monotonic(), self._heard
        if not waiting:
            return False
        since = min(call.began for call in waiting)
        if heard is None:
            is_silent = now - since > max(silent_seconds, _TO_START)
        else:
            is_silent = now - max(heard, since) > silent_seconds
        slowest = [call.began for call in waiting if call.name not in UNHURRIED]
        return is_silent or now - min(slowest, default=now) > longest

    def unanswered(self) -> list[_Call]:
        """What it was asked and has not answered, after its end."""
        with self._lock:
            left, self._waiting = list(self._waiting.values()), {}
        return left

    def end(self) -> None:
        """Tell it to end, after what was sent before."""
        self._unsent.put(None)

    def join(self) -> None:
        """Wait for its end."""
        try:
            self.process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._threads[1].join()

    # --- in threads

    def _send(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            while (content := self._unsent.get()) is not None:
                self.process.stdin.write(content)
                self.process.stdin.flush()
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.close()

    def _hear(self) -> None:
        assert self.process.stdout is not None
        unpacker = Unpacker()
        with contextlib.suppress(OSError, ValueError, EOFError):
            # What was answered is not kept until the next answer comes.
            while self._take(message(self.process.stdout), unpacker):
                pass
        self.process.stdout.close()
        self.status = self.process.wait()
        self._unsent.put(None)
        self._on_end(self)

    def _take(self, reply: Reply | None, unpacker: Unpacker) -> bool:
        """Give an answer to who waits for it; returns whether there was one."""
        if reply is None:
            return False
        self._heard = time.monotonic()
        if reply.number == ALIVE:
            return True
        value, error = reply.value, reply.error
        if isinstance(value, PackedItems):
            try:
                # Also if nobody wants them: later answers take words for known.
                value = records_of(list(unpacker.items(value)))
            except Exception as found:
                error = found
        with self._lock:
            call = self._waiting.pop(reply.number)
        if error is not None:
            call.done.set_exception(error)
        else:
            call.done.set_result(value)
        return True
