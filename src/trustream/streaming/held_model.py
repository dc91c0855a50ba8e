"""A model's place in a store, which one trainer at a time writes to.

A trainer holds a lease of its model (`trustream.store.lease`), and saves under it. Somebody else
may replace the model meanwhile (`retraining`), under another lease: the store then refuses what the
trainer wants to save, and the trainer goes on from what it finds.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from trustream.store.held_lease import HeldLease
from trustream.store.lease import Lease, LeaseHeldError, LeaseLostError, ReplacedError
from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import load_checkpoint


class HeldModel:
    """The saved model of one name, and the right to save it, until `release`.

    Args:
        seconds: for how long this process may stand still before others may take over.

    Raises:
        LeaseHeldError: another trainer has it; the message says which.
    """

    def __init__(self, store: Store, name: str, seconds: float) -> None:
        self._store, self._name = store, name
        try:
            self._held = HeldLease(store, name, seconds=seconds)
        except LeaseHeldError as error:
            raise LeaseHeldError(_held(store, name, error.lease), error.lease) from None
        self._released = False

    def load(self) -> Checkpoint | None:
        """The last checkpoint, None if there is none."""
        return load_checkpoint(self._store, self._name)

    def save(
        self, checkpoint: Checkpoint, beside: Mapping[str, bytes] | None = None
    ) -> Checkpoint | None:
        """Save a checkpoint; if the model was replaced, nothing is saved, and the new one returned.

        Args:
            checkpoint: of the model.
            beside: other bytes by name, saved together with it.

        Raises:
            LeaseLostError: another trainer has taken over; nothing was saved.
        """
        self._check_open()
        try:
            content = checkpoint.to_bytes()
            self._store.save(self._name, content, lease=self._held.lease, beside=beside)
        except LeaseLostError as error:
            raise self._lost(error) from None
        except ReplacedError:
            self._held.accept_replacement()
            return self.load()
        return None

    def replace(self, name: str, checkpoint: Checkpoint) -> None:
        """Save a checkpoint as another model, whoever trains that, as long as this one is held.

        Raises:
            LeaseLostError: somebody else has taken over; nothing was saved.
        """
        self._check_open()
        self._store.save(name, checkpoint.to_bytes(), lease=self._held.lease)

    def check(self) -> None:
        """Raise a LeaseLostError if it has turned out that another trainer took over."""
        self._check_open()
        try:
            self._held.check()
        except LeaseLostError as error:
            raise self._lost(error) from None

    def release(self) -> None:
        """Let others train the model."""
        self._released = True
        self._held.release()

    def _check_open(self) -> None:
        if self._released:
            raise ValueError(
                "the trainer is closed, and others may train its model: make a new one, which "
                "goes on from the checkpoint"
            )

    def _lost(self, error: LeaseLostError) -> LeaseLostError:
        by = "another trainer, which has ended" if error.lease is None else str(error.lease)
        return LeaseLostError(
            f"the model {self._name!r:.60} of {self._store.name} was taken over by {by}, because "
            f"this process gave no sign of life for {self._held.lease.seconds:g} seconds; what it "
            "learned since its last checkpoint was not saved",
            error.lease,
        )


def _held(store: Store, name: str, lease: Lease) -> str:
    what = f"a trainer of the model {name!r:.60} of {store.name} is running: {lease}"
    holder = lease.holder
    if holder.host != socket.gethostname():
        return (
            f"{what}; stop it first, or, if it is dead, try again {lease.seconds:g} seconds after "
            "its last sign of life"
        )
    if holder.pid == os.getpid():
        return f"{what}, which is this process; close that trainer first"
    return f"{what}; stop it first, or train another model (name=...)"
