"""Computing for a service, in a process of its own: `python -m trustream.service.compute_child`.

It is told by messages on standard input what to do, the first of which is a `ComputingTask`, and
answers on standard output, in whatever order it is done. It ends when standard input ends: also
when the service was killed, and cannot say so.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future
from typing import IO, Any

from trustream.feeds.items import Item, Mark
from trustream.feeds.packed_items import Packer, frame, message
from trustream.feeds.rows import Rows
from trustream.missing_library import without
from trustream.service.computing import ALIVE, Computing, Question, Reply
from trustream.store.coded_records import CodedRecords
from trustream.store.records import Record

# Seconds between two signs of life.
_BEAT = 1.0


def main() -> None:
    """Answer questions until there are no more."""
    # Who ends the service ends this by the end of standard input.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    inbox, outbox = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a library prints must not get among the answers.
    sys.stdout = sys.stderr
    questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(inbox, questions), daemon=True).start()
    sender = _Sender(outbox)
    threading.Thread(target=_beat, args=(sender,), daemon=True).start()
    computing = Computing(questions.get())
    while True:
        question = questions.get()
        if question.name != "parse":
            _load_libraries()
        sender.answer(question, computing.submit(question.name, *question.arguments))


def _hear(inbox: IO[bytes], questions: queue.SimpleQueue[Any]) -> None:
    """Take in what is asked; end the process when nobody can ask any more."""
    with contextlib.suppress(OSError, ValueError, EOFError):
        while (question := message(inbox)) is not None:
            questions.put(question)
    # Nobody waits for what is still being done, also not for libraries that are being loaded.
    os._exit(0)


def _beat(sender: _Sender) -> None:
    """Say again and again that this process lives."""
    while True:
        sender.send(Reply(ALIVE, None, None))
        time.sleep(_BEAT)


def _load_libraries() -> None:
    """Load scikit-learn without pandas, which it looks for, and which takes 100 MB."""
    with without("pandas"):
        import sklearn.utils.validation  # noqa: F401


class _Sender:
    """Sends answers, one at a time."""

    def __init__(self, outbox: IO[bytes]) -> None:
        self._outbox, self._lock = outbox, threading.Lock()
        self._packer = Packer(keep_text=True)

    def answer(self, question: Question, found: Future[Any]) -> None:
        """Send what will be found, when it is."""

        def send(done: Future[Any]) -> None:
            error, value = done.exception(), None
            if error is None:
                value = done.result()
                if question.name == "parse":
                    # Bodies are read by one thread: answers are sent in the order of their words.
                    value = self._packer.answer(_items(value), "body")
            self.send(Reply(question.number, value, None if error is None else _plain(error)))

        found.add_done_callback(send)

    def send(self, reply: Reply) -> None:
        """Send an answer now."""
        content = frame(reply)
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._outbox.write(content)
            self._outbox.flush()


def _items(records: Sequence[Record]) -> list[Item | Rows]:
    if isinstance(records, CodedRecords):
        import numpy as np

        return [Rows(records, np.zeros(len(records), np.int64), 1)]
    return [Item(Mark(), 0, record) for record in records]


def _plain(error: BaseException) -> BaseException:
    """An error as the service can read it: its own ones as they are, others in words."""
    from trustream.service.problem_error import ProblemError
    from trustream.service.published_model import UnreadableModelError
    from trustream.store.errors import StoreError

    if isinstance(error, ProblemError | UnreadableModelError):
        return error
    if isinstance(error, StoreError):
        return StoreError(str(error))
    return RuntimeError("".join(traceback.format_exception(error)))


if __name__ == "__main__":
    main()
