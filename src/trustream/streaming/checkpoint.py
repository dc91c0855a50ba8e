"""All that a trainer needs to go on exactly, as bytes for the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trustream import persist
from trustream.inference.state import State
from trustream.inference.streaming_vb import Draws
from trustream.models.lazy_rows import LazyRows
from trustream.models.lda_prior import LdaPrior
from trustream.streaming.clock import Clock
from trustream.streaming.settings import TrainerSettings


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
            "stream": 1,
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
        arrays, header = persist.from_bytes(content, name)
        if "stream" not in header:
            raise ValueError(f"{name} is not the checkpoint of a stream")
        alpha = arrays["prior.alpha"]
        # A copy: what was read cannot be written to.
        stored = arrays["lambda.stored"].copy()
        prior = LdaPrior.of(alpha, header["eta"], alpha.size, stored.shape[0])
        lambda_ = LazyRows(stored, header["scale"], header["shift"], arrays["lambda.totals"].copy())
        memory = None
        if header["memory_count"] is not None:
            memory = Draws(arrays["memory.log_sum"].copy(), header["memory_count"])
        words = [word or None for word in persist.unpack_strings(arrays["words"])]
        return cls(
            TrainerSettings(**header["settings"]),
            State(lambda_, prior, header["n_steps"], header["n_seen"], memory),
            words,
            Clock(**header["clock"]),
            header["draws"],
            header["others"],
            header["arrival"],
            header["best_score"],
            header["last_score"],
        )
