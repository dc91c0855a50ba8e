"""Find out what a store holds, and how far its model has been trained."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.store.protocol import Store, Totals
from trustream.streaming.published import DEFAULT_NAME, load_checkpoint
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
class StoreStatus:
    """What a store holds.

    Attributes:
        totals: counts of documents, tokens and words.
        model: the saved model; None if nothing was learned yet.
    """

    totals: Totals
    model: ModelStatus | None


def status(store: Store, name: str = DEFAULT_NAME) -> StoreStatus:
    """Return the counts of a store, and the steps, learning rate and scores of its model.

    Parameters
    ----------
    store : Store
    name : str, default="model"
        Name of the model in the store. For a name that is not there, `model` is None.

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
    totals, checkpoint = store.totals(), load_checkpoint(store, name)
    if checkpoint is None:
        return StoreStatus(totals, None)
    model = checkpoint.model
    found = ModelStatus(
        n_topics=model.settings().get("n_components"),
        n_steps=checkpoint.state.n_steps,
        rho=learning_rate(model, checkpoint.clock, totals),
        last_score=checkpoint.last_score,
        best_score=checkpoint.best_score,
    )
    return StoreStatus(totals, found)
