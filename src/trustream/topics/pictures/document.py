"""Draw a document: its topics, and which of its words speak for which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trustream.topics.document_view import DocumentView, WordTopics
from trustream.topics.pictures import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Topics with a colour each, and the smallest proportion that has one.
_MOST_TOPICS, _LEAST = 6, 0.02
_OTHERS = "other topics"


def plot_document(
    view: DocumentView, labels: Any = None, *, n_words: int = 80, ax: Any = None
) -> Axes:
    """Draw the words of a document on the colours of their topics, below the topics' proportions.

    Each word stands on the colour of the topic that it most probably comes from, the deeper the
    more probable. Words that occur several times have their count beside them.

    Parameters
    ----------
    view : DocumentView
        From `trustream.topics.view_documents`.
    labels : model, TopicSet, TopicTable, TopicsOverTime or mapping, default=None
        Where labels of topics come from; a mapping goes from ids to texts.
    n_words : int, default=80
        At most so many different words, the most frequent ones.
    ax : Axes, default=None
        None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from trustream.topics import TopicSet, view_documents
    >>> topics = TopicSet.of([[50.0, 40.0, 1.0], [1.0, 1.0, 90.0]], 0.1, ["cat", "dog", "bank"])
    >>> (view,) = view_documents(topics, np.array([[2, 0, 1]]))
    >>> ax = plot_document(view, {0: "pets", 1: "money"})
    >>> [text.get_text() for text in ax.texts]
    ['66 %  pets', '34 %  money', 'cat ×2', 'bank']
    """
    if not isinstance(view, DocumentView):
        raise ValueError(
            f"view is of type {type(view).__name__}, expected one of those from view_documents"
        )
    ax = drawing.one_axes(ax, 8.0, 1.1 + 0.03 * min(n_words, len(view.words)))
    shown = [found for found in view.topics if found.proportion >= _LEAST][:_MOST_TOPICS]
    names = drawing.labels_of(labels, [found.topic for found in shown])
    colours = {found.topic: drawing.COLOURS[i] for i, found in enumerate(shown)}
    key = [(found.proportion, names[found.topic], colours[found.topic]) for found in shown]
    rest = 1.0 - sum(found.proportion for found in shown)
    if rest > 0.005:
        key.append((rest, _OTHERS, drawing.MUTED))
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    title = view.title or view.key
    heading = f"document {view.row}" if title is None else title
    ax.set_title(drawing.short(heading, 80), loc="left", fontsize="medium", **drawing.PLAIN)
    drawing.figure_of(ax)
    flow = _Flow(ax)
    for proportion, name, colour in key:
        flow.write(f"{100 * proportion:.0f} %  {name}", colour, 0.55)
    flow.new_paragraph()
    for word in view.words[:n_words]:
        flow.write(_with_count(word), colours.get(word.topic, drawing.MUTED), _depth(word))
    if not view.words:
        flow.write("no word of this document is known to the model", drawing.MUTED, 0.1)
    elif len(view.words) > n_words:
        flow.write(f"and {len(view.words) - n_words} more words", "white", 0.0)
    flow.end()
    return ax


def _with_count(word: WordTopics) -> str:
    text = drawing.short(word.word, 40)
    return text if word.count == 1 else f"{text} ×{word.count:g}"


def _depth(word: WordTopics) -> float:
    """Of the colour behind a word: light enough for black letters."""
    return 0.1 + 0.4 * max(word.phi)


class _Flow:
    """Texts one after the other, in lines as wide as the Axes."""

    def __init__(self, ax: Any) -> None:
        self.ax, self.x, self.lines = ax, 0.0, 0
        self.width = ax.bbox.width
        # Texts with the number of their line and their left end in pixels.
        self.texts: list[tuple[Any, float, float]] = []
        self.gap = 7 * ax.figure.dpi / 72

    def write(self, text: str, colour: str, depth: float) -> None:
        from matplotlib.colors import to_rgba

        box = {"boxstyle": "round,pad=0.22", "facecolor": to_rgba(colour, depth), "linewidth": 0}
        written = self.ax.text(
            0, 1, text, va="top", ha="left", fontsize=9, color="black", bbox=box, **drawing.PLAIN
        )
        left, _, right, _ = drawing.extent(written)
        if self.x > 0 and self.x + right - left > self.width:
            self.x, self.lines = 0.0, self.lines + 1
        self.texts.append((written, float(self.lines), self.x))
        self.x += right - left + self.gap

    def new_paragraph(self) -> None:
        self.x, self.lines = 0.0, self.lines + 2

    def end(self) -> None:
        """Put the texts where they belong; lines come closer together if there are many."""
        height = self.ax.bbox.height
        step = min(18 * self.ax.figure.dpi / 72, height / (self.lines + 1))
        for text, line, left in self.texts:
            text.set_position(
                ((left + self.gap / 2) / self.width, 1 - (line * step + self.gap / 2) / height)
            )
