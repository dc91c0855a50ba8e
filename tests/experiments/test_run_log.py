"""Finished runs survive in a small file, and are done again only if they would be different."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments import probes
from experiments.experiment import Record, Run, Source
from experiments.keys import keys_of
from experiments.run_log import RunLog
from experiments.runner import Setup, complete
from tests.experiments.test_runner import Work

SOURCE = Source("made up", [], "0", False)


def quiet() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def kept(tmp_path: Path, **changed: Any) -> Setup:
    options = {"out": tmp_path / "out", "scale": "full", "kept": tmp_path / "kept", **changed}
    return Setup(tmp_path, **options)


def full(work: Work, **settings: Any) -> Any:
    experiment = work.experiment(**settings)
    scales = {"full": experiment.settings["quick"]}
    return replace(experiment, settings=scales, n_seeds={"full": 2})


def test_runs_of_scale_full_are_kept_apart_and_gone_on_with(tmp_path: Path) -> None:
    work = Work()
    work.stop_at = "B-1"
    with pytest.raises(KeyboardInterrupt):
        complete(full(work), kept(tmp_path), quiet())
    assert not (tmp_path / "out").exists()
    # Somewhere else, from the small file alone.
    work.stop_at = None
    result = complete(full(work), kept(tmp_path, out=tmp_path / "elsewhere"), quiet())
    assert work.done == ["A-0", "B-0", "A-1", "B-1"]
    assert (len(result.runs), result.n_planned) == (4, 4)


def test_no_run_begins_when_the_time_is_up(tmp_path: Path) -> None:
    work = Work()
    result = complete(full(work), kept(tmp_path, until=0.0), quiet())
    assert work.done == [] == result.runs
    assert result.n_planned == 4


def test_settings_that_only_plan_do_not_void_runs(tmp_path: Path) -> None:
    work = Work()
    one = replace(full(work, sizes=[1], tau=1), plan_only=frozenset({"sizes"}))
    complete(one, kept(tmp_path), quiet())
    complete(replace(one, settings={"full": {"sizes": [1, 2], "tau": 1}}), kept(tmp_path), quiet())
    assert len(work.done) == 4
    complete(replace(one, settings={"full": {"sizes": [1], "tau": 2}}), kept(tmp_path), quiet())
    assert len(work.done) == 8


def test_what_the_library_computes_decides_and_its_version_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, value = Work(), -7.12341
    probed = replace(full(work), probe=lambda: [value])
    complete(probed, kept(tmp_path), quiet())
    monkeypatch.setattr("trustream.__version__", "another")
    value = -7.12342  # as another machine rounds
    complete(probed, kept(tmp_path), quiet())
    assert len(work.done) == 4
    value = -7.125
    complete(probed, kept(tmp_path), quiet())
    assert len(work.done) == 8
    # Runs of other libraries stay.
    foreign = replace(probed, is_foreign=lambda run: run.series == "B")
    complete(foreign, kept(tmp_path), quiet())
    value, work.done = -7.2, []
    complete(foreign, kept(tmp_path), quiet())
    assert work.done == ["A-0", "A-1"]


def test_fewer_seeds_do_not_delete_the_others_and_old_runs_are_replaced(tmp_path: Path) -> None:
    work = Work()
    complete(full(work), kept(tmp_path), quiet())
    complete(full(work), kept(tmp_path, n_seeds=1), quiet())
    result = complete(full(work), kept(tmp_path), quiet())
    assert len(work.done) == 4 == len(result.runs)
    work.sha256 = "1"
    complete(full(work), kept(tmp_path), quiet())
    log = RunLog.read(tmp_path / "kept/full/work.jsonl")
    assert len(log.records) == 4 == log.n_planned


def test_a_file_is_small_and_lines_that_are_cut_off_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    run = Run("A", 0, {"tau": 1.0})
    record = Record("A", 0, run.settings, [{"score": -7.123456789012}], 1.5, {}, "abc1234")
    log = RunLog(path, {"experiment": "work"}, {"A-0": "k0", "A-1": "k1"}, {})
    log.with_(run, record).write()
    assert '"score":-7.123457' in path.read_text()
    path.write_text(path.read_text() + '{"key":"k1","ser')
    again = RunLog.read(path)
    assert again.records == {"k0": replace(record, points=[{"score": -7.123457}])}
    assert (again.of(run), again.of(Run("A", 1))) == (again.records["k0"], None)


def test_every_run_has_a_key_of_its_own() -> None:
    experiment = Work().experiment(tau=1)
    runs = [Run("A", 0), Run("A", 1), Run("B", 0), Run("C", 0, {"x": 1})]
    keys = keys_of(experiment, runs, {"tau": 1}, SOURCE)
    assert len(set(keys.values())) == 4
    other = keys_of(experiment, [Run("C", 0, {"x": 2})], {"tau": 1}, SOURCE)
    assert other["C-0"] not in keys.values()
    assert json.dumps(keys) == json.dumps(keys_of(experiment, runs, {"tau": 1}, SOURCE))


@pytest.mark.parametrize("name", ["streams", "gaussians", "bernoullis"])
def test_probes_say_the_same_twice(name: str) -> None:
    probe = getattr(probes, name)
    first = probe()
    assert len(first) == {"streams": 16, "gaussians": 4, "bernoullis": 2}[name]
    assert first == probe()
    assert all(isinstance(value, float) for value in first)


def test_probes_see_a_change_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    from trustream.presets import Preset

    before = probes.lda()
    local_iterations = Preset.local_iterations
    monkeypatch.setattr(Preset, "local_iterations", lambda self, m: local_iterations(self, m) // 5)
    assert probes.lda() != before


def test_a_plan_that_has_nothing_left_to_do_is_written(tmp_path: Path) -> None:
    """Fewer seeds than were run: the file says that all is done."""
    work, setup = Work(), kept(tmp_path)
    complete(full(work), setup, quiet())
    fewer = replace(full(work), n_seeds={"full": 1})
    complete(fewer, setup, quiet())
    log = RunLog.read(setup.log(fewer.name))
    assert (log.n_planned, len(log.records)) == (2, 4)
    assert len(work.done) == 4
