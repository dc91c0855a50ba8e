"""Train the model that a store was prepared for, and follow its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trustream.store.protocol import Store, Totals
from trustream.streaming.published import DEFAULT_NAME, MissingModelError, load_settings
from trustream.streaming.trainer import StreamInfo, StreamTrainer


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
    """

    n_steps: int
    rho: float | None
    totals: Totals | None
    n_words: int | None
    last_score: float | None


def prepared_trainer(
    store: Store,
    name: str = DEFAULT_NAME,
    *,
    checkpoint_every: float = 60.0,
    n_jobs: int | None = None,
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

    Raises
    ------
    MissingModelError
        If the store was not prepared for a model of that name: call
        `trustream.streaming.setup.prepare` first.

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
            f"{store.name} has no settings for a model: trustream init {store.name}"
        )
    return StreamTrainer(
        store, model=model, checkpoint_every=checkpoint_every, name=name, n_jobs=n_jobs
    )


def train(
    trainer: StreamTrainer,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    until_idle: bool = False,
    callback: Callable[[TrainingProgress], object] | None = None,
    stop: Callable[[], object] | None = None,
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

    def progress(info: StreamInfo | None) -> TrainingProgress:
        n_steps, score = trainer.n_steps, trainer.last_score
        if info is None:
            return TrainingProgress(n_steps, None, None, None, score)
        return TrainingProgress(n_steps, info.step.rho, info.totals, info.n_words, score)

    last = trainer.run(
        steps=steps,
        seconds=seconds,
        until_idle=until_idle,
        callback=None if callback is None else lambda info: callback(progress(info)),
        stop=stop,
    )
    return progress(last)
