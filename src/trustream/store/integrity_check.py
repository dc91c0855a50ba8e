"""Check a store: count its documents anew and compare the counts with those that it keeps."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, replace

import numpy as np

from trustream.store.active_words import ActiveWords, Ints
from trustream.store.check_result import CheckResult, Findings
from trustream.store.database import Database
from trustream.store.document_encoding import PAIR_BYTES
from trustream.store.recount import (
    NumberedWords,
    Recount,
    recount_documents,
    recount_words,
    whole,
)
from trustream.store.repair import added, repair
from trustream.store.table_checks import (
    check_columns,
    check_frequencies,
    check_orders,
    check_texts,
    check_unique,
    check_used,
)
from trustream.store.table_rows import Counters, LostWords
from trustream.store.value_checks import (
    check_history,
    check_leases,
    check_names,
    check_saved,
    check_settings,
)

# A version with the fault lost words only of documents that had so many different ones.
_LOST_FROM = 256
_SUSPECTS = 20


def check(
    database: Database, *, repairs: bool, on_suspect: Callable[[str], None] | None = None
) -> CheckResult:
    """Check a store and, if asked to, repair what can be, in the transaction that is going on.

    Args:
        database: the store's database.
        repairs: whether to repair; then nobody else may write meanwhile.
        on_suspect: called with the key of each document that should be ingested again.
    """
    findings = Findings()
    for line in database.broken():
        findings.add("database", line)
    for table in ("state", "settings"):
        ((n,),) = database.stream(f"SELECT count(*) FROM {table}")
        if n != 1:
            findings.add("state", f"the table {table} has {n} rows")
    if findings.has("database", "state"):
        return CheckResult(0, 0, findings.damage())
    if not check_settings(database, findings):
        # The rest depends on them: a repair would make what is right wrong.
        return CheckResult(0, 0, findings.damage())
    # Keeps others from writing, if it is to be repaired.
    counters = _as_numbers(database.counters(write=repairs), findings)
    suspects = _Suspects(on_suspect)
    words = recount_words(database, findings)
    recount = recount_documents(database, words, findings, suspects.add)
    check_unique(database, findings)
    check_names(database, findings)
    check_saved(database, findings)
    check_history(database, findings)
    wrong_leases = check_leases(database, findings)
    wrong_texts = check_texts(database, findings)
    wrong_orders = check_orders(database, findings)
    check_used(database, words, recount, findings)
    active = check_columns(database, words, recount, findings)
    frequencies = check_frequencies(database, words, recount, findings)
    least = replace(counters, sequence=frequencies.sequence, vocabulary=active.version)
    _check_counters(counters, least, words, recount, active, findings)
    lost = _lost_words(database.lost_words(), counters, recount, frequencies.values, findings)
    _find_suspects(database, lost, set(recount.keys), suspects)
    repaired: Collection[str] = ()
    if repairs:
        if wrong_texts or wrong_orders:
            database.overwrite()
            database.clear_texts(wrong_texts)
            database.clear_orders(wrong_orders)
        for name in wrong_leases:
            database.repair_lease(name)
        repaired = repair(database, _later(counters, least), words, recount, active, findings)
        if lost is not None and lost.repaired is None:
            database.put_lost_words(lost._replace(repaired=time.time()))
    return CheckResult(
        n_documents=recount.training + recount.held_out,
        n_tokens=recount.tokens,
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


def _as_numbers(counters: Counters, findings: Findings) -> Counters:
    """The counters as whole numbers; SQLite takes anything else too."""
    values = asdict(counters)
    for name, value in values.items():
        if whole(value) < 0:
            findings.add("counters", f"{name} is {value!r:.60}")
            values[name] = 0
    return Counters(**values)


def _later(counters: Counters, least: Counters) -> Counters:
    """The counters with numbers of changes that nobody has seen yet."""
    return replace(
        counters,
        sequence=max(counters.sequence, least.sequence) + 1,
        vocabulary=max(counters.vocabulary, least.vocabulary) + 1,
    )


def _check_counters(
    counters: Counters,
    least: Counters,
    words: NumberedWords,
    recount: Recount,
    active: ActiveWords,
    findings: Findings,
) -> None:
    expected = {
        "training": recount.training,
        "held_out": recount.held_out,
        "words": len(active.numbers),
        # These may be higher: what they count may be gone.
        "next_word": min(max(counters.next_word, words.next), words.most),
        "added": added(counters, recount),
        "next_document": max(counters.next_document, recount.next_document),
        "sequence": max(counters.sequence, least.sequence),
        "vocabulary": max(counters.vocabulary, least.vocabulary),
    }
    for name, value in expected.items():
        if getattr(counters, name) != value:
            findings.add("counters", f"{name} is {getattr(counters, name)} instead of {value}")
    if counters.tokens != recount.tokens:
        findings.add(
            "tokens",
            f"the store counts {counters.tokens:,}, its documents have {recount.tokens:,}",
            abs(counters.tokens - recount.tokens),
        )


# --- words that an early version lost


def _lost_words(
    known: LostWords | None,
    counters: Counters,
    recount: Recount,
    frequencies: Ints,
    findings: Findings,
) -> LostWords | None:
    """What is missing in a store that was written by a version with the fault.

    Whatever that version lost, it counted: tokens and words in documents are counted too often.
    """
    if known is None or known.repaired is not None:
        return known
    tokens = max(counters.tokens - recount.tokens, 0)
    words = int(np.count_nonzero(frequencies > recount.frequencies))
    if tokens or words:
        example = f"{tokens:,} tokens of {words:,} different words are in no document"
        findings.add("words lost", example, max(tokens, 1))
    return known._replace(tokens=tokens, words=words)


def _find_suspects(
    database: Database, lost: LostWords | None, known: set[str], suspects: _Suspects
) -> None:
    """Documents that may have lost words, without those that are known as suspects.

    One that did had at least `_LOST_FROM` different words, lost only words that are missing now,
    and has kept the rest: so it has at least so many as that leaves. Those with the most words come
    first: if documents came in small parts, it is only these.
    """
    if lost is None or not (lost.tokens or lost.words):
        return
    least = PAIR_BYTES * max(_LOST_FROM - (lost.words or 0), 1)
    for (key,) in database.stream(
        f"SELECT key FROM document WHERE number < {lost.documents} AND length(content) >= {least}"
        " ORDER BY length(content) DESC, number"
    ):
        if key not in known:
            suspects.add(key)
