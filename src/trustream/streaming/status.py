"""Find out what a store holds, how far its models have been trained, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.feeds.phrase_adoption import PhraseState, phrase_state
from trustream.store.protocol import Store
from trustream.store.records import Totals
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import (
    DEFAULT_NAME,
    RETRAINING,
    load_checkpoint,
    load_settings,
    model_names,
)
from trustream.streaming.trainer_status import TrainerStatus, trainer_status
from trustream.streaming.training import learning_rate


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How far a model was when it was last saved.

    Attributes:
        n_topics: number of topics; None for a model that has none.
        n_steps: steps taken since the model's beginning.
        rho: learning rate for the documents that the store has now.
        last_score: score of held-out documents when they were scored last, in nats per word; None
            before the first score.
        best_score: the highest score so far; None before the first.
    """

    n_topics: int | None
    n_steps: int
    rho: float
    last_score: float | None
    best_score: float | None


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One of the models of a store.

    Attributes:
        name: its name in the store.
        n_topics: number of topics; None for a model that has none, or if it cannot be read.
        model: how far it is; None if nothing was saved yet, or if it cannot be read.
        trainer: the trainer that is learning it; None if there is none.
        problem: why it cannot be read; None if it can.
        retrainer: who is learning it afresh, to replace it; None if nobody is.
    """

    name: str
    n_topics: int | None
    model: ModelStatus | None
    trainer: TrainerStatus | None
    problem: str | None = None
    retrainer: TrainerStatus | None = None


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """What a store holds.

    Attributes:
        totals: counts of documents, tokens and words.
        model: the saved model; None if nothing was learned yet.
        trainer: the trainer that is learning the model, also before it has saved anything; None
            if there is none.
        models: all models of the store, by name.
        phrases: how far its documents agree with the phrases of its tokeniser; None if it does not
            keep the order of words.
    """

    totals: Totals
    model: ModelStatus | None
    trainer: TrainerStatus | None = None
    models: tuple[ListedModel, ...] = ()
    phrases: PhraseState | None = None


def status(store: Store, name: str = DEFAULT_NAME) -> StoreStatus:
    """Return the counts of a store, and how far its models are and who is training them.

    Parameters
    ----------
    store : Store
    name : str, default="model"
        Name of the model that `model` and `trainer` are about. For a name that is not there, they
        are None. `models` has all models.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog"]) for i in range(20))
    ...         before = status(store)
    ...         with trustream.StreamTrainer(store, n_components=2, batch_size=5) as trainer:
    ...             _ = trainer.run(steps=3)
    ...         after = status(store)
    >>> before.totals.documents, before.totals.tokens, before.model
    (20, 40, None)
    >>> after.model.n_topics, after.model.n_steps
    (2, 3)
    """
    totals, names = store.totals(), model_names(store)
    checkpoint = load_checkpoint(store, name)
    model = None if checkpoint is None else _model_status(checkpoint, totals)
    trainer = trainer_status(store, name)
    if trainer is not None and name not in names:
        names = sorted([*names, name])
    models = []
    for other in names:
        if other == name:
            afresh = trainer_status(store, name + RETRAINING)
            topics = _n_topics(store, name, model)
            models.append(ListedModel(name, topics, model, trainer, None, afresh))
        else:
            models.append(_listed(store, other, totals))
    return StoreStatus(totals, model, trainer, tuple(models), phrase_state(store))


def _listed(store: Store, name: str, totals: Totals) -> ListedModel:
    """A model that was not asked for: if it is damaged, that is only noted."""
    trainer, afresh = (trainer_status(store, name + end) for end in ("", RETRAINING))
    try:
        checkpoint = load_checkpoint(store, name)
        model = None if checkpoint is None else _model_status(checkpoint, totals)
        topics = _n_topics(store, name, model)
        return ListedModel(name, topics, model, trainer, None, afresh)
    except ValueError as error:
        return ListedModel(name, None, None, trainer, str(error), afresh)


def _n_topics(store: Store, name: str, model: ModelStatus | None) -> int | None:
    if model is not None:
        return model.n_topics
    prepared = load_settings(store, name)
    return None if prepared is None else prepared.n_topics


def _model_status(checkpoint: Checkpoint, totals: Totals) -> ModelStatus:
    model = checkpoint.model
    return ModelStatus(
        n_topics=model.n_topics,
        n_steps=checkpoint.state.n_steps,
        rho=learning_rate(model, checkpoint.clock, totals),
        last_score=checkpoint.last_score,
        best_score=checkpoint.best_score,
    )
