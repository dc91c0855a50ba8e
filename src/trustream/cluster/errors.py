"""Errors of a cluster; each message says what to do."""

from __future__ import annotations

from trustream.streaming.engine import StaleBatchError


class ClusterError(RuntimeError):
    """A cluster cannot do what was asked: Ray is not there, has no room, or lost all workers.

    What was learned up to the last checkpoint is in the store.
    """


class StaleRowsError(StaleBatchError):
    """Documents changed between two looks at the same rows: the batch has to be drawn again."""
