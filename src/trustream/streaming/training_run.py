"""Train the model that a store was prepared for, and follow its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trustream.store.protocol import Store
from trustream.store.records import Totals
from trustream.streaming.cluster_progress import ClusterProgress
from trustream.streaming.engine import Engine
from trustream.streaming.published import (
    DEFAULT_NAME,
    MissingModelError,
    load_settings,
    models_there,
)
from trustream.streaming.steps import StreamInfo
from trustream.streaming.trainer import StreamTrainer


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a training run is, after a step or at its end.

    Attributes:
        n_steps: steps taken since the model's beginning, in all runs.
        rho: learning rate of the last step; None if this run has taken none.
        totals: counts of the store at the last step; None if this run has taken none.
        n_words: words of the model at the last step; None if this run has taken none.
        last_score: score of held-out documents when they were scored last, in nats per word; None
            before the first score.
        looks: how often the model has looked at each training document, on average; None if this
            run has taken no step.
        n_replaced: how often the model was replaced by a retrained one during this run.
        cluster: how the workers are doing, if there are any.
    """

    n_steps: int
    rho: float | None
    totals: Totals | None
    n_words: int | None
    last_score: float | None
    looks: float | None = None
    n_replaced: int = 0
    cluster: ClusterProgress | None = None

    @classmethod
    def of(
        cls, trainer: StreamTrainer, info: StreamInfo | None, n_replaced_before: int = 0
    ) -> TrainingProgress:
        """How far a trainer is.

        Args:
            info: of the last step of this run; None if it has taken none.
            n_replaced_before: how often the model had been replaced when the run began.
        """
        n_steps, score = trainer.n_steps, trainer.last_score
        n_replaced, cluster = trainer.n_replaced - n_replaced_before, trainer.engine.progress()
        if info is None:
            return cls(n_steps, None, None, None, score, None, n_replaced, cluster)
        looks = trainer.looks(info.totals)
        return cls(
            n_steps, info.step.rho, info.totals, info.n_words, score, looks, n_replaced, cluster
        )


def prepared_trainer(
    store: Store,
    name: str = DEFAULT_NAME,
    *,
    checkpoint_every: float = 60.0,
    n_jobs: int | None = None,
    engine: Engine | None = None,
) -> StreamTrainer:
    """Return a trainer of the model that a store was prepared for.

    It continues from the last checkpoint in the store, if there is one.

    Parameters
    ----------
    store : Store
    name : str, default="model"
        Name of the model in the store.
    checkpoint_every : float, default=60
        Seconds between two checkpoints.
    n_jobs : int, default=None
        Threads; None is all cores.
    engine : Engine, default=None
        Where batches are drawn and computed; None is this process.

    Raises
    ------
    MissingModelError
        If the store was not prepared for a model of that name: call
        `trustream.streaming.setup.prepare` first.
    LeaseHeldError
        If another trainer of the model is running; the message names it.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.streaming.setup import init_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = init_store(f"{folder}/topics.db", 20)
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         with prepared_trainer(store, n_jobs=1) as trainer:
    ...             print(trainer.model.n_components, trainer.n_steps)
    20 0
    """
    model = load_settings(store, name)
    if model is None:
        raise MissingModelError(
            f"{store.name} has no settings for a model {name!r} ({models_there(store)}): prepare "
            "it for one first (init_store, or trustream init)"
        )
    return StreamTrainer(
        store,
        model=model,
        checkpoint_every=checkpoint_every,
        name=name,
        n_jobs=n_jobs,
        engine=engine,
    )


def nothing_to_learn(store: Store) -> str | None:
    """Say why a trainer has nothing to learn from; None if there is something.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         nothing_to_learn(store)
    'there are no documents in it yet'
    """
    totals = store.totals()
    if totals.documents == 0:
        return "there are no documents in it yet"
    if totals.training == 0:
        held_out = "its only document is" if totals.documents == 1 else "all its documents are"
        return f"{held_out} held out for scoring, and there is none yet to learn from"
    if totals.words == 0 and store.settings.fixed:
        return "its documents have none of the words of its vocabulary"
    if totals.words == 0:
        least = store.settings.min_documents
        return f"none of its words is in {least} documents yet, from which on words are learned"
    return None


def train(
    trainer: StreamTrainer,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    until_idle: bool = False,
    callback: Callable[[TrainingProgress], object] | None = None,
    stop: Callable[[], object] | None = None,
    waiting: Callable[[], object] | None = None,
) -> TrainingProgress:
    """Learn until the first of the given ends, save, and return how far the model is.

    Parameters
    ----------
    trainer : StreamTrainer
        For example that of `prepared_trainer`.
    steps, seconds, until_idle, stop
        When to end, as for `StreamTrainer.run`; without them it never ends.
    callback : callable, default=None
        Called with the progress after each step; ends the run by returning a true value.
    waiting : callable, default=None
        Called each time that there is nothing to learn from; `nothing_to_learn` may say why.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> from trustream.streaming.setup import init_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/topics.db"
    ...     _ = init_store(path, 2, batch_size=5, min_documents=1)
    ...     with trustream.open_store(path) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog"]) for i in range(20))
    ...         with prepared_trainer(store) as trainer:
    ...             progress = train(trainer, steps=3)
    >>> progress.n_steps, progress.totals.documents, progress.n_words
    (3, 20, 2)
    """
    before = trainer.n_replaced

    def progress(info: StreamInfo | None) -> TrainingProgress:
        return TrainingProgress.of(trainer, info, before)

    last = trainer.run(
        steps=steps,
        seconds=seconds,
        until_idle=until_idle,
        callback=None if callback is None else lambda info: callback(progress(info)),
        stop=stop,
        waiting=waiting,
    )
    return progress(last)
