"""The benchmark of clusters: what is kept, the fitted model, and what is written to the page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.cluster import kept, page, prediction
from benchmarks.cluster.steps import Measured
from benchmarks.harness.rows import Setup

COMPUTE, LATENCY, COPY = 2e-9, 0.004, 3e-10


def measured(mode: str, n_exchanges: int) -> list[Measured]:
    """Steps that take exactly what the model says."""
    found = []
    for batch_size, n_words in ((500, 20_000), (2_000, 30_000), (10_000, 40_000)):
        n_pairs, n_tables = 100.0 * batch_size, n_exchanges - 1
        sent = n_tables * 4.0 * n_words * 100
        busy = COMPUTE * n_pairs * 100
        seconds = busy / 2 + LATENCY * n_exchanges + COPY * 3 * sent
        found.append(
            Measured(mode, batch_size, 100, 2, n_pairs, n_words, seconds, 0.0, 0.0, busy,
                     n_exchanges, sent, 2 * sent)
        )  # fmt: skip
    return found


def everything() -> list[Measured]:
    alone = [
        Measured("one process", size, 100, 1, 1.0, 1.0, 0.1, 0.0) for size in (500, 2_000, 10_000)
    ]
    return [*alone, *measured("exact", 3), *measured("local", 2)]


def test_the_model_finds_what_steps_are_made_of() -> None:
    model = prediction.fitted(measured("exact", 3), "exact")
    found = (model.compute, model.latency, model.copy, model.n_exchanges, model.n_tables)
    assert found == pytest.approx((COMPUTE, LATENCY, COPY, 3, 2))
    for one in measured("exact", 3):
        assert prediction.predicted(model, one) == pytest.approx(one.seconds)
    # More workers, or a slower network, are never more efficient; more documents are.
    values = [model.efficiency(n, 1_000, 100_000, 10.0) for n in (4, 16, 64, 256)]
    assert values == sorted(values, reverse=True)
    assert model.efficiency(64, 1_000, 100_000, 1.0) < values[2]
    assert model.efficiency(64, 1_000, 100_000, 10.0, 100_000) > values[2]


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures on the page are those of the files, and the rest of the page stays."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prediction, "draw", lambda models, path: None)
    setup = Setup(tmp_path, quick=False, n_threads=2)
    with pytest.raises(FileNotFoundError, match="scripts/bench cluster --only steps"):
        list(page.measure(setup))
    steps = [asdict(one) for one in everything()]
    kept.keep("steps", {"steps": steps, "memory": {"driver": 650.4, "worker": 810.0}})
    seconds = {"one process": 5.0, "exact": 11.25, "local": 9.0}
    kept.keep("fits", {"n_documents": 5_000, "n_topics": 100, "seconds": seconds})
    curves = {"ours": [[3.0, -8.0], [10.0, -7.3]], "spark": [[60.0, -7.5]]}
    kept.keep("spark", {**curves, "n_documents": 5_000, "n_topics": 100, "seconds": 10.0})
    assert len(list(prediction.measure(setup))) == 10
    (tmp_path / "docs").mkdir()
    (tmp_path / page.PAGE).write_text(f"Before.\n\n{page.BEGIN}\nold\n{page.END}\n\nAfter.\n")
    assert len(list(page.measure(setup))) == 1
    text = (tmp_path / page.PAGE).read_text()
    exact = next(one for one in everything() if one.mode == "exact" and one.batch_size == 10_000)
    assert f"| batches of 10,000, K = 100 | {0.1 / exact.seconds:.2f} (target 0.6) |" in text
    assert "| bytes of a step over 4 W K, 2 parts | 6.0 | 3.0 |" in text
    for said in (
        "650 MB",
        "810 MB",
        "11.2 with exact",
        "60 seconds to its best",
        "take 10 to reach",
    ):
        assert said in " ".join(text.split())
    assert "old" not in text and text.startswith("Before.") and text.endswith("After.\n")
    list(page.measure(setup))
    assert (tmp_path / page.PAGE).read_text() == text


def test_the_real_page_has_the_marks() -> None:
    text = (Path(__file__).parents[2] / page.PAGE).read_text()
    assert text.count(page.BEGIN) == text.count(page.END) == 1
