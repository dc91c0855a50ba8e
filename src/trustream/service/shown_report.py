"""A report on a published model, as the routes answer with it: computed once, asked for often."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustream.service.live_model import LiveModel
from trustream.service.published_model import Published, number
from trustream.store.protocol import Store
from trustream.terminal import shown

if TYPE_CHECKING:
    from trustream.topics.nearest import NearestDocuments

# Documents of each topic that are kept, and those that a report shows.
_MOST_DOCUMENTS, _SHOWN_DOCUMENTS = 50, 5
# Words of a topic on its own page, in lists, and in history.
_WORDS, _LISTED_WORDS, _NOTED_WORDS = 50, 10, 8


@dataclass(frozen=True, eq=False)
class ShownReport:
    """What is shown of a model and its documents, most of it as JSON.

    Attributes:
        model: the model.
        state: what it was computed from, see `schemas.ReportState`.
        sequence: that of the store when it began.
        report: all of it, see `schemas.Report`.
        topics: a list, see `schemas.Topic`.
        details: of each topic by its id, see `schemas.TopicDetail`.
        documents: of each topic, the best first.
        trends: see `schemas.Trends`.
        map: see `schemas.TopicMap`.
        ids: of topics, in the order of the model's.
        rows: what is remembered of each topic: id, label, share and first words.
        nearest: documents by their topics.
    """

    model: Published
    state: dict[str, Any]
    sequence: int
    report: bytes
    topics: bytes
    details: dict[int, bytes]
    documents: dict[int, bytes]
    trends: bytes
    map: bytes
    ids: list[int]
    rows: list[dict[str, Any]]
    nearest: NearestDocuments

    @property
    def computed(self) -> float:
        """When, in seconds since 1970."""
        return float(self.state["computed"])

    @property
    def is_sample(self) -> bool:
        """Whether only a sample of the documents was read."""
        return bool(self.state["is_sample"])


def compute_report(store: Store, model: LiveModel, sample: int, title: str) -> ShownReport:
    """Read documents of a store, at most so many, and report on the topics of a model."""
    from trustream.topics.characteristic_words import relevant_words
    from trustream.topics.nearest import NearestDocuments
    from trustream.topics.representatives import RunningTop
    from trustream.topics.stored_report import stored_report_data

    best, nearest = RunningTop(model.topics, _MOST_DOCUMENTS), NearestDocuments()
    totals, began = store.totals(), time.time()
    data = stored_report_data(
        store,
        model.topics,
        sample=sample,
        n_documents=_SHOWN_DOCUMENTS,
        into=[best, nearest],
        title=title,
    )
    n_read = int(data["n_documents"] or 0)
    n_stored = max(totals.documents, n_read)
    version, is_sample = model.version, n_read < n_stored
    state = {
        "version": version,
        "computed": began,
        "n_documents": n_read,
        "n_stored": n_stored,
        "is_sample": is_sample,
    }
    listed, details, documents, rows = [], {}, {}, []
    for entry in data["topics"]:
        topic = int(entry["topic"])
        words = relevant_words(model.topics, model.topics.row(topic), _WORDS)
        about = _topic(model, entry, words)
        found = [_document(one) for one in best.documents(topic)]
        listed.append(about | {"words": about["words"][:_LISTED_WORDS]})
        more = {
            "version": version,
            "position": entry["position"],
            "lower": entry.get("lower"),
            "upper": entry.get("upper"),
            "time": data["time"],
            "documents": found[:_SHOWN_DOCUMENTS],
        }
        details[topic], documents[topic] = _json(about | more), _json(found)
        noted = [word.word for word in words[:_NOTED_WORDS]]
        rows.append({name: entry[name] for name in ("topic", "label", "share")} | {"words": noted})
    whole = {name: state[name] for name in ("version", "computed", "n_stored", "is_sample")}
    return ShownReport(
        model.published,
        state,
        totals.sequence,
        _json({**data, **whole}),
        _json(listed),
        details,
        documents,
        _json({"version": version, "is_sample": is_sample, **_trends(data)}),
        _json({"version": version, **_map(data)}),
        list(model.topics.names.ids),
        rows,
        nearest,
    )


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _topic(model: LiveModel, entry: dict[str, Any], words: Any) -> dict[str, Any]:
    beta, place = model.topics.probabilities(model.topics.row(entry["topic"])), model.columns
    names = (
        "topic", "label", "labelled", "share", "n_documents", "n_documents_with", "coherence",
    )  # fmt: skip
    return {name: entry[name] for name in names} | {
        "words": [
            {
                "word": shown(found.word),
                "probability": number(beta[place[found.word]], 9),
                "relevance": number(found.weight),
            }
            for found in words
        ],
        "shares": entry.get("shares"),
        "trend": entry.get("trend"),
    }


def _document(found: Any) -> dict[str, Any]:
    return {
        "row": None if found.row is None else int(found.row),
        "key": found.key,
        "title": found.title,
        "excerpt": found.excerpt,
        "proportion": number(found.proportion),
        "n_tokens": number(found.n_tokens),
    }


def _trends(data: dict[str, Any]) -> dict[str, Any]:
    names = "topic", "label", "share", "shares", "lower", "upper", "trend"
    topics = [{name: entry[name] for name in names} for entry in data["topics"] if "trend" in entry]
    return {"time": data["time"], "topics": topics}


def _map(data: dict[str, Any]) -> dict[str, Any]:
    names = "topic", "label", "share", "position"
    topics = [{name: entry[name] for name in names} for entry in data["topics"]]
    return {"topics": topics, "explained": data["explained"], "hierarchy": data["hierarchy"]}
