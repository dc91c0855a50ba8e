"""Check what a store keeps beside documents and words: feeds, saved bytes, leases, settings."""

from __future__ import annotations

import json

from trustream.store.check_result import Findings
from trustream.store.database import Database
from trustream.store.errors import StoreError
from trustream.store.feed_table import position_fault
from trustream.store.kept_texts import MAX_KEPT
from trustream.store.lease_table import LeaseRow
from trustream.store.leases import lease_fault
from trustream.store.limits import is_finite_number, is_number_from, name_fault, short_repr
from trustream.store.position_checks import is_file_detail
from trustream.store.recount import whole
from trustream.tokenisers import from_dict

_OF_FILES = ("format", "head", "tail", "line")


def check_settings(database: Database, findings: Findings) -> bool:
    """Check the settings; whether the rest of the store can be checked with them."""
    ((held_out, least, most, fixed, keep_text, keep_order, tokeniser),) = database.stream(
        "SELECT held_out, min_documents, max_words, fixed, keep_text, keep_order, tokeniser"
        " FROM settings"
    )
    wrong = {
        "held_out": (held_out, is_finite_number(held_out) and 0 <= held_out < 1),
        "min_documents": (least, is_number_from(1, least)),
        "max_words": (most, most is None or is_number_from(1, most)),
        "fixed": (fixed, fixed in (0, 1)),
        "keep_text": (keep_text, is_number_from(0, keep_text) and keep_text <= MAX_KEPT),
        "keep_order": (keep_order, keep_order in (0, 1)),
    }
    for name, (value, fine) in wrong.items():
        if not fine:
            findings.add("settings", f"{name} is {short_repr(value)}")
    fine = not findings.has("settings")
    if tokeniser is not None:
        try:
            from_dict(json.loads(tokeniser))
        except (TypeError, ValueError, RecursionError) as error:
            findings.add("settings", f"the tokeniser cannot be read ({error!s:.200})")
    return fine


def check_names(database: Database, findings: Findings) -> None:
    """Check append ids and positions of feeds."""
    for name, time in database.stream("SELECT append_id, time FROM seen"):
        fault = name_fault(name)
        if fault is None and not (time is None or is_finite_number(time)):
            fault = f"has the time {short_repr(time)}"
        if fault is not None:
            findings.add("append ids", f"{name!r:.60} {fault}")
    for name, offset, finished, detail in database.stream(
        "SELECT name, offset_, finished, detail FROM feed"
    ):
        fault = name_fault(name) or position_fault(offset, finished, detail)
        if fault is None:
            found = json.loads(detail)
            if any(field in found for field in _OF_FILES) and not is_file_detail(found):
                fault = "has a detail that lacks what tells the file from others"
        if fault is not None:
            findings.add("feeds", f"{name!r:.200} {fault}")


def check_saved(database: Database, findings: Findings) -> None:
    """Check bytes that are saved: their parts, their versions, and checksums of models."""
    names = []
    for name, first, last, n, version in database.stream(
        "SELECT s.name, min(s.part), max(s.part), count(*), max(v.version) FROM saved AS s"
        " LEFT JOIN saved_version AS v ON v.name = s.name GROUP BY s.name"
    ):
        if (first, last) != (0, n - 1):
            findings.add("saved", f"{name!r:.60} has {n} parts, the last of them number {last}")
        else:
            names.append(name)
        if whole(version) < 1:
            findings.add("saved", f"{name!r:.60} has the version {version!r:.60}")
    for name in names:
        fault = _content_fault(database, name)
        if fault is not None:
            findings.add("saved", f"{name!r:.60} {fault}")


def _content_fault(database: Database, name: str) -> str | None:
    # Loaded here: most of the library stands behind it.
    from trustream import persist

    try:
        content = b"".join(database.saved(name))
    except StoreError:
        return "is no bytes"
    if len(content) > 8 and not content.strip(b"\0"):
        return "consists of zeros"
    # As models and checkpoints begin: with a length, of which three bytes are zero, and a header.
    if content[5:9] != b"\0\0\0{":
        return None
    try:
        persist.Contents.of(content, "it").arrays()
    except (ValueError, KeyError, TypeError, EOFError, OSError) as error:
        return f"is a damaged model: {error!s:.200}"
    return None


def check_leases(database: Database, findings: Findings) -> list[str]:
    """Check the leases; the names of those that are damaged."""
    wrong = []
    for name, *values in database.stream(
        "SELECT name, token, holder, since, beat, beaten, seconds, replaced FROM lease"
    ):
        fault = name_fault(name) or lease_fault(LeaseRow._make([*values, 0.0]))
        if fault is not None:
            findings.add("leases", f"{name!r:.60}: {fault}")
            wrong.append(name)
    return wrong


def check_history(database: Database, findings: Findings) -> None:
    """Check what was noted over time."""
    for name, every, slot, time, content in database.stream(
        "SELECT name, every, slot, time, content FROM history"
    ):
        fault = name_fault(name)
        if fault is None and not (is_finite_number(every) and every >= 1):
            fault = f"has slots of {short_repr(every)} seconds"
        if fault is None and not is_finite_number(time):
            fault = f"has the time {short_repr(time)}"
        if fault is None and slot != int(time // every):
            fault = f"has the time {short_repr(time)} in slot {short_repr(slot)}"
        if fault is None and not isinstance(content, bytes):
            fault = "has something else than bytes"
        if fault is not None:
            findings.add("history", f"{name!r:.60} {fault}")
