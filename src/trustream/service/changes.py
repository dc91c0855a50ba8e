"""Say how topics have changed from one report to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def topic_changes(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]], *, least: float = 0.0
) -> list[dict[str, Any]]:
    """How topics have changed, the largest change of share first; see `schemas.TopicChange`.

    Args:
        before, after: as `ShownReport.rows` has them.
        least: changes of shares by no more than this are "steady"; topics that are steady and have
            the same words as before are left out.

    >>> a = [{"topic": 0, "label": "pets", "share": 0.5, "words": ["cat"]}]
    >>> b = [{"topic": 0, "label": "pets", "share": 0.7, "words": ["cat"]},
    ...      {"topic": 1, "label": "money", "share": 0.3, "words": ["bank"]}]
    >>> [(found["topic"], found["change"]) for found in topic_changes(a, b)]
    [(1, 'appeared'), (0, 'grown')]
    """
    old, new = ({row["topic"]: row for row in rows} for rows in (before, after))
    found = []
    for topic in {**new, **old}:
        was, now = old.get(topic), new.get(topic)
        row: dict[str, Any] = now or was or {}
        shares = [0.0 if side is None else side["share"] or 0.0 for side in (was, now)]
        difference = shares[1] - shares[0]
        if was is None:
            change = "appeared"
        elif now is None:
            change = "gone"
        elif abs(difference) <= least:
            change = "steady"
        else:
            change = "grown" if difference > 0 else "shrunk"
        words = [[] if side is None else side["words"] for side in (was, now)]
        words_in = [word for word in words[1] if word not in words[0]] if was else []
        words_out = [word for word in words[0] if word not in words[1]] if now else []
        if change == "steady" and not words_in:
            continue
        found.append(
            {
                "topic": topic,
                "label": row["label"],
                "change": change,
                "before": None if was is None else was["share"],
                "after": None if now is None else now["share"],
                "words_in": words_in,
                "words_out": words_out,
            }
        )
    return sorted(found, key=lambda row: -abs((row["after"] or 0) - (row["before"] or 0)))
