"""All that a trainer needs to go on exactly, as bytes for the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trustream import persist
from trustream._schema import (
    Array,
    Rule,
    any_number,
    check_arrays,
    check_entries,
    check_values,
    integer,
    mapping,
    number,
    optional,
)
from trustream.inference.state import State
from trustream.learning import recipe_json, state_arrays
from trustream.streaming import old_checkpoints, stream_model
from trustream.streaming.batches import order_from_json
from trustream.streaming.clock import Clock
from trustream.streaming.stream_model import StreamModel
from trustream.topic_names import TopicNames

# Of the header; a checkpoint with a higher one is for a later version of trustream.
VERSION = 4
_ADVICE = "restore the store from a copy, or train a model by another name"
_HEADER = {
    "stream": integer(1, VERSION),
    "arrival": integer(-1),
    "n_words": integer(0),
    "settings": mapping,
    "recipe": optional(mapping),
    **state_arrays.HEADER,
    "clock": mapping,
    "draws": mapping,
    "others": mapping,
    # Nothing is computed from these.
    "best_score": optional(any_number),
    "last_score": optional(any_number),
    "topics": optional(mapping),
}
# Ids of topics: earlier versions have none.
_TOPICS = {"ids": Rule(lambda value: isinstance(value, list), "a list"), "next_id": integer(0)}
_CLOCK = {
    "found": integer(0),
    "added_before": integer(0),
    "added": integer(0),
    "looked_at": integer(0),
    "since_arrival": integer(0),
    "quiet": number(least=0.0),
    "phase_documents": integer(0),
    "phase_looks": integer(0),
}
# Clocks of versions without phases lack these.
_MAY_LACK = ("phase_documents", "phase_looks")


@dataclass(frozen=True)
class Checkpoint:
    """A trainer between two steps.

    Attributes:
        model: what is learned, with the recipe that it began with.
        state: parameters, priors, steps.
        words: by column, as of the last step.
        clock: of the learning rate.
        draws: state of the generator that draws documents, before the next draw.
        others: state of the generator for everything else.
        arrival: number of the last document taken, where they are taken as they arrive.
        best_score, last_score: of held-out documents, None before the first.
        names: ids of the topics by row; None where each has its row for an id, as at the beginning.
            Labels are not kept here: a store keeps them by id (`streaming.topic_labels`), so that
            topics can be labelled while they are trained.
    """

    model: StreamModel
    state: State
    words: Sequence[str | None]
    clock: Clock
    draws: dict[str, Any]
    others: dict[str, Any]
    arrival: int = -1
    best_score: float | None = None
    last_score: float | None = None
    names: TopicNames | None = None

    @property
    def topic_names(self) -> TopicNames:
        """Ids of the topics by row, also where none are kept."""
        return self.names or TopicNames.of(self.model.n_topics or 0)

    def to_bytes(self) -> bytes:
        """As a safetensors file with a JSON header."""
        arrays, state = state_arrays.to_arrays(self.state)
        arrays["words"] = persist.pack_strings([word or "" for word in self.words])
        header = {
            "stream": VERSION,
            "arrival": self.arrival,
            "n_words": len(self.words),
            "settings": stream_model.to_json(self.model),
            "recipe": recipe_json.to_json(self.model.recipe),
            **state,
            "clock": asdict(self.clock),
            "draws": self.draws,
            "others": self.others,
            "best_score": self.best_score,
            "last_score": self.last_score,
            "topics": None if self.names is None else _ids(self.names),
        }
        return persist.to_bytes(arrays, header)

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> Checkpoint:
        """What `to_bytes` gave; a ValueError names the checkpoint if it is something else."""
        with persist.refusing_damage(name, _ADVICE):
            contents = persist.Contents.of(content, name)
            header = contents.header
            version = header.get("stream")
            if version is None:
                raise persist.Unsuitable(f"{name} is not the checkpoint of a stream: {_ADVICE}")
            if type(version) is int and version > VERSION:
                raise persist.Unsuitable(
                    f"{name} was written by a newer version: upgrade trustream to go on with it"
                )
            return cls._of(contents)

    @classmethod
    def _of(cls, contents: persist.Contents) -> Checkpoint:
        version = {"stream": contents.header["stream"]}
        check_values(version, {"stream": _HEADER["stream"]}, "the header")
        is_old = version["stream"] == 1
        header = contents.header
        if is_old:
            header = old_checkpoints.header(header, contents.entries)
        check_values(header, _HEADER, "the header", (*state_arrays.MAY_LACK[1:], "topics"))
        model = stream_model.from_json(header["settings"])
        if header["recipe"] is not None:
            model = model.with_recipe(recipe_json.from_json(header["recipe"]))
        n_words = header["n_words"]
        format = model.format(n_words)
        table = format.table(header)
        table["words"] = Array(None, ("uint8",))
        written = old_checkpoints.table(table) if is_old else table
        check_entries(contents.entries, written)
        arrays = contents.arrays()
        check_arrays(arrays, written)
        if is_old:
            arrays = old_checkpoints.arrays(contents.header, arrays)
        words = [word or None for word in persist.unpack_strings(arrays["words"])]
        if len(words) != n_words:
            raise ValueError(f"{len(words)} words for {n_words} rows of lambda")
        clock = _clock(header["clock"])
        persist.generator_from_json(header["others"])
        order_from_json(header["draws"])
        return cls(
            model,
            state_arrays.from_arrays(format, header, arrays),
            words,
            clock,
            header["draws"],
            header["others"],
            header["arrival"],
            header["best_score"],
            header["last_score"],
            _names(header.get("topics"), model),
        )


def _ids(names: TopicNames) -> dict[str, Any]:
    return {"ids": list(names.ids), "next_id": names.next_id}


def _names(values: Any, model: StreamModel) -> TopicNames | None:
    if values is None:
        return None
    check_values(values, _TOPICS, "the topics")
    names = TopicNames.from_json({**values, "labels": {}})
    return names if model.n_topics is None else names.checked(model.n_topics)


def _clock(values: Any) -> Clock:
    check_values(values, _CLOCK, "the clock", _MAY_LACK)
    clock = Clock(**values)
    if clock.added < clock.added_before:
        raise ValueError(f"the clock runs backwards, from {clock.added_before} to {clock.added}")
    return clock
