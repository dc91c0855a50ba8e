"""What a store must do, in the plainest way: dictionaries, one token after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from trustream.store import Record, Settings
from trustream.store.places import is_held_out


class Model:
    """A store in memory."""

    def __init__(self, settings: Settings, vocabulary: list[str] | None = None) -> None:
        self.settings = settings
        self.documents: dict[str, Counter[str]] = {}
        self.times: dict[str, float] = {}
        self.seen: set[str] = set()
        # Words in the order of their first appearance.
        self.words: dict[str, int] = {}
        self.columns: list[str | None] = []
        self.added = self.sequence = 0
        if vocabulary is not None:
            self.columns = list(vocabulary)
            self.words = {word: i for i, word in enumerate(vocabulary)}

    def append(self, records: Iterable[Record]) -> None:
        waiting: list[str] = []
        changed = False
        for record in records:
            if record.append_id is not None:
                if record.append_id in self.seen:
                    continue
                self.seen.add(record.append_id)
            changed = True
            self._append(record, waiting)
        self.sequence += changed
        if not self.settings.fixed:
            self._enter(waiting)

    def _append(self, record: Record, waiting: list[str]) -> None:
        assert record.time is not None
        if record.key not in self.documents:
            self.documents[record.key] = Counter()
            self.added += not is_held_out(record.key, self.settings.held_out)
        document = self.documents[record.key]
        self.times[record.key] = max(self.times.get(record.key, record.time), record.time)
        pairs = record.words
        for word in pairs:
            if self.settings.fixed and word not in self.words:
                continue
            self.words.setdefault(word, len(self.words))
            is_new = word not in document
            document[word] += pairs[word] if isinstance(pairs, Mapping) else 1
            enough = self.count(word) >= self.settings.min_documents
            if is_new and enough and word not in self.columns and word not in waiting:
                waiting.append(word)

    def _enter(self, waiting: list[str]) -> None:
        members = [word for word in self.columns if word is not None]
        by_rank = sorted([*members, *waiting], key=lambda w: (-self.count(w), self.words[w]))
        stay = by_rank[: self.settings.max_words]
        self.columns = [word if word in stay else None for word in self.columns]
        for word in waiting:
            if word in stay:
                free = self.columns.index(None) if None in self.columns else len(self.columns)
                self.columns[free : free + 1] = [word]

    def count(self, word: str) -> int:
        """In how many documents a word is."""
        return sum(word in document for document in self.documents.values())

    def delete(self, keys: Iterable[str]) -> int:
        gone = [key for key in dict.fromkeys(keys) if key in self.documents]
        self.sequence += bool(gone)
        for key in gone:
            del self.documents[key], self.times[key]
        if not self.settings.fixed:
            self.columns = [w if w is not None and self.count(w) else None for w in self.columns]
        return len(gone)

    def keep(self, newest: int | None, since: float | None) -> int:
        by_age = sorted(self.documents, key=self.times.__getitem__)
        gone = [key for key in by_age if since is not None and self.times[key] < since]
        if newest is not None:
            gone += by_age[: max(len(by_age) - newest, 0)]
        return self.delete(gone)

    def visible(self) -> dict[str, dict[str, int]]:
        """Documents in the order of arrival, words that take part."""
        return {
            key: {word: n for word, n in document.items() if word in self.columns}
            for key, document in self.documents.items()
        }
