"""Find out who is training a model."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.store.protocol import Store
from trustream.streaming.cluster_progress import ClusterProgress
from trustream.streaming.saved_names import CLUSTER, DEFAULT_NAME


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
        cluster: how its workers were doing when it last saved the model; None without workers.
    """

    host: str
    pid: int
    since: float
    silent: float
    is_silent: bool
    text: str
    cluster: ClusterProgress | None = None


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
    cluster = _cluster(store, name)
    if cluster is not None and (cluster.host, cluster.pid) != (holder.host, holder.pid):
        cluster = None  # of a trainer before
    if cluster is not None:
        text += f", {cluster}"
    return TrainerStatus(holder.host, holder.pid, lease.since, silent, is_silent, text, cluster)


def _cluster(store: Store, name: str) -> ClusterProgress | None:
    content = store.load(name + CLUSTER)
    try:
        return None if content is None else ClusterProgress.from_bytes(content)
    except ValueError:
        return None  # nothing depends on it
