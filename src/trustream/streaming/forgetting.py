"""Delete documents from a store for good, together with what they left elsewhere in it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.lost_words import lost_words


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
    models, n_words = forget_lost_words(store)
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


def forget_lost_words(store: Store) -> tuple[list[str], int]:
    """Take words out of saved models that no document has; names of models, and how many words."""
    models, n_words = [], 0
    for name, lost in lost_words(store).items():
        if lost:
            change = _Change(name, lost)
            # What takes long is done before others have to wait for it.
            content = store.load(name)
            if content is not None:
                change.prepare(content)
            store.change_saved(name, change)
            n_words += change.n_words
        models.append(name)
    return models, n_words


class _Change:
    """Takes words out of the bytes of a model; bytes of anything else are left alone."""

    def __init__(self, name: str, lost: Set[str]) -> None:
        self._name, self._lost = name, lost
        self._prepared: tuple[bytes, bytes | None] | None = None
        self.n_words = 0

    def prepare(self, content: bytes) -> None:
        """Make what `content` is changed into, in case that nobody changes it before."""
        self._prepared = content, self._changed(content)

    def __call__(self, content: bytes) -> bytes | None:
        if self._prepared is None or self._prepared[0] != content:
            self.prepare(content)
        assert self._prepared is not None
        return self._prepared[1]

    def _changed(self, content: bytes) -> bytes | None:
        self.n_words = 0
        try:
            checkpoint = Checkpoint.from_bytes(content, self._name)
        except ValueError:
            return None
        words = list(checkpoint.words)
        columns = [column for column, word in enumerate(words) if word in self._lost]
        if not columns:
            return None
        for column in columns:
            words[column] = None
        state = checkpoint.model.follow(checkpoint.state, [(column, None) for column in columns])
        self.n_words = len(columns)
        return replace(checkpoint, state=state, words=words).to_bytes()
