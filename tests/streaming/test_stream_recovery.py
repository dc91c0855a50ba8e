"""On a simulated stream of planted topics, revealed word by word, trust region finds them.

600 documents of about 40 words, 10 topics over 200 words; 5 documents become active a tick, a word
of each comes with probability 1/2, and two steps on 10 documents are taken a tick, at the rate
(1 + added / 10)^-0.5 with the priors given. The natural gradient from the same start, with the
same documents and rates, loses topics: documents of one or two words say little about topics that
are nearly equal, and it settles for that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import matched_cosines, planted_lda
from trustream import StreamTrainer, open_store
from trustream.streaming.published import as_estimator
from trustream.streaming.simulator import simulate, ticks

K, V, N = 10, 200, 600


def n_found(folder: Path, method: str, seed: int, tau: float = 1.0) -> int:
    """Planted topics that have a partner with a cosine of 0.95 or more, at the stream's end."""
    counts, topics = planted_lda(np.random.default_rng(seed), K, V, N, 40, 0.1, 0.1)
    stream = ticks(
        counts,
        [f"word{v}" for v in range(V)],
        rate=5.0,
        p=0.5,
        rng=np.random.default_rng(100 + seed),
    )
    with (
        open_store(folder / f"{method}-{seed}.db", min_documents=1, held_out=0.0) as store,
        StreamTrainer(
            store,
            K,
            method=method,
            batch_size=10,
            learning_offset=tau,
            learning_decay=0.5,
            inner_iter=5,
            max_doc_update_iter=10,
            mean_change_tol=0.0,
            learn_priors=False,
            score_every=0,
            prefetch=False,
            random_state=seed,
        ) as trainer,
    ):
        for _ in simulate(store, trainer, stream, steps_per_tick=2):
            pass
        checkpoint = trainer.checkpoint()
        assert checkpoint is not None and store.totals().tokens == counts.sum()
        model = as_estimator(checkpoint)
    found = np.zeros((K, V))
    columns = [int(str(word)[4:]) for word in model.feature_names_in_]
    found[:, columns] = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return int((matched_cosines(found, topics) >= 0.95).sum())


def test_trust_region_finds_planted_topics(tmp_path: Path) -> None:
    assert n_found(tmp_path, "trust-region", seed=0) == K


def test_natural_gradient_does_not(tmp_path: Path) -> None:
    assert n_found(tmp_path, "natural-gradient", seed=0) < K / 2


@pytest.mark.slow
def test_more_seeds(tmp_path: Path) -> None:
    """At two offsets the natural gradient finds less than half, trust region nearly all."""
    for tau in (1.0, 10.0):
        (tmp_path / str(tau)).mkdir()
        for seed in range(1, 6):
            assert n_found(tmp_path / str(tau), "trust-region", seed, tau) >= K - 3
            assert n_found(tmp_path / str(tau), "natural-gradient", seed, tau) < K / 2
