"""What a store must do, in the plainest way: dictionaries, one token after the other."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping

from trustream.store import Record, Settings, StoredText
from trustream.store.document_slots import is_held_out
from trustream.word_order import OrderedWords


class MemoryStore:
    """A store in memory."""

    def __init__(self, settings: Settings, vocabulary: list[str] | None = None) -> None:
        self.settings = settings
        self.documents: dict[str, Counter[str]] = {}
        self.times: dict[str, float] = {}
        self.texts: dict[str, list[str]] = {}
        self.titles: dict[str, str] = {}
        # Words as they stood; None once some came without an order.
        self.orders: dict[str, list[list[str]] | None] = {}
        self.seen: set[str] = set()
        # Documents and words in the order of their first appearance; no number is used twice.
        self.numbers: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self._next_number, self._next_word = itertools.count(), itertools.count()
        self.columns: list[str | None] = []
        self.added = self.sequence = 0
        if vocabulary is not None:
            self.columns = list(vocabulary)
            self.words = {word: i for i, word in enumerate(vocabulary)}

    def append(self, records: Iterable[Record]) -> tuple[set[int], set[int]]:
        """Numbers of the documents that grew, and of those that were replaced."""
        waiting: dict[str, None] = {}
        active = set(self.columns)
        before = {key: document.total() for key, document in self.documents.items()}
        left = self._not_repeated(records)
        self.sequence += bool(left)
        replaced = self._replace(left)
        for record in self._in_effect(left):
            self._append(record, waiting, active)
        if not self.settings.fixed:
            self._enter(list(waiting))
        if replaced:
            self._let_go()
        grown = {
            key for key in before.keys() - replaced if self.documents[key].total() > before[key]
        }
        return {self.numbers[key] for key in grown}, {self.numbers[key] for key in replaced}

    def _not_repeated(self, records: Iterable[Record]) -> list[Record]:
        left = []
        for record in records:
            if record.append_id is not None:
                if record.append_id in self.seen:
                    continue
                self.seen.add(record.append_id)
            left.append(record)
        return left

    def _in_effect(self, records: list[Record]) -> list[Record]:
        """Without those that a later one replaces."""
        found: list[Record] = []
        for record in records:
            if record.replace:
                found = [other for other in found if other.key != record.key]
            found.append(record)
        return found

    def _replace(self, records: list[Record]) -> set[str]:
        """Take out the words that documents lose, and all counts; which documents."""
        replaced = {record.key for record in records if record.replace} & self.documents.keys()
        for key in replaced:
            stay = {w for r in self._in_effect(records) if r.key == key for w in r.words}
            document = self.documents[key]
            self.documents[key] = Counter({word: 0 for word in document if word in stay})
            del self.times[key]
            self.texts.pop(key, None)
            self.titles.pop(key, None)
            self.orders.pop(key, None)
        return replaced

    def _append(self, record: Record, waiting: dict[str, None], active: set[str | None]) -> None:
        assert record.time is not None
        if record.key not in self.documents:
            self.documents[record.key] = Counter()
            self.numbers[record.key] = next(self._next_number)
            self.added += not is_held_out(record.key, self.settings.held_out)
        document = self.documents[record.key]
        self.times[record.key] = max(self.times.get(record.key, record.time), record.time)
        before = self.orders.setdefault(record.key, [])
        is_known = before is not None and isinstance(record.words, OrderedWords)
        self.orders[record.key] = [*before, *record.words.stretches] if is_known else None
        if record.text:
            self.texts.setdefault(record.key, []).append(record.text)
        if record.title:
            self.titles[record.key] = record.title
        pairs = record.words
        for word in pairs:
            if self.settings.fixed and word not in self.words:
                continue
            if word not in self.words:
                self.words[word] = next(self._next_word)
            is_new = word not in document
            document[word] += pairs[word] if isinstance(pairs, Mapping) else 1
            if is_new and word not in active:
                if self.count(word) >= self.settings.min_documents:
                    waiting.setdefault(word)

    def _enter(self, waiting: list[str]) -> None:
        members = [word for word in self.columns if word is not None]
        stay = set(self._by_rank([*members, *waiting])[: self.settings.max_words])
        self.columns = [word if word in stay else None for word in self.columns]
        self._seat([word for word in waiting if word in stay])

    def _seat(self, words: Iterable[str]) -> None:
        """Give words the first columns that are free, then new ones."""
        free = [column for column, word in enumerate(self.columns) if word is None]
        for word in words:
            if free:
                self.columns[free.pop(0)] = word
            else:
                self.columns.append(word)

    def _by_rank(self, words: Iterable[str]) -> list[str]:
        """The most frequent first, of equally frequent ones the older."""
        return sorted(words, key=lambda word: (-self.count(word), self.words[word]))

    def count(self, word: str) -> int:
        """In how many documents a word is."""
        return sum(word in document for document in self.documents.values())

    def delete(self, keys: Iterable[str]) -> int:
        gone = [key for key in dict.fromkeys(keys) if key in self.documents]
        self.sequence += bool(gone)
        for key in gone:
            del self.documents[key], self.times[key], self.numbers[key]
            self.texts.pop(key, None)
            self.titles.pop(key, None)
            self.orders.pop(key, None)
        self._let_go()
        return len(gone)

    def _let_go(self) -> None:
        """Forget words that no document has, and give their columns to others."""
        if not self.settings.fixed:
            self.words = {word: i for word, i in self.words.items() if self.count(word)}
            self.columns = [w if w in self.words else None for w in self.columns]
            self._fill()

    def _fill(self) -> None:
        """Words that are in enough documents take columns that were given back."""
        members = {word for word in self.columns if word is not None}
        waiting = [
            word
            for word in self.words
            if word not in members and self.count(word) >= self.settings.min_documents
        ]
        room = None if self.settings.max_words is None else self.settings.max_words - len(members)
        self._seat(self._by_rank(waiting)[:room])

    def keep(self, newest: int | None, since: float | None) -> int:
        by_age = sorted(self.documents, key=self.times.__getitem__)
        gone = [key for key in by_age if since is not None and self.times[key] < since]
        if newest is not None:
            gone += by_age[: max(len(by_age) - newest, 0)]
        return self.delete(gone)

    def kept_texts(self) -> dict[str, StoredText]:
        """What the store keeps of texts."""
        limit = self.settings.keep_text
        if not limit:
            return {}
        return {
            key: StoredText("\n".join(self.texts.get(key, []))[:limit], self.titles.get(key))
            for key in self.texts.keys() | self.titles.keys()
        }

    def kept_orders(self) -> dict[str, list[list[str]]]:
        """What the store keeps of the order of words."""
        if not self.settings.keep_order:
            return {}
        return {key: order for key, order in self.orders.items() if order is not None}

    def visible(self) -> dict[str, dict[str, int]]:
        """Documents in the order of arrival, with active words."""
        active = set(self.columns)
        return {
            key: {word: n for word, n in document.items() if word in active}
            for key, document in self.documents.items()
        }
