"""Look at the topics of texts: table, documents, over time, and a report of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from trustream._regular_file import PathLike
from trustream.array_types import Float64
from trustream.evaluation.validation import whole_number
from trustream.topics import over_time, table
from trustream.topics.documents import DocumentBatch, gather
from trustream.topics.learned_topics import LearnedTopics
from trustream.topics.report.data import BINS
from trustream.topics.report.page import write_report
from trustream.topics.representatives import RepresentativeDocument, RunningTop
from trustream.topics.texts import excerpt, text_chunks
from trustream.topics.time_bins import as_seconds, bins_of_times
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.vocabulary import batches

# Documents of each topic that are found in one pass, at least.
_FOUND = 10


class TopicViews(LearnedTopics):
    """Base of `TopicModel` that looks at topics through documents, kept ones or given ones."""

    def topic_info(
        self,
        texts: Iterable[str] | None = None,
        *,
        n_words: int = 10,
        relevance: float = table.RELEVANCE,
        exclusivity: float = 0.5,
        threshold: float = table.THRESHOLD,
        coherence: bool = True,
    ) -> table.TopicTable:
        """Return a table of the topics: sizes, words, coherence and labels, the largest first.

        Parameters
        ----------
        texts : iterable of str, default=None
            Documents to count in; None takes those that are kept (`keep_documents`). Where none
            are, as in a loaded model, nothing is counted.
        n_words, relevance, exclusivity, threshold, coherence
            As in `trustream.topics.topic_info`.

        Returns
        -------
        TopicTable
            A short table when it is printed; ``table.frame()`` is a pandas DataFrame.

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats, dogs, cats", "bank rates bank"] * 20)
        >>> sorted((info.words[0].word, info.n_documents) for info in model.topic_info())
        [('bank', 20), ('cats', 20)]
        """
        topics, documents = self.topics_, self._documents(texts)
        if texts is None and documents is not None and coherence and threshold == table.THRESHOLD:
            documents = self._looked_at(_FOUND)[0]
        return table.topic_info(
            topics,
            documents,
            n_words=n_words,
            relevance=relevance,
            exclusivity=exclusivity,
            threshold=threshold,
            coherence=coherence,
        )

    def representative_documents(
        self, topic: int, n: int = 5, texts: Iterable[str] | None = None
    ) -> list[RepresentativeDocument]:
        """Return the documents with the largest proportions of a topic, the largest first.

        Parameters
        ----------
        topic : int
            Id of the topic, as in `topic_info`.
        n : int, default=5
        texts : iterable of str, default=None
            Documents to choose from; None takes those that are kept (`keep_documents`).

        Returns
        -------
        list of RepresentativeDocument
            `row` is the number of the document, from 0: in `texts`, or of all that were learned
            from since `fit`. `title` is the beginning of its text.

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> pets = int(model.transform(["cats"]).argmax())
        >>> best = model.representative_documents(pets, n=2)
        >>> [(document.row, document.title) for document in best]
        [(0, 'cats and dogs'), (2, 'cats and dogs')]
        """
        topics, n = self.topics_, whole_number("n", n)
        topics.row(topic)  # refused before anything is read
        if texts is not None:
            best = RunningTop(topics, n)
            gather(topics, self._documents(texts), best)
            return best.documents(topic)
        if self._documents(None) is None:
            raise ValueError(self._none_kept("representative_documents(topic, n, texts)"))
        found = self._looked_at(n)[1].documents(topic, n)
        return [replace(document, row=int(document.key), key=None) for document in found]

    def topics_over_time(
        self,
        times: Any,
        bins: Any = 10,
        texts: Iterable[str] | None = None,
        *,
        n_words: int = 5,
        level: float = 0.9,
        trend_level: float = 0.05,
    ) -> TopicsOverTime:
        """Return the shares of topics over time, with intervals, words and trends.

        Parameters
        ----------
        times : sequence
            One for each of the texts, or else for each document that was learned from since `fit`:
            dates, texts such as "2024-05-31" or seconds since 1970; None for a document without.
        bins, n_words, level, trend_level
            As in `trustream.topics.topics_over_time`.
        texts : iterable of str, default=None
            Documents to count in; None takes those that are kept (`keep_documents`).

        Examples
        --------
        >>> from trustream import TopicModel
        >>> texts = ["cats and dogs", "bank rates"] * 40 + ["bank rates"] * 80
        >>> model = TopicModel(2, max_fraction=1, random_state=0).fit(texts)
        >>> found = model.topics_over_time(range(160), bins=2)
        >>> sorted(trend.kind for trend in found.trends)
        ['fading', 'rising']
        """
        topics = self.topics_
        options: dict[str, Any] = {"n_words": n_words, "level": level, "trend_level": trend_level}
        if texts is not None:
            return over_time.topics_over_time(topics, self.count(texts), times, bins, **options)
        documents = self._documents(None)
        if documents is None:
            raise ValueError(self._none_kept("topics_over_time(times, bins, texts)"))
        kept = replace(documents, times=self._times_of_kept(as_seconds(times)))
        return over_time.topics_over_time(topics, kept, None, bins, **options)

    def report(
        self,
        path: PathLike,
        texts: Iterable[str] | None = None,
        times: Any = None,
        *,
        title: str = "Topics",
        bins: Any = BINS,
        n_documents: int = 5,
        n_words: int = 20,
    ) -> None:
        """Write a page about the topics that you can open in any browser, or send to a colleague.

        It is one file that needs no network: a map, words with a slider of relevance, topics over
        time, documents, a table and the hierarchy; see `trustream.topics.write_report`. It shows
        the beginnings of texts.

        Parameters
        ----------
        path : str or path
            The file, which is replaced whole or not at all.
        texts : iterable of str, default=None
            Documents to look at; None takes those that are kept (`keep_documents`). Where none
            are, as in a loaded model, the page has what the model knows by itself.
        times : sequence, default=None
            As in `topics_over_time`: one for each of the texts, or for each document that was
            learned from. None leaves time out.
        title, bins, n_documents, n_words
            As in `trustream.topics.write_report`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(Path(folder, "topics.html"), title="Pets and money")
        ...     "cats and dogs" in Path(folder, "topics.html").read_text(encoding="utf-8")
        True
        """
        topics, documents = self.topics_, self._documents(texts)
        if texts is None and documents is not None:
            keys = [f"document {number}" for number in documents.keys.tolist()]
            documents = replace(documents, keys=keys)
        if times is not None:
            seconds = as_seconds(times)
            bins = bins_of_times(bins, seconds)
            if texts is not None:
                documents = _with_times(documents, seconds)
            elif documents is None:
                raise ValueError(self._none_kept("report(path, texts, times)"))
            else:
                documents = replace(documents, times=self._times_of_kept(seconds))
        write_report(
            path,
            topics,
            documents,
            title=title,
            bins=bins,
            n_documents=n_documents,
            n_words=n_words,
        )

    # --- inside

    def _times_of_kept(self, seconds: Float64) -> Float64:
        """Of all documents that were learned from, the times of those that are kept."""
        n_seen = self._kept.n_seen
        if seconds.size != n_seen:
            raise ValueError(
                f"there are {seconds.size} times, but {n_seen} documents were learned from since "
                "the model was fitted or loaded: give one for each, or give the texts that the "
                "times belong to"
            )
        return np.asarray(seconds[self._kept.numbers])

    def _documents(self, texts: Iterable[str] | None) -> Any:
        """Documents as `trustream.topics` takes them; those that are kept, None if none are."""
        if texts is None:
            return self._kept.batch(len(self._words.words))
        return (
            DocumentBatch(counts, titles=[excerpt(text) for text in chunk])
            for counts, chunk in batches(self._words, text_chunks(texts))
        )

    def _looked_at(self, n: int) -> tuple[table.TableCounts, RunningTop]:
        """What is counted in the kept documents, with so many of each topic at least."""

        def look() -> tuple[table.TableCounts, RunningTop]:
            topics = self.topics_
            found = table.TableCounts(topics), RunningTop(topics, max(n, _FOUND))
            gather(topics, self._documents(None), *found)
            return found

        # Labels may change: what is counted does not depend on them.
        now = self._names.ids, self._kept.numbers
        found = self._of_now("looked at", now, look)
        if found[1].n < n:
            del self._cached["looked at"]
            found = self._of_now("looked at", now, look)
        return found

    def _none_kept(self, call: str) -> str:
        return f"no documents are kept (they are not in files, nor with keep_documents=0): {call}"


def _with_times(documents: Iterable[DocumentBatch], seconds: Float64) -> Iterator[DocumentBatch]:
    """Batches with their times, of which there is one for each document."""
    first = 0
    for batch in documents:
        last = first + batch.size
        if last > seconds.size:
            raise ValueError(f"there are {seconds.size} times, but more texts: give one for each")
        yield replace(batch, times=seconds[first:last])
        first = last
    if first < seconds.size:
        raise ValueError(f"there are {seconds.size} times, but {first} texts: give one for each")
