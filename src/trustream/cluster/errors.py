"""Errors of a cluster; each message says what to do."""

from __future__ import annotations

from trustream.streaming.engine import StaleBatchError


class ClusterError(RuntimeError):
    """A cluster cannot do what was asked: Ray is not there, has no room, or lost all workers.

    What was learned up to the last checkpoint is in the store.
    """


def first_line(error: BaseException) -> str:
    """What an error of Ray says, without the story before it.

    >>> first_line(ValueError("Task failed:\\n  here\\nno such column\\n"))
    'no such column'
    """
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def no_room(error: BaseException) -> ClusterError:
    """For an error of Ray that says that its memory for objects is full."""
    return ClusterError(
        f"Ray has no room for the arrays of a step ({first_line(error)}): start its nodes with "
        "more memory for objects (ray start --object-store-memory BYTES), or use smaller batches"
    )


class StaleRowsError(StaleBatchError):
    """Documents changed between two looks at the same rows: the batch has to be drawn again."""
