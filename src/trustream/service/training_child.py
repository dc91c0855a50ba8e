"""The trainer of a service, in a process of its own: `python -m trustream.service.training_child`.

It is told what to train by a line of JSON on standard input, so that no password stands in the list
of processes, and says on standard output how far it is. It ends with a checkpoint when standard
input ends: also when the service was killed, and cannot say so.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

# Seconds between two lines of progress, at least; and for the last checkpoint.
_EVERY, _TO_END = 0.25, 20.0
# Exit statuses: another trainer has the model, the store was not prepared for it, or what it has of
# the model is damaged.
HELD, UNPREPARED, DAMAGED = 3, 4, 5


def main() -> int:
    """Train until standard input ends."""
    # Ctrl-C in a terminal is for the service, which ends this in its own way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = json.loads(sys.stdin.readline())
    stop, begun = threading.Event(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_wait_for_end, args=(stop, begun), daemon=True).start()
    from trustream.store import LeaseHeldError, StoreError, open_store
    from trustream.streaming.published import MissingModelError
    from trustream.streaming.training_run import TrainingProgress, prepared_trainer, train

    last, score = 0.0, None
    # The last step that was not told of, because one had been just before.
    untold: dict[str, Any] | None = None

    def step(progress: TrainingProgress) -> None:
        nonlocal last, score, untold
        now = time.monotonic()
        untold = {
            "time": time.time(),
            "n_steps": progress.n_steps,
            "rho": progress.rho,
            "looks": progress.looks,
            "last_score": progress.last_score,
        }
        if now - last < _EVERY and progress.last_score == score:
            return
        last, score = now, progress.last_score
        _say(state="running", **untold)
        untold = None

    def waiting() -> None:
        nonlocal last, untold
        if untold is not None:
            _say(state="running", **untold)
            untold = None
        if time.monotonic() - last >= 1.0:
            last = time.monotonic()
            _say(state="waiting")

    try:
        begun.set()
        with open_store(asked["store"], create=False) as store:
            options = {name: asked[name] for name in ("checkpoint_every", "n_jobs")}
            with prepared_trainer(store, asked["model"], **options) as trainer:
                _say(state="waiting")
                train(trainer, callback=step, stop=stop.is_set, waiting=waiting)
    except LeaseHeldError as error:
        _say(problem=str(error))
        return HELD
    except MissingModelError as error:
        _say(problem=str(error))
        return UNPREPARED
    except ValueError as error:
        _say(problem=str(error))
        return DAMAGED
    except (StoreError, OSError, MemoryError) as error:
        # Of the store or of the machine: no fault of the code.
        _say(problem=str(error) or type(error).__name__)
        return 1
    return 0


def _wait_for_end(stop: threading.Event, begun: threading.Event) -> None:
    with contextlib.suppress(OSError, ValueError):
        while sys.stdin.readline():
            pass
    if not begun.is_set():
        os._exit(0)  # it is still loading, and there is nothing to save
    stop.set()
    time.sleep(_TO_END)
    os._exit(1)


def _say(**values: Any) -> None:
    # Nobody listens any more: the end of standard input says so as well.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    status = main()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    # What is left of standard output cannot be written, if the service is gone.
    os._exit(status)
