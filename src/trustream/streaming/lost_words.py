"""Find words in saved models that no document of the store has any more."""

from __future__ import annotations

from trustream import persist
from trustream.store.protocol import Store


def lost_words(store: Store) -> dict[str, frozenset[str]]:
    """Such words by the name of the model; models without any are there as well.

    Only the words of checkpoints are read, without what computes with them: neither Numba nor
    scikit-learn is loaded. Bytes that are not those of a model are passed over.

    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append([Record("a", ["cat", "dog"]), Record("b", ["cat", "bird"])])
    ...         with trustream.StreamTrainer(store, n_components=2) as trainer:
    ...             _ = trainer.run(steps=1)
    ...         _ = store.delete(["b"])
    ...         lost_words(store)
    {'model': frozenset({'bird'})}
    """
    found = {name: _words(store.load(name), name) for name in store.saved_names()}
    # Read after the models: what documents brought meanwhile is not taken for lost.
    known = {word for word in store.vocabulary().words if word is not None}
    return {name: words - known for name, words in found.items() if words is not None}


def _words(content: bytes | None, name: str) -> frozenset[str] | None:
    """The words of a checkpoint; None if the bytes are something else."""
    if content is None:
        return None
    try:
        with persist.refusing_damage(name, "restore the store from a copy"):
            contents = persist.Contents.of(content, name)
            if "stream" not in contents.header:
                return None
            return frozenset(filter(None, persist.unpack_strings(contents.array("words"))))
    except ValueError:
        return None
