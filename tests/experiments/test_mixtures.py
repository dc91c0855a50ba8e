"""The two experiments with mixtures, on data that take a moment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import claims, mixtures, mnist, patches, plots
from experiments.experiment import Experiment, Result
from tests.experiments import tiny
from trustream import BernoulliMixture
from trustream.inference.state import State
from trustream.models.mixture import BernoulliModel, BernoulliPrior


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tiny.digits(tmp_path_factory.mktemp("digits"))
    return tiny.result_of(tiny.MNIST, folder), folder / "out/quick"


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tiny.photographs(tmp_path_factory.mktemp("photographs"))
    return tiny.result_of(tiny.PATCHES, folder), folder / "out/quick"


def test_the_bound_is_the_one_that_the_estimator_has() -> None:
    X = (np.random.default_rng(0).random((50, 4)) < 0.3).astype(np.uint8)
    fitted = BernoulliMixture(3, random_state=0, dtype="float64", max_iter=2, population=None).fit(
        X
    )
    model = BernoulliModel(n_components=3, n_features=4, dtype="float64")
    prior = BernoulliPrior(np.ones(3))
    state = State(fitted._state.lambda_, prior)
    ours = mixtures.average_bound(model, state, X, len(X))
    assert ours == pytest.approx(fitted.elbo(X), rel=1e-6)


def test_the_bound_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = (np.random.default_rng(0).random((50, 4)) < 0.3).astype(np.uint8)
    model = BernoulliModel(n_components=3, n_features=4, dtype="float64")
    prior = BernoulliPrior(np.ones(3))
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    whole = mixtures.average_bound(model, state, X, 50)
    monkeypatch.setattr(mixtures, "_BLOCK", 7)
    assert mixtures.average_bound(model, state, X, 50) == pytest.approx(whole, rel=1e-12)


def test_mnist_runs_both_methods_for_as_many_updates(digits: tuple[Result, Path]) -> None:
    result, _ = digits
    assert [(run.series, run.seed) for run in result.runs] == [
        ("TR", 0), ("NG", 0), ("TR", 1), ("NG", 1),
    ]  # fmt: skip
    for run in result.runs:
        updates = [point["updates"] for point in run.points]
        assert updates == sorted(set(updates))
        assert (updates[0], updates[-1]) == (0, 60)
        assert run.points[-1]["elbo"] > run.points[0]["elbo"]


def test_mnist_keeps_the_images_of_the_first_seed(digits: tuple[Result, Path]) -> None:
    """Ink above and ink on the left are among them."""
    result, _ = digits
    first, second = result.of("TR")
    assert "images" not in second.extra
    images = mnist._as_images(first.extra["images"])
    assert images.shape == (4, 6, 6)
    above, left = np.full((2, 6, 6), 20 / 255)
    above[:3], left[:, :3] = 230 / 255, 230 / 255
    for planted in (above, left):
        assert min(np.abs(image - planted).mean() for image in images) < 0.1


def test_patches_start_from_the_same_place_and_hold_what_they_must(
    photographs: tuple[Result, Path],
) -> None:
    result, _ = photographs
    for seed in (0, 1):
        starts = {run.points[0]["elbo"] for run in result.runs if run.seed == seed}
        assert len(starts) == 1
    memory = {run.series: run.extra["memory_bytes"] for run in result.runs}
    assert memory["TR"] == memory["NG"] < memory["MO_B10k"] < memory["MO_B500"]
    for run in result.runs:
        assert run.points[-1]["epochs"] == tiny.PATCHES.settings["quick"]["epochs"][run.series]
        assert run.points[-1]["elbo"] > run.points[0]["elbo"]


@pytest.mark.parametrize(("fixture", "n_series"), [("digits", 2), ("photographs", 4)])
def test_figures_have_our_curves_and_the_papers(
    fixture: str, n_series: int, request: pytest.FixtureRequest
) -> None:
    result, folder = request.getfixturevalue(fixture)
    experiment = {"digits": mnist, "photographs": patches}[fixture].EXPERIMENT
    figure = experiment.draw(result)
    lines = plots.curves(figure)
    names = [str(line.get_gid()) for line in lines]
    assert sum(name.startswith("ours-") for name in names) == n_series
    assert sum(name.startswith("paper-") for name in names) == n_series
    for line in lines:
        x, y = line.get_data()
        assert len(x) == len(y) > 2
        assert np.isfinite(y).all()
    png = (folder / f"{result.experiment}.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 5000
    svg = (folder / f"{result.experiment}.svg").read_text()
    assert all(f'id="{name}"' in svg for name in names)


def test_the_papers_curve_is_thinner_where_data_differ(
    digits: tuple[Result, Path], photographs: tuple[Result, Path]
) -> None:
    def width(experiment: Experiment, result: Result) -> float:
        lines = plots.curves(experiment.draw(result))
        (line,) = (line for line in lines if line.get_gid() == "paper-TR")
        return float(line.get_linewidth())

    same = width(mnist.EXPERIMENT, digits[0])
    other = patches.EXPERIMENT.draw(photographs[0])
    assert width(patches.EXPERIMENT, photographs[0]) < same
    assert "instead of van Hateren" in other.get_suptitle()


def test_summaries_say_what_was_run(
    digits: tuple[Result, Path], photographs: tuple[Result, Path]
) -> None:
    rows = {what: (paper, ours) for what, paper, ours in mnist.summarise(digits[0]).rows}
    assert rows["natural gradient, components used, of 4"][0] == "fewer than half"
    paper, ours = rows["trust region, lower bound after 60 updates, nat/image"]
    assert paper == "-165.3"
    assert "±" in ours
    summary = patches.summarise(photographs[0])
    assert any("memoized, B = 500, parameters" in what for what, _, _ in summary.rows)
    assert any("Other photographs" in note for note in summary.notes)
    (order,) = (note for note in summary.notes if note.startswith("After one pass"))
    ours, paper = order.split("; in the paper ")
    assert paper == "TR 64.9, MO (10,000) 64.8, MO (500) 59.9, NG 59.1."
    values = [float(part.split()[-1]) for part in ours.replace("10,000", "10000").split(", ")[-4:]]
    assert values == sorted(values, reverse=True)


def test_each_start_has_its_own_runs_panel_and_order(tmp_path: Path) -> None:
    experiment = tiny.small(tiny.PATCHES, n_seeds=1, starts=["wide", "points"])
    result = tiny.result_of(experiment, tiny.photographs(tmp_path))
    assert len(result.runs) == 8
    for series in ("TR", "NG", "MO_B500", "MO_B10k"):
        (wide,), (points,) = result.of(series), result.of(f"{series}_points")
        assert wide.points[0]["elbo"] != points.points[0]["elbo"]
    figure = patches.draw(result)
    assert [axes.get_title() for axes in figure.axes] == ["wide start", "start at patches"]
    notes = " ".join(patches.summarise(result).notes)
    assert "from the wide start" in notes
    assert "from the start at patches" in notes
    assert len(claims.lines(result)) == 2
    # Runs that are not done are left out.
    part = replace(result, runs=[run for run in result.runs if run.series != "NG_points"])
    assert len(claims.lines(part)) == 1
    assert len(patches.summarise(part).rows) == 7 * 3
