"""Trust region against natural gradient for random hyperparameters of the paper's grid.

Section 4.3 has the grid and the passes, section 4.4 uses the same: 3 passes of the trust region
with m inner and M local steps, 6 of the natural gradient with m M / 2 local steps, 100 topics,
both priors by empirical Bayes. The better half of the settings are those whose better method has
the higher normalised precision.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness.rows import Row, Setup, at_least, information
from benchmarks.recommend import data
from benchmarks.recommend.methods import Pair
from benchmarks.recommend.quality import scored
from trustream import TopicRecommender

FILES = (data.FILE,)
K = 100
GRID: dict[str, tuple[Any, ...]] = {
    "batch_size": (10, 50, 100, 500, 1000),
    "learning_decay": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "learning_offset": (1.0, 10.0, 100.0, 1000.0, 10000.0),
    "steps": ((5, 40), (10, 20), (20, 10), (5, 100)),
    "topic_word_prior": (0.01, 0.05, 0.1, 0.2, 0.3),
    "doc_topic_prior": (0.01, 0.05, 0.1),
}
BOTH = ("normalised_precision", "recall")
PASSES = {"TR": 3, "NG": 6}


def measure(setup: Setup) -> Iterator[Row]:
    """In how many of the better settings the trust region does at least as well, on both."""
    matrix = data.likes(setup.data)
    splits = [data.split(matrix, seed) for seed in range(setup.choose(5, 1))]
    n_settings = setup.choose(10, 2)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_settings):
        chosen = {name: values[rng.integers(len(values))] for name, values in GRID.items()}
        runs = {method: _runs(chosen, method, splits) for method in ("TR", "NG")}
        found.append((chosen, runs))
        print(f"  {chosen}: {_line(runs)}", file=sys.stderr, flush=True)
    found.sort(key=lambda entry: -max(_mean(runs, BOTH[0]) for runs in entry[1].values()))
    better = found[: (n_settings + 1) // 2]
    differences = [[_difference(runs, name) for name in BOTH] for _, runs in better]
    wins = sum(all(mean >= 0 for mean, _ in both) for both in differences)
    draws = sum(all(mean >= -2 * error for mean, error in both) for both in differences)
    for rank, (chosen, runs) in enumerate(found, start=1):
        ratio = _mean(runs["TR"], BOTH[0]) / _mean(runs["NG"], BOTH[0])
        half = "better half" if rank <= len(better) else "other half"
        text = " ".join(str(value) for value in chosen.values())
        yield information(f"{half}: {text}: TR / NG", ratio, "x", settings=chosen, runs=runs)
    yield at_least("better half: TR at least matches NG on both", wins, len(better), "settings")
    yield information("better half: TR not below NG by two standard errors", draws, "settings")


def _mean(runs: list[dict[str, float]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


def _line(runs: dict[str, list[dict[str, float]]]) -> str:
    """Both measures of both methods, and how sure the difference of the first is."""
    means = [
        f"{method} {' '.join(f'{_mean(of, name):.4f}' for name in BOTH)}"
        for method, of in runs.items()
    ]
    difference, error = _difference(runs, BOTH[0])
    return "; ".join([*means, f"difference {difference:+.4f} ± {error:.4f}"])


def _difference(runs: dict[str, list[dict[str, float]]], name: str) -> tuple[float, float]:
    """TR less NG, mean over splits, and the standard error of that."""
    pairs = zip(runs["TR"], runs["NG"], strict=True)
    values = np.array([tr[name] - ng[name] for tr, ng in pairs])
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.inf
    return float(values.mean()), float(error)


def _runs(chosen: dict[str, Any], method: str, splits: list[data.Split]) -> list[dict[str, float]]:
    options = {name: value for name, value in chosen.items() if name != "steps"}
    options["max_iter"] = PASSES[method]
    m, n_local = chosen["steps"]
    if method == "TR":
        options |= {"inner_iter": m, "max_doc_update_iter": n_local}
    else:
        options |= {"max_doc_update_iter": m * n_local // 2}
        options["learning_method"] = "natural-gradient"

    def fit(train: sparse.csr_array, seed: int) -> Pair:
        model = TopicRecommender(
            K, random_state=seed, cooldown=0.0, learn_priors=True, mean_change_tol=0.0, **options
        ).fit(train)
        return model.user_topics(), model.item_topics_

    return [scored(fit, split, seed) for seed, split in enumerate(splits)]
