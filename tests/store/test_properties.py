"""Any sequence of changes leads to what a plain model in memory leads to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.store.contents_of import check_running_totals, documents, known_words, times
from tests.store.memory_store import MemoryStore
from trustream.store import Record, open_store
from trustream.word_order import OrderedWords

WORDS = st.sampled_from([f"w{i}" for i in range(12)] + ["naïve", "日本", "🙂", "'; --", "a b"])
KEYS = st.sampled_from([f"document {i}" for i in range(8)] + ["é", "%s"])
# Together more words than a document may have to be remembered by its writer.
MANY = st.builds(
    lambda first, n: [f"v{i}" for i in range(first, first + n)],
    st.integers(0, 300),
    st.integers(1, 290),
)
CONTENTS = st.one_of(
    st.lists(WORDS, max_size=6),
    MANY,
    st.lists(WORDS, max_size=4).map(tuple),
    st.dictionaries(WORDS, st.integers(1, 3), max_size=4),
    st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=3).map(OrderedWords),
)
RECORDS = st.lists(
    st.builds(
        Record,
        KEYS,
        CONTENTS,
        st.integers(0, 20).map(float),
        st.none() | st.sampled_from([f"id {i}" for i in range(6)]),
        st.sampled_from([False, False, True]),
        st.none() | st.sampled_from(["", "Cats", "dogs\n", "ナイフ 🙂", "x" * 300]),
        st.sampled_from([None, None, "", "Pets", "日本"]),
    ),
    min_size=1,
    max_size=6,
)
VOCABULARIES = st.sampled_from([None, None, None, ["w3", "w0", "日本", "never"]])
LIMITS = st.sampled_from([None, 1, 2, 3, 4, 5, 6, 200])


def machine(new_address: Callable[[], str]) -> type[RuleBasedStateMachine]:
    class Sequences(RuleBasedStateMachine):
        @initialize(
            min_documents=st.integers(1, 3),
            max_words=LIMITS,
            vocabulary=VOCABULARIES,
            keep_text=st.sampled_from([0, 0, 6, True]),
            keep_order=st.booleans(),
        )
        def make(
            self,
            min_documents: int,
            max_words: int | None,
            vocabulary: list[str] | None,
            keep_text: bool | int,
            keep_order: bool,
        ) -> None:
            self.address = new_address()
            options: dict[str, Any] = {"held_out": 0.3, "keep_text": keep_text}
            if vocabulary is None:
                options |= {"min_documents": min_documents, "max_words": max_words}
                options |= {"keep_order": keep_order}
            self.store = open_store(self.address, vocabulary=vocabulary, **options)
            self.model = MemoryStore(self.store.settings, vocabulary)

        @rule(records=RECORDS)
        def append(self, records: list[Record]) -> None:
            before, tokens = len(self.model.documents), self.store.totals().tokens
            result = self.store.append(records)
            extended, replaced = self.model.append(records)
            assert result.n_documents == len(self.model.documents) - before
            assert result.n_records + result.n_repeated == len(records)
            assert set(result.extended) == extended
            assert set(result.replaced) == replaced
            assert len(result.extended) + len(result.replaced) == len(extended | replaced)
            assert self.store.totals().tokens == tokens + result.n_tokens - result.n_removed

        @rule(keys=st.lists(KEYS, min_size=1, max_size=4))
        def delete(self, keys: list[str]) -> None:
            assert self.store.delete(keys) == self.model.delete(keys)

        @rule(newest=st.none() | st.integers(0, 8), since=st.integers(0, 8))
        def keep(self, newest: int | None, since: int) -> None:
            limit = float(since) if newest is None or since < 3 else None
            kept = self.store.keep(newest=newest, since=limit)
            assert kept == self.model.keep(newest, limit)

        @rule()
        def reopen(self) -> None:
            self.store.close()
            self.store = open_store(self.address, create=False)

        @rule(records=RECORDS, keys=st.lists(KEYS, max_size=2))
        def somebody_else(self, records: list[Record], keys: list[str]) -> None:
            with open_store(self.address) as other:
                other.append(records)
                other.delete(keys)
            self.model.append(records)
            self.model.delete(keys)

        @invariant()
        def same(self) -> None:
            model = self.model
            expected, found = model.visible(), documents(self.store)
            assert found == expected
            assert list(found) == list(expected)
            assert times(self.store) == [model.times[key] for key in expected]
            assert self.store.texts(expected) == model.kept_texts()
            orders = {order.key: order.stretches for order in self.store.word_orders(-1, 99)[0]}
            assert orders == model.kept_orders()
            assert self.store.vocabulary().words == model.columns
            totals = self.store.totals()
            assert totals.documents == totals.training + totals.held_out == len(expected)
            assert totals.tokens == sum(sum(d.values()) for d in model.documents.values())
            assert totals.words == sum(word is not None for word in model.columns)
            assert (totals.added, totals.sequence) == (model.added, model.sequence)
            assert known_words(self.store) == set(model.words)
            check_running_totals(self.store)

        def teardown(self) -> None:
            if hasattr(self, "store"):
                self.store.close()

    return Sequences


@pytest.mark.usefixtures("thresholds")
def test_any_sequence_of_changes(
    new_address: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    # A new schema takes longer than a new file, and what is short never reaches thresholds that
    # are not small.
    n_examples = 10 if "postgres" in request.node.name else 30
    if "as they are" in request.node.name:
        n_examples //= 2
    run_state_machine_as_test(
        machine(new_address),
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize("part", range(6))
def test_many_more_sequences(new_address: Callable[[], str], part: int) -> None:
    """Others in each part, and each time."""
    run_state_machine_as_test(
        machine(new_address),
        settings=settings(
            max_examples=50,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
