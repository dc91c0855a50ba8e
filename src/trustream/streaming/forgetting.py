"""Delete documents from a store for good, together with what they left elsewhere in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted, and what is left.

    Attributes:
        n_documents: documents that were deleted.
        unknown: keys that no document had.
        n_append_ids: append ids that were forgotten.
        models: names of the models in the store. They keep what they have learned from documents
            that are deleted.
        n_model_words: words whose names, and whose own numbers, were taken out of these models,
            because no document has them any more.
        overwritten: whether nothing that was deleted is in the log of a SQLite store any more, or
            a PostgreSQL server has written the tables anew (`Store.erase`).
        rewritten: whether all files were to be written anew.
        n_phrases: phrases of the store's tokeniser. They stay, though they may have been found in
            what was deleted.
    """

    n_documents: int
    unknown: tuple[str, ...] = ()
    n_append_ids: int = 0
    models: tuple[str, ...] = ()
    n_model_words: int = 0
    overwritten: bool = False
    rewritten: bool = False
    n_phrases: int = 0


def forget(
    store: Store,
    keys: Iterable[str],
    *,
    append_ids_before: float | None = None,
    rewrite: bool = False,
) -> Forgotten:
    """Delete documents so that nothing of them is left in a store but what models have learned.

    Words that no other document has leave the store, and their names leave the models that are
    saved in it. A trainer that runs meanwhile does the same at its next step.

    Args:
        store: the store to delete from.
        keys: of the documents; those that no document has are returned as `unknown`.
        append_ids_before: also forget append ids that were noted before this time, in seconds
            since 1970: their texts may say whose they are.
        rewrite: write all files anew, see `Store.erase`.

    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append([Record("a", ["cat", "dog"]), Record("b", ["cat", "bird"])])
    ...         forgotten = forget(store, ["b", "nobody"])
    ...         words = store.vocabulary().words
    >>> forgotten.n_documents, forgotten.unknown, forgotten.overwritten, words
    (1, ('nobody',), True, ['cat', 'dog', None])
    """
    unknown: list[str] = []
    n_documents = store.delete(keys, on_unknown=unknown.append)
    n_append_ids = 0
    if append_ids_before is not None:
        n_append_ids = store.expire_append_ids(append_ids_before)
    models, n_words = _without_lost_words(store)
    return Forgotten(
        n_documents,
        tuple(unknown),
        n_append_ids,
        tuple(models),
        n_words,
        store.erase(rewrite=rewrite),
        rewrite,
        len(getattr(store.tokeniser(), "phrases", ())),
    )


def _without_lost_words(store: Store) -> tuple[list[str], int]:
    """Take words out of saved models that the vocabulary lacks; names of models, and how many."""
    known = {word for word in store.vocabulary().words if word is not None}
    models, n_words = [], 0
    for name in store.saved_names():
        change = _Change(name, lambda word: word in known)
        store.change_saved(name, change)
        if change.is_model:
            models.append(name)
            n_words += change.n_words
    return models, n_words


class _Change:
    """Changes the bytes of a model; those of anything else are left alone."""

    def __init__(self, name: str, is_known: Callable[[str], bool]) -> None:
        self._name, self._is_known = name, is_known
        self.is_model, self.n_words = False, 0

    def __call__(self, content: bytes) -> bytes | None:
        try:
            checkpoint = Checkpoint.from_bytes(content, self._name)
        except ValueError:
            return None
        self.is_model = True
        words = list(checkpoint.words)
        lost = [i for i, word in enumerate(words) if word is not None and not self._is_known(word)]
        self.n_words = len(lost)
        if not lost:
            return None
        for column in lost:
            words[column] = None
        state = checkpoint.model.follow(checkpoint.state, [(column, None) for column in lost])
        return replace(checkpoint, state=state, words=words).to_bytes()
