"""Stream docstrings into a store while a model learns from it."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from trustream.demo import docstrings
from trustream.demo.screen import Screen
from trustream.store import open_store
from trustream.store.records import Record, Totals
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_model, save_settings
from trustream.streaming.trainer import StreamInfo, StreamTrainer
from trustream.text import tokenise
from trustream.topics.summary import summarise

_FEWEST_DOCUMENTS = 100
# Documents arrive during this share of the time; after it the model sees no new ones.
_ARRIVING = 0.7
# Documents per write.
_RECORDS = 20


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration has learned.

    Attributes
    ----------
    store : Path or None
        The file of the store; None if it was deleted.
    topics : list of lists of str
        The most probable words of each topic, the largest topic first.
    totals : Totals
        Of the store at the end.
    steps : int
        Number of steps that the trainer took.
    scores : list of (float, float)
        Seconds since the start, and the gain of the topics over word frequencies on held-out
        documents, in nats per word.
    """

    store: Path | None
    topics: list[list[str]]
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
        How long to learn. Documents arrive during the first 70 % of that time.
    seed : int
    store : path, optional
        The SQLite file to create and keep; if not given, a temporary one that is deleted.
    out : rich.console.Console, optional
        Standard output if not given.

    Raises
    ------
    ValueError
        If fewer than 100 docstrings are found, or the store has documents already.
    """
    out = Console() if out is None else out
    with (
        _place(store) as path,
        open_store(path, min_documents=5, held_out=0.05, tokeniser=tokenise) as opened,
    ):
        if opened.totals().documents:
            raise ValueError(f"{path} has documents already: name a file that does not exist")
        TopicStream().warm_up()
        writer = _Writer(path, roots, max_documents, _ARRIVING * seconds)
        writer.start()
        start = time.monotonic()
        screen = Screen(out, n_words)
        options = {"batch_size": 50, "score_every": 10, "random_state": seed}
        with StreamTrainer(opened, n_components, **options) as trainer, screen:  # type: ignore[arg-type]
            save_settings(opened, trainer.model)

            def after(info: StreamInfo) -> bool:
                screen.show(trainer, info, time.monotonic() - start)
                return writer.failed

            try:
                while time.monotonic() - start < seconds and not writer.too_few:
                    trainer.run(seconds=seconds - (time.monotonic() - start), callback=after)
            finally:
                writer.stop()
        writer.check()
        totals = opened.totals()
        topics = [topic.words for topic in summarise(load_model(opened), n_words)]
    result = DemoResult(store, topics, totals, trainer.n_steps, screen.scores)
    screen.report(result)
    return result


@contextmanager
def _place(store: Path | None) -> Iterator[Path]:
    """Where the store is made; without a path it is deleted at the end, however the end comes."""
    if store is not None:
        yield store
    else:
        with tempfile.TemporaryDirectory(prefix="trustream-") as folder:
            yield Path(folder, "docstrings.db")


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
                for words in found:
                    pending.append(Record(f"docstring-{self.n_documents}", words))
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
