"""What needs the libraries that compute with topics, and those that compile code.

A service that computes in a process of its own (`compute_process`) has it there, and stays small
itself. Otherwise it is called as it stands.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from trustream.service import document_views as views
from trustream.service.documents_in import NOTHING, Before, DocumentsIn
from trustream.service.live_model import LiveModel, load_live
from trustream.service.problem_error import ProblemError
from trustream.service.published_model import (
    Published,
    UnreadableModelError,
    no_model,
    number,
    unreadable_model,
    versions,
)
from trustream.service.readers import Readers
from trustream.service.shown_report import ShownReport, compute_report
from trustream.store.protocol import Store
from trustream.store.records import Record
from trustream.terminal import shown
from trustream.topic_names import UnknownTopicError

# What may be asked for.
OPERATIONS = (
    "load", "report", "document", "infer", "proportions", "search", "find_topic", "parse", "forget",
)  # fmt: skip


# Of those, what nobody waits for: it takes as long as it takes.
UNHURRIED = frozenset({"load", "report"})
# The number of an answer to nothing, by which a process says that it lives.
ALIVE = 0


@dataclass(frozen=True, slots=True)
class ComputingTask:
    """What is computed with.

    Attributes:
        store: address of the store.
        model: name of the model in it.
        title: of the store, for people.
        sample: documents of a report, at most.
        n_threads: requests that are worked on at a time.
    """

    store: str
    model: str
    title: str
    sample: int
    n_threads: int


class Question(NamedTuple):
    """An operation that another process is asked for; its answer has the same number."""

    number: int
    name: str
    arguments: tuple[Any, ...]


class Reply(NamedTuple):
    """What an operation returned, or what it raised; records are packed (`feeds.packed_items`)."""

    number: int
    value: Any
    error: BaseException | None


class Compute(Protocol):
    """Where computing is done: here, or in another process."""

    def submit(self, name: str, *arguments: Any) -> Future[Any]:
        """Begin with one of the operations of `Computing`; what it will return."""

    def rest(self) -> None:
        """Called now and then, to give up what nobody has needed for a while."""

    def look_after(self) -> None:
        """Called now and then, to see to it that what was begun gets done."""

    def close(self) -> None:
        """End."""


class Computing:
    """A store and the model that was published last; each operation runs in a thread.

    The operations are the methods below that take a store.

    >>> import tempfile
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_store(f"{folder}/topics.db").close()
    ...     computing = Computing(ComputingTask(f"{folder}/topics.db", "model", "topics", 100, 1))
    ...     (record,) = computing.submit("parse", b'{"id": 7, "text": "Cats"}', "", None).result()
    ...     computing.close()
    >>> record.key, record.words
    ('7', ['cats'])
    """

    def __init__(self, task: ComputingTask) -> None:
        self._task = task
        self._model: LiveModel | None = None
        self._loading = threading.Lock()
        # Records are made one after the other, reports and what changes models beside all else.
        readers = Readers(task.store, task.n_threads)
        others = {name: Readers(task.store, 1) for name in ("parse", "report", "forget")}
        self._threads = {name: others.get(name, readers) for name in OPERATIONS}
        self._documents_in = DocumentsIn()

    def submit(self, name: str, *arguments: Any) -> Future[Any]:
        """See `Compute`."""
        operation = getattr(self, name)
        return self._threads[name].submit(lambda store: operation(store, *arguments))

    def rest(self) -> None:
        """See `Compute`: what is loaded stays."""

    def look_after(self) -> None:
        """See `Compute`: threads cannot be looked after."""

    def close(self) -> None:
        """Wait for what was begun, and close the store."""
        for readers in {id(one): one for one in self._threads.values()}.values():
            readers.close()

    # --- operations

    def load(self, store: Store) -> Published | None:
        """Load the model, if there is another than before; None if there is none.

        Raises:
            UnreadableModelError: it cannot be read; the one before stays.
        """
        with self._loading:
            found = versions(store, self._task.model)
            if found is None:
                return None
            if self._model is None or self._model.published.versions != found:
                try:
                    model = load_live(store, self._task.model)
                except ValueError as error:
                    raise UnreadableModelError(str(error), found) from error
                if model is None:
                    return None
                self._model = model
            return self._model.published

    def report(self, store: Store) -> ShownReport:
        """A report on the model."""
        return compute_report(store, self._live(store), self._task.sample, self._task.title)

    def document(self, store: Store, key: str) -> bytes | None:
        """A document, see `schemas.Document`; None if it is not there."""
        found = views.view_document(store, self._live(store), key)
        return None if found is None else json.dumps(found).encode()

    def infer(self, store: Store, texts: Sequence[str], top: int, with_words: bool) -> bytes:
        """Topics of texts, see `schemas.Inference`."""
        model = self._live(store)
        found = views.inferred_texts(model, texts, top, with_words)
        return json.dumps({"version": model.version, "documents": found}).encode()

    def proportions(
        self, store: Store, key: str | None, text: str | None
    ) -> dict[int, float] | None:
        """Topics of a document or a text by their ids; none without a word that is known.

        None if the document is not there.
        """
        return views.proportions_of(store, self._live(store), key=key, text=text)

    def search(self, store: Store, word: str, limit: int) -> bytes:
        """Topics by a word, see `schemas.WordSearch`."""
        from trustream.topics.word_search import matching_words, topics_of_words

        model = self._live(store)
        words = matching_words(model.topics, word)
        items = [
            {
                "topic": one.topic,
                "label": model.label(one.topic),
                "share": number(model.topics.shares[model.topics.row(one.topic)]),
                "word": shown(one.word),
                "rank": one.rank,
                "probability": number(one.probability),
                "relevance": number(one.relevance),
                "topic_given_word": number(one.topic_given_word),
            }
            for one in topics_of_words(model.topics, words, limit)
        ]
        found = {"version": model.version, "query": word, "words": words, "items": items}
        return json.dumps(found).encode()

    def find_topic(self, store: Store, name: str) -> int:
        """The id of a topic that is given by id or label."""
        from trustream.topics.topic_search import find_topic

        try:
            return find_topic(self._live(store).topics, name)
        except UnknownTopicError as error:
            raise ProblemError(404, "no-topic", shown(error)) from None

    def parse(
        self,
        store: Store,
        body: bytes,
        kind: str,
        idempotency_key: str | None,
        before: Before = NOTHING,
    ) -> Sequence[Record]:
        """Records of a body, see `DocumentsIn`."""
        return self._documents_in.read(store, body, kind, idempotency_key, before)

    def forget(self, store: Store) -> int:
        """Take words out of saved models that no document has any more; how many there were."""
        from trustream.streaming.forgetting import forget_lost_words

        return forget_lost_words(store)[1]

    def _live(self, store: Store) -> LiveModel:
        if self._model is None:
            try:
                self.load(store)
            except UnreadableModelError:
                raise unreadable_model(self._task.model, self._task.title) from None
        if self._model is None:
            raise no_model(self._task.model, self._task.title)
        return self._model
