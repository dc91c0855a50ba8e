"""Find out who is training a model."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.store.protocol import Store
from trustream.streaming.saved_names import DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class TrainerStatus:
    """A trainer that is running.

    Attributes:
        host: name of its machine.
        pid: its process id there.
        since: when it began, in seconds since 1970, by the clock of the database.
        silent: seconds since its last sign of life.
        is_silent: whether that is longer than it should be: it stands still, or has ended on
            another machine.
        text: all of that for people.
    """

    host: str
    pid: int
    since: float
    silent: float
    is_silent: bool
    text: str


def trainer_status(store: Store, name: str = DEFAULT_NAME) -> TrainerStatus | None:
    """Return who is training a model; None if nobody is.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         with trustream.StreamTrainer(store, n_components=2):
    ...             during = trainer_status(store)
    ...         after = trainer_status(store)
    >>> during.is_silent, after
    (False, None)
    """
    lease = store.lease(name)
    if lease is None:
        return None
    holder = lease.holder
    silent = round(max(lease.silent, 0.0), 3)
    is_silent, text = silent > lease.seconds, str(lease)
    if is_silent:
        text += f", but without a sign of life for {silent:,.0f} seconds"
    return TrainerStatus(holder.host, holder.pid, lease.since, silent, is_silent, text)
