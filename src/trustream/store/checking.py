"""Check a store: everything that it counts is counted anew from its documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, replace

import numpy as np

from trustream.store.backend import Backend, Fault, State
from trustream.store.check_result import CheckResult, Findings
from trustream.store.columns import Columns, Ints
from trustream.store.contents import PAIR_BYTES
from trustream.store.counting import Counted, Words, count_documents, count_words, whole
from trustream.store.repairing import repair
from trustream.store.table_checks import check_columns, check_counts, check_names, check_once

# A version with the fault lost words only of documents that had so many different ones.
_LOST_FROM = 256
_SUSPECTS = 20


def check(
    backend: Backend, *, repairs: bool, on_suspect: Callable[[str], None] | None = None
) -> CheckResult:
    """Check a store and, if asked to, repair what can be, in the transaction that is going on.

    Args:
        backend: the store's database.
        repairs: whether to repair; then nobody else may write meanwhile.
        on_suspect: called with the key of each document that should be ingested again.
    """
    findings = Findings()
    for line in backend.broken():
        findings.add("database", line)
    for table in ("state", "settings"):
        ((n,),) = backend.stream(f"SELECT count(*) FROM {table}")
        if n != 1:
            findings.add("state", f"the table {table} has {n} rows")
    if findings.has("database", "state"):
        return CheckResult(0, 0, findings.damage())
    # Keeps others from writing, if it is to be repaired.
    state = _as_numbers(backend.state(write=repairs), findings)
    suspects = _Suspects(on_suspect)
    words = count_words(backend, findings)
    counted = count_documents(backend, words, findings, suspects.add)
    check_once(backend, findings)
    check_names(backend, findings)
    columns = check_columns(backend, words, counted, findings)
    counts = check_counts(backend, words, counted, findings)
    least = replace(state, sequence=counts.sequence, vocabulary=columns.version)
    _check_counters(state, least, words, counted, columns, findings)
    lost = _lost(backend.fault(), state, counted, counts.values, findings)
    _find_suspects(backend, lost, set(counted.keys), suspects)
    repaired: Collection[str] = ()
    if repairs:
        repaired = repair(backend, _later(state, least), words, counted, columns, findings)
        if lost is not None and lost.repaired is None:
            backend.put_fault(lost._replace(repaired=time.time()))
    return CheckResult(
        n_documents=counted.training + counted.held_out,
        n_tokens=counted.tokens,
        damage=findings.damage(repaired),
        faulty=lost is not None,
        missing_tokens=0 if lost is None else lost.tokens or 0,
        n_suspects=suspects.n,
        suspects=tuple(suspects.first),
    )


class _Suspects:
    """Documents that should be ingested again."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self._tell = tell
        self.n = 0
        self.first: list[str] = []

    def add(self, key: str) -> None:
        self.n += 1
        if len(self.first) < _SUSPECTS:
            self.first.append(key)
        if self._tell is not None:
            self._tell(key)


def _as_numbers(state: State, findings: Findings) -> State:
    """The counters as whole numbers; SQLite takes anything else too."""
    values = asdict(state)
    for name, value in values.items():
        if whole(value) < 0:
            findings.add("counters", f"{name} is {value!r:.60}")
            values[name] = 0
    return State(**values)


def _later(state: State, least: State) -> State:
    """The counters with numbers of changes that nobody has seen yet."""
    return replace(
        state,
        sequence=max(state.sequence, least.sequence) + 1,
        vocabulary=max(state.vocabulary, least.vocabulary) + 1,
    )


def _check_counters(
    state: State,
    least: State,
    words: Words,
    counted: Counted,
    columns: Columns,
    findings: Findings,
) -> None:
    expected = {
        "training": counted.training,
        "held_out": counted.held_out,
        "words": len(columns.members),
        "next_word": words.next,
        # These may be higher: what they count may be gone.
        "added": max(state.added, counted.training),
        "next_document": max(state.next_document, counted.next_document),
        "sequence": max(state.sequence, least.sequence),
        "vocabulary": max(state.vocabulary, least.vocabulary),
    }
    for name, value in expected.items():
        if getattr(state, name) != value:
            findings.add("counters", f"{name} is {getattr(state, name)} instead of {value}")
    if state.tokens != counted.tokens:
        findings.add(
            "tokens",
            f"the store counts {state.tokens:,}, its documents have {counted.tokens:,}",
            abs(state.tokens - counted.tokens),
        )


# --- words that were lost


def _lost(
    fault: Fault | None, state: State, counted: Counted, counts: Ints, findings: Findings
) -> Fault | None:
    """What is missing in a store that was written by a version with the fault.

    Whatever that version lost, it counted: tokens and words in documents are counted too often.
    """
    if fault is None or fault.repaired is not None:
        return fault
    tokens = max(state.tokens - counted.tokens, 0)
    words = int(np.count_nonzero(counts > counted.words))
    if tokens or words:
        example = f"{tokens:,} tokens of {words:,} different words are in no document"
        findings.add("words lost", example, max(tokens, 1))
    return fault._replace(tokens=tokens, words=words)


def _find_suspects(
    backend: Backend, lost: Fault | None, known: set[str], suspects: _Suspects
) -> None:
    """Documents that may have lost words, without those that are known as suspects.

    One that did had at least `_LOST_FROM` different words, lost only words that are missing now,
    and has kept the rest: so it has at least so many as that leaves. Those with the most words come
    first: if documents came in small parts, it is only these.
    """
    if lost is None or not (lost.tokens or lost.words):
        return
    least = PAIR_BYTES * max(_LOST_FROM - (lost.words or 0), 1)
    for (key,) in backend.stream(
        f"SELECT key FROM document WHERE number < {lost.documents} AND length(content) >= {least}"
        " ORDER BY length(content) DESC, number"
    ):
        if key not in known:
            suspects.add(key)
