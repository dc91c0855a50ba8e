"""Simulations: documents arrive word by word, and every tick is reported."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from tests.pets_and_money import MONEY, PETS, records
from trustream.store import DocumentStore
from trustream.streaming.published import load_settings
from trustream.streaming.simulation import SimulationProgress, SimulationResult, run_simulation
from trustream.streaming.status import status

WORDS = PETS + MONEY
OPTIONS = {"n_topics": 2, "batch_size": 10, "rate": 4.0, "p": 0.5}


def counts() -> np.ndarray:
    rng = np.random.default_rng(0)
    pets, money = [0.2] * 5 + [0] * 5, [0] * 5 + [0.2] * 5
    return np.array([rng.multinomial(12, [pets, money][i % 2]) for i in range(40)])


def test_all_words_arrive_and_the_model_is_saved(empty_store: DocumentStore) -> None:
    seen: list[SimulationProgress] = []
    result = run_simulation(empty_store, counts(), WORDS, callback=seen.append, **OPTIONS)  # type: ignore[arg-type]
    assert (result.n_documents, result.n_tokens) == (40, 480)
    assert [progress.tick for progress in seen] == [*range(1, len(seen) + 1)]
    assert (seen[-1].n_begun, seen[-1].n_active) == (40, 0)
    assert seen[-1].n_steps == result.n_steps and seen[-1].last_score == result.last_score
    assert any(progress.is_scored for progress in seen)
    assert all(progress.rho is not None for progress in seen if progress.is_scored)
    saved = status(empty_store).model
    assert saved is not None and (saved.n_topics, saved.n_steps) == (2, result.n_steps)
    settings = load_settings(empty_store)
    assert settings is not None and settings.settings()["batch_size"] == 10
    json.dumps([asdict(result), *map(asdict, seen)])


def test_no_steps_and_few_ticks(empty_store: DocumentStore) -> None:
    result = run_simulation(
        empty_store,
        counts(),
        WORDS,
        steps_per_tick=0,
        n_ticks=3,
        **OPTIONS,  # type: ignore[arg-type]
    )
    assert result == SimulationResult(*_documents_and_tokens(empty_store), 0, None)
    assert status(empty_store).model is None


def test_streaming_vb_is_given_whole_documents(empty_store: DocumentStore) -> None:
    seen: list[SimulationProgress] = []
    run_simulation(
        empty_store,
        counts(),
        WORDS,
        method="streaming-vb",
        callback=seen.append,
        **OPTIONS,  # type: ignore[arg-type]
    )
    assert len(seen) < 30 and _documents_and_tokens(empty_store) == (40, 480)


def test_refusals(empty_store: DocumentStore) -> None:
    with pytest.raises(ValueError, match="9 words"):
        run_simulation(empty_store, counts(), WORDS[:9])
    empty_store.append(records(1))
    with pytest.raises(ValueError, match="has documents already: a simulation starts with none"):
        run_simulation(empty_store, counts(), WORDS)


def _documents_and_tokens(store: DocumentStore) -> tuple[int, int]:
    totals = store.totals()
    return totals.documents, totals.tokens
