"""The comparison with other libraries: what is stored, judged and written."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

peers = pytest.importorskip("benchmarks.peers", reason="needs the repository's root")
pytest.importorskip("matplotlib")

from benchmarks.harness import machine  # noqa: E402
from benchmarks.peers import command, document  # noqa: E402
from benchmarks.peers.result_files import Results  # noqa: E402
from benchmarks.peers.targets import target_rows  # noqa: E402
from benchmarks.peers.workloads import WORKLOADS  # noqa: E402


def entry(points, **more):
    keys = ("label", "seconds", "completion", "chib")
    return {
        "points": [dict(zip(keys, p, strict=True)) | {"cpu": p[1], "others": 0.0} for p in points],
        **more,
    }


@pytest.fixture
def results(tmp_path):
    stored = Results(tmp_path / "peers.json")
    facts = dict.fromkeys(("n_documents", "n_words", "n_tokens", "n_topics", "n_held_out"), 1000)
    facts |= {"about": "a few documents", "n_chib": 10, "limit": 60.0}
    facts["machine"] = machine.facts()
    runs = {
        "trustream": entry(
            [("1 pass", 1.0, -7.4, None), ("5 passes", 4.0, -7.2, -7.25)], reference="5 passes"
        ),
        "scikit-learn": entry([("1 pass", 60.0, -7.3, -7.4)], version="1"),
        "gensim": entry([("1 pass", 10.0, -7.5, None)]),
        "tomotopy": entry(
            [("50 iterations", 30.0, -7.1, None), ("200 iterations", 120.0, -7.0, -7.3)]
        ),
        "river": {"missing": "river is not installed"},
    }
    for name, run in runs.items():
        stored.put(peers.MAIN, facts, name, run)
    return stored


def test_targets_are_ratios_of_times_and_differences_of_scores(results):
    rows = target_rows(results)
    assert [row.met for row in rows] == [True, False, False, False, True]
    assert rows[0].measured == pytest.approx(60 / 2)
    assert rows[1].measured == pytest.approx(10.0)
    assert rows[2].measured is None
    assert rows[3].measured == pytest.approx(-0.2)


def test_the_document_says_what_is_met_and_who_is_missing(results, tmp_path):
    results.put_rows(
        "memory",
        [
            {
                "name": "m",
                "measured": 3.0,
                "target": "<= 2",
                "unit": "MB",
                "met": False,
                "details": {},
            }
        ],
    )
    page, picture = document.write(Results(results.path), tmp_path / "docs")
    text = page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "(benchmarks/wiki-100.png)" in text
    assert "30x less | yes |" in text
    assert "never" in text
    assert "river is not installed" in text
    assert "| m |  |  | <= 2 | 3 MB | **no** |" in text


def test_sections_without_results_stay(results, tmp_path):
    """What was measured elsewhere, and what was measured here in the place of what was there."""
    other = WORKLOADS["vocabulary"].about
    page = tmp_path / "benchmarks.md"
    page.write_text(
        f"# Old\n\n## {other}\n\nFrom elsewhere.\n\n## Other measurements\n\n1 MB\n\n## Gone\n\n2\n"
    )
    for _ in range(2):
        document.write(Results(results.path), tmp_path)
        text = page.read_text()
        assert text.count(f"## {other}\n\nFrom elsewhere.\n") == 1
        assert text.count("## Other measurements\n\n1 MB\n") == 1
        assert "Old" not in text and "Gone" not in text
        assert text.index("a few documents") < text.index(other)
        assert f"cores; python {machine.facts()['python']}" in text


def test_without_results_nothing_is_written(tmp_path):
    assert document.write(Results(tmp_path / "none.json"), tmp_path) == []


def test_what_is_finished_is_not_run_again(monkeypatch, tmp_path):
    train = held_out = sp.csr_matrix(np.full((20, 5), 2))
    workload = WORKLOADS["wiki-400"].quick()
    monkeypatch.setattr(type(workload), "load", lambda self, data: (train, held_out))
    ran = []

    def method(name, workload, train, scorer):
        ran.append(name)
        if name == "gensim":
            raise RuntimeError("no luck")
        return entry([("1 pass", 1.0, -7.0, None)])

    monkeypatch.setattr(command, "_run_method", method)
    stored = Results(tmp_path / "peers.json")
    names = ["scikit-learn", "gensim", "river"]

    def again(asked=(), fresh=False):
        return command._run_workload(workload, names, asked, tmp_path, stored, 1, fresh)

    assert again() is True
    assert ran == ["scikit-learn", "gensim"]
    again()
    assert ran == ["scikit-learn", "gensim", "gensim"]
    again(asked=["river"])
    assert ran[3:] == ["gensim", "river"]
    again(fresh=True)
    assert ran[5:] == ["scikit-learn", "gensim"]
    kept = json.loads(stored.path.read_text())["workloads"]["wiki-400"]["methods"]
    assert "no luck" in kept["gensim"]["error"]
