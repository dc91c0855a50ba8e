"""All that a trainer needs to go on exactly, as bytes for the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trustream import persist
from trustream._schema import (
    Array,
    Described,
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
from trustream.inference.streaming_vb import Draws
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.validity import check_lda
from trustream.streaming.clock import Clock
from trustream.streaming.settings import TrainerSettings

# Of the header; a checkpoint with a higher one is for a later version of trustream.
VERSION = 1
_ADVICE = "restore the store from a copy, or train a model by another name"
_HEADER = {
    "stream": integer(1, VERSION),
    "arrival": integer(-1),
    "memory_count": optional(number(least=0.0)),
    "settings": mapping,
    "scale": number(above=0.0),
    "shift": number(least=0.0),
    "eta": number(above=0.0),
    "n_steps": integer(0),
    "n_seen": integer(0),
    "clock": mapping,
    "draws": mapping,
    "others": mapping,
    # Nothing is computed from these.
    "best_score": optional(any_number),
    "last_score": optional(any_number),
}
_CLOCK = {
    "found": integer(0),
    "added_before": integer(0),
    "added": integer(0),
    "looked_at": integer(0),
    "since_arrival": integer(0),
    "quiet": number(least=0.0),
}


@dataclass(frozen=True)
class Checkpoint:
    """A trainer between two steps.

    Attributes:
        settings: what the trainer was made with.
        state: parameters, priors, steps.
        words: by column, as of the last step.
        clock: of the learning rate.
        draws: state of the generator that draws documents, before the next draw.
        others: state of the generator for everything else.
        arrival: number of the last document taken, where they are taken as they arrive.
        best_score, last_score: of held-out documents, None before the first.
    """

    settings: TrainerSettings
    state: State
    words: Sequence[str | None]
    clock: Clock
    draws: dict[str, Any]
    others: dict[str, Any]
    arrival: int = -1
    best_score: float | None = None
    last_score: float | None = None

    def to_bytes(self) -> bytes:
        """As a safetensors file with a JSON header."""
        lambda_, prior = self.state.lambda_, self.state.prior
        arrays = {
            "lambda.stored": lambda_.stored,
            "lambda.totals": lambda_.totals,
            "prior.alpha": prior.alpha,
            "words": persist.pack_strings([word or "" for word in self.words]),
        }
        memory = self.state.memory  # of streaming VB; the other methods here keep none
        if isinstance(memory, Draws):
            arrays["memory.log_sum"] = memory.log_sum
        header = {
            "stream": VERSION,
            "arrival": self.arrival,
            "memory_count": memory.count if isinstance(memory, Draws) else None,
            "settings": asdict(self.settings),
            "scale": lambda_.scale,
            "shift": lambda_.shift,
            "eta": prior.eta,
            "n_steps": self.state.n_steps,
            "n_seen": self.state.n_seen,
            "clock": asdict(self.clock),
            "draws": self.draws,
            "others": self.others,
            "best_score": self.best_score,
            "last_score": self.last_score,
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
        header = contents.header
        check_values(header, _HEADER, "the header")
        settings = TrainerSettings.of(header["settings"])
        table = _arrays(settings, header["memory_count"] is not None, contents.entries)
        check_entries(contents.entries, table)
        arrays = contents.arrays()
        check_arrays(arrays, table)
        words = [word or None for word in persist.unpack_strings(arrays["words"])]
        stored = arrays["lambda.stored"]
        if len(words) != stored.shape[0]:
            raise ValueError(f"{len(words)} words for {stored.shape[0]} rows of lambda")
        clock = _clock(header["clock"])
        for generator in ("draws", "others"):
            persist.generator_from_json(header[generator])
        alpha = arrays["prior.alpha"]
        prior = LdaPrior.of(alpha, header["eta"], alpha.size, stored.shape[0])
        lambda_ = LazyRows(stored, header["scale"], header["shift"], arrays["lambda.totals"])
        check_lda(lambda_, prior)
        memory = None
        if header["memory_count"] is not None:
            memory = Draws(arrays["memory.log_sum"], header["memory_count"])
        return cls(
            settings,
            State(lambda_, prior, header["n_steps"], header["n_seen"], memory),
            words,
            clock,
            header["draws"],
            header["others"],
            header["arrival"],
            header["best_score"],
            header["last_score"],
        )


def _clock(values: Any) -> Clock:
    check_values(values, _CLOCK, "the clock")
    clock = Clock(**values)
    if clock.added < clock.added_before:
        raise ValueError(f"the clock runs backwards, from {clock.added_before} to {clock.added}")
    return clock


def _arrays(
    settings: TrainerSettings, has_memory: bool, entries: Mapping[str, Described]
) -> dict[str, Array]:
    """What the arrays must be; only they say how many words there are."""
    k = settings.n_components
    stored = entries.get("lambda.stored")
    n_words = stored.shape[0] if stored is not None and stored.shape else 0
    table = {
        "lambda.stored": Array([(n_words, k)], (settings.dtype,)),
        "lambda.totals": Array([(k,)], least=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "words": Array(None, ("uint8",)),
    }
    if has_memory:
        table["memory.log_sum"] = Array([(k,)])
    return table
