"""Stream docstrings into a store while a model learns from it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from trustream.demo import docstrings
from trustream.demo.dashboard import Dashboard, needs_packages, program
from trustream.demo.modules import ModuleTokens
from trustream.demo.screen import Screen
from trustream.demo.topic_rows import TopicRow
from trustream.store import open_store
from trustream.store.protocol import Store
from trustream.store.records import Record, Totals
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_model, load_settings, save_settings
from trustream.streaming.trainer import StreamInfo, StreamTrainer
from trustream.text import tokenise
from trustream.topics.documents import DocumentBatch, gather
from trustream.topics.stored_documents import over_words, sampled, stored_batches
from trustream.topics.stored_topics import label_stored_topics
from trustream.topics.table import topic_info
from trustream.topics.topic_set import TopicSet, as_topics

_FEWEST_DOCUMENTS = 100
# Documents arrive during this share of the time; after it the model sees no new ones.
_ARRIVING = 0.7
# Seconds by which it takes longer, again and again, until there are enough documents.
_SECONDS_MORE = 0.5
# Documents per write.
_RECORDS = 20
_SETTINGS: dict[str, Any] = {"batch_size": 50, "score_every": 10}
# Seconds between two looks at which modules use which topic, and documents that are looked at.
_SECONDS_BETWEEN_LOOKS, _SAMPLE = 5.0, 1000
# Characters of each docstring that the store keeps for people to read.
_KEPT_TEXT = 2000


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration has learned.

    Attributes
    ----------
    store : Path
        The file of the store.
    rows : list of TopicRow
        The topics, the largest first: words that set each apart, and modules that use it most.
    totals : Totals
        Of the store at the end.
    steps : int
        Number of steps that the trainer took.
    scores : list of (float, float)
        Seconds since the start, and the gain of the topics over word frequencies on held-out
        documents, in nats per word.
    """

    store: Path
    rows: list[TopicRow]
    totals: Totals
    steps: int
    scores: list[tuple[float, float]]


def run(
    *,
    n_components: int = 20,
    max_documents: int = 10_000,
    n_words: int = 8,
    seconds: float = 60.0,
    seed: int = 0,
    store: Path | None = None,
    roots: Sequence[Path] | None = None,
    out: Console | None = None,
    serve: bool = False,
) -> DemoResult:
    """Stream docstrings into a store, learn topics from it, and show both on the screen.

    Parameters
    ----------
    n_components, n_words : int
        Number of topics to learn, and of words to show for each.
    max_documents, roots
        Maximal number of docstrings, and the directories of their packages
        (`trustream.demo.docstrings.stream`).
    seconds : float
        How long to learn; longer, on a busy machine, until there are 100 documents. Documents
        arrive during the first 70 % of that time.
    seed : int
    store : path, optional
        The SQLite file to create; if not given, one in a new temporary folder. It is kept, so that
        other commands can go on with it.
    out : rich.console.Console, optional
        Standard output if not given.
    serve : bool, default=False
        Whether to run the service and its dashboard beside it, until Ctrl-C.

    Raises
    ------
    ValueError
        If fewer than 100 docstrings are found, or the store has documents already.
    """
    out = Console() if out is None else out
    if serve:
        needs_packages()
    with (
        _place(store) as path,
        open_store(
            path, min_documents=5, held_out=0.05, tokeniser=tokenise, keep_text=_KEPT_TEXT
        ) as opened,
    ):
        if opened.totals().documents:
            raise ValueError(f"{path} has documents already: name a file that does not exist")
        out.print("Compiling, then reading docstrings ...", style="dim")
        TopicStream().warm_up()
        save_settings(
            opened, TopicStream(n_components=n_components, random_state=seed, **_SETTINGS)
        )
        with Dashboard(path) if serve else nullcontext() as dashboard:
            screen = Screen(out, dashboard.address if dashboard else None)
            writer = _Writer(path, roots, max_documents, _ARRIVING * seconds)
            with StreamTrainer(
                opened, model=load_settings(opened), checkpoint_every=3.0 if serve else 60.0
            ) as trainer:
                _learn(trainer, writer, screen, seconds, n_words)
            result = _result(opened, path, trainer.n_steps, screen, n_words)
            screen.report(result, program())
            if dashboard is not None:
                out.print(f"The dashboard stays at {dashboard.address} until Ctrl-C.")
                dashboard.wait()
    return result


def _learn(
    trainer: StreamTrainer, writer: _Writer, screen: Screen, seconds: float, n_words: int
) -> None:
    """Learn while the writer writes, and show it."""
    writer.start()
    start = time.monotonic()
    view = _View(trainer.store, n_words)

    def after(info: StreamInfo) -> bool:
        elapsed = time.monotonic() - start
        screen.note(info, elapsed)
        if screen.is_due():
            rows = view.rows(trainer.estimator()) if screen.shows_topics else []
            screen.show(info, rows, elapsed)
        return writer.failed

    with screen:
        try:
            while not writer.too_few:
                left = seconds - (time.monotonic() - start)
                if left <= 0 and writer.n_documents >= _FEWEST_DOCUMENTS:
                    break
                trainer.run(seconds=max(left, _SECONDS_MORE), callback=after)
        finally:
            writer.stop()
    writer.check()


def _result(store: Store, path: Path, n_steps: int, screen: Screen, n_words: int) -> DemoResult:
    """What was learned, with the modules that use each topic as labels in the store."""
    topics = as_topics(load_model(store))
    tokens = ModuleTokens(topics.n_topics)
    gather(topics, stored_batches(store, topics.words, texts=False), tokens)
    rows = _rows(topics, tokens.typical(), n_words)
    labels: dict[Any, str | None] = {}
    for row in rows:
        label = f"{', '.join(row.modules)}: {', '.join(row.words[:2])}"
        if row.modules and label not in labels.values():
            labels[row.topic] = label
    label_stored_topics(store, labels)
    return DemoResult(path, rows, store.totals(), n_steps, screen.scores)


class _View:
    """Topics of a model that is still learning, with modules that are looked up now and then."""

    def __init__(self, store: Store, n_words: int) -> None:
        self._store, self._n_words = store, n_words
        self._rng = np.random.default_rng(0)
        self._modules: list[list[str]] = []
        self._due = 0.0

    def rows(self, model: Any) -> list[TopicRow]:
        topics = as_topics(model)
        if time.monotonic() >= self._due:
            tokens = ModuleTokens(topics.n_topics)
            blocks = sampled(self._store, _SAMPLE, self._rng)
            gather(topics, _batches(self._store, blocks, topics), tokens)
            self._modules = tokens.typical()
            self._due = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        return _rows(topics, self._modules, self._n_words)


def _batches(store: Store, blocks: Any, topics: TopicSet) -> Iterator[DocumentBatch]:
    for documents, counts in over_words(store, blocks, topics.words):
        yield DocumentBatch(counts, keys=documents.keys)


def _rows(topics: TopicSet, modules: list[list[str]], n_words: int) -> list[TopicRow]:
    """The topics, the largest first; modules are in the order of the topics' rows."""
    return [
        TopicRow(info.topic, info.share, [entry.word for entry in info.relevant],
                 modules[info.row] if modules else [])
        for info in topic_info(topics, n_words=n_words)
    ]  # fmt: skip


@contextmanager
def _place(store: Path | None) -> Iterator[Path]:
    """Where the store is made; a temporary folder is deleted if the demonstration fails."""
    if store is not None:
        yield store
        return
    folder = tempfile.mkdtemp(prefix="trustream-")
    try:
        yield Path(folder, "docstrings.db")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class _Writer(threading.Thread):
    """Adds docstrings to the store at a steady pace, through a connection of its own."""

    def __init__(
        self, path: Path, roots: Sequence[Path] | None, max_documents: int, seconds: float
    ) -> None:
        super().__init__(name="trustream-demo", daemon=True)
        self._path, self._roots = path, roots
        self._max_documents, self._seconds = max_documents, seconds
        self._ended = threading.Event()
        self._finished = False
        self._error: BaseException | None = None
        self.n_documents = 0

    @property
    def failed(self) -> bool:
        """Whether an error has ended the thread."""
        return self._error is not None

    @property
    def too_few(self) -> bool:
        """Whether the demonstration must end: after an error, or for lack of docstrings."""
        return self.failed or (self._finished and self.n_documents < _FEWEST_DOCUMENTS)

    def run(self) -> None:
        """Write all documents; called by the thread."""
        try:
            self._write()
        except BaseException as error:
            self._error = error
        self._finished = True

    def stop(self) -> None:
        """End the thread, even if docstrings are left."""
        self._ended.set()
        self.join()

    def check(self) -> None:
        """Raise the error of the thread, or one if there were too few docstrings."""
        if self._error is not None:
            raise self._error
        if self.n_documents < _FEWEST_DOCUMENTS:
            raise ValueError(
                f"found {self.n_documents} docstrings that are long enough; "
                f"the demonstration needs {_FEWEST_DOCUMENTS}"
            )

    def _write(self) -> None:
        start = time.monotonic()
        pending: list[Record] = []
        with open_store(self._path, create=False) as store:
            for found in docstrings.stream(self._roots):
                for docstring in found:
                    pending.append(
                        Record(docstring.name[-500:], docstring.words, text=docstring.text,
                               title=docstring.name)
                    )  # fmt: skip
                    self.n_documents += 1
                    if len(pending) >= _RECORDS:
                        store.append(pending)
                        pending = []
                        due = self._seconds * self.n_documents / self._max_documents
                        self._ended.wait(max(0.0, start + due - time.monotonic()))
                    if self._ended.is_set() or self.n_documents >= self._max_documents:
                        break
                if self._ended.is_set() or self.n_documents >= self._max_documents:
                    break
            store.append(pending)
