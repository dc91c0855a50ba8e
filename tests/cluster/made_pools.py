"""Kill workers of the pools that functions make."""

from __future__ import annotations

import os
import signal

from trustream.cluster.pool import Pool
from trustream.cluster.seats import WorkerStatistics


def kill_a_worker(pools: list[Pool], number: int = 0) -> WorkerStatistics:
    """Kill a worker of the pool that was made last; returns what is known of it."""
    statistics = pools[-1].statistics[number]
    assert statistics.place is not None
    os.kill(statistics.place.pid, signal.SIGKILL)
    return statistics
