"""gensim's online variational Bayes in several processes; it cannot learn alpha."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from benchmarks.peers.methods.gensim_auto import train
from benchmarks.peers.recorder import Recorder

PACKAGE = "gensim"
ABOUT = 'LdaMulticore(eta="auto") with a fixed alpha, which it cannot learn'
BASE: dict[str, Any] = {
    "chunksize": 1000,
    "decay": 0.5,
    "offset": 1.0,
    "iterations": 50,
    "alpha": 0.05,
    "eta": "auto",
    "workers": 2,
}
GRID: dict[str, list[Any]] = {
    "chunksize": [1000, 256],
    "decay": [0.5, 0.7],
    "offset": [1.0, 10.0],
    "alpha": [0.05, 0.01, "asymmetric"],
    "workers": [2, 1],
}
EFFORT, REFERENCE = 2.0, "1 pass"


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """`effort` passes."""
    from gensim.models import LdaMulticore

    settings = dict(settings)
    if isinstance(settings["alpha"], float):
        settings["alpha"] = [settings["alpha"]] * n_topics
    train(LdaMulticore, counts, n_topics, settings, effort, recorder)
