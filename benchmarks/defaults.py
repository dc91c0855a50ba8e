"""How good are the defaults? Each corpus once with them, and with random settings beside.

The claim: a user who sets only `n_components` is within 0.01 nats per word of the best of 20 random
settings. Settings are drawn from the paper's grid (section 4.3), with fewer inner and local
iterations, which cost time and gain nothing, and without tau = 10,000, which is too slow for one
data set of this size. All make the same number of passes. The score is document completion: half
of the tokens of each held-out document given the other half.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import corpora
from trustream import LatentDirichletAllocation
from trustream.evaluation import completion_from, split_tokens

GRID: dict[str, list[Any]] = {
    "batch_size": [10, 50, 100, 500, 1000],
    "learning_decay": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    "learning_offset": [1.0, 10.0, 100.0, 1000.0],
    "inner_iter": [1, 2, 5],
    "max_doc_update_iter": [10, 20, 40],
    "topic_word_prior": [0.01, 0.05, 0.1, 0.2, 0.3],
    "doc_topic_prior": [0.01, 0.05, 0.1],
}
DOCUMENTS = {"wiki_en": 10_000, "wiki_simple": 20_000, "newsgroups20": 17_000}
HELD_OUT, LEAST_WORDS, N_TOPICS, TARGET = 1000, 10, 100, 0.01


def run(data: Path, out: Path, quick: bool, n_settings: int = 20) -> None:
    """Fit everything, print a table, write `out`."""
    console = Console(stderr=True)
    results = []
    for name, n_documents in DOCUMENTS.items():
        counts = corpora.load(data, name)
        counts = counts[np.diff(counts.indptr) >= LEAST_WORDS]
        train = counts[HELD_OUT : HELD_OUT + (n_documents // 5 if quick else n_documents)]
        rng = np.random.default_rng(0)
        observed, hidden = split_tokens(counts[:HELD_OUT], random_state=0)
        for index in range(-1, 3 if quick else n_settings):
            setting = {key: rng.choice(values).item() for key, values in GRID.items()}
            setting = {} if index < 0 else setting
            results.append(_fit(name, train, observed, hidden, setting))
            console.print(_line(results[-1]), highlight=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"grid": GRID, "results": results}, indent=1))
    Console().print(_table(results))


def _fit(
    name: str, train: Any, observed: Any, hidden: Any, setting: dict[str, Any]
) -> dict[str, Any]:
    start = time.perf_counter()
    lda = LatentDirichletAllocation(N_TOPICS, random_state=0, **setting).fit(train)
    seconds = time.perf_counter() - start
    topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    score = completion_from(lda.transform(observed), topics, hidden).per_word
    return {"corpus": name, "setting": setting, "score": score, "seconds": seconds}


def _line(result: dict[str, Any]) -> str:
    setting = result["setting"] or "defaults"
    return f"{result['corpus']} {result['score']:.4f} in {result['seconds']:.1f} s: {setting}"


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table("corpus", "defaults", "seconds", "best", "median", "worst", "behind the best")
    for name in DOCUMENTS:
        mine = [r for r in results if r["corpus"] == name]
        default = next(r for r in mine if not r["setting"])
        others = np.sort([r["score"] for r in mine if r["setting"]])
        behind = others[-1] - default["score"]
        table.add_row(
            name,
            f"{default['score']:.4f}",
            f"{default['seconds']:.1f}",
            f"{others[-1]:.4f}",
            f"{np.median(others):.4f}",
            f"{others[0]:.4f}",
            f"{behind:.4f} ({'within' if behind <= TARGET else 'not within'} {TARGET})",
        )
    return table
