"""Files of topic models of texts: they hold everything but documents, and nothing that runs."""

from __future__ import annotations

import copy
import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.feature_extraction.text import CountVectorizer

import trustream
from tests.reliability import damage
from tests.reliability.rounds import rounds
from tests.topics.texts import mixed_texts, texts_about
from trustream import TopicModel, persist
from trustream.cli import main
from trustream.streaming.fitted_models import load_fitted
from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import CustomTokeniser
from trustream.topics import register_tokeniser

TEXTS = mixed_texts(200)


def shout(text: str) -> list[str]:
    """Words in upper case."""
    return [word.upper() for word in tokenise(text)]


class Shouting:
    """A tokeniser that is the method of an object."""

    def words(self, text: str) -> list[str]:
        return shout(text)


SOURCES: dict[str, Any] = {
    "usual": None,
    "tokeniser": Tokeniser(r"[\w-]+", min_length=4, stop_words=["and"], lower=False),
    "registered": shout,
    "registered method": Shouting().words,
    "vectoriser": CountVectorizer(stop_words="english", ngram_range=(1, 2), min_df=5),
    "own stop words": CountVectorizer(
        stop_words=["the", "and"], min_df=0.01, max_df=0.9, max_features=25, dtype=np.float32
    ),
    "vocabulary": CountVectorizer(vocabulary=["zebra", "cat", "bank", "goal"], binary=True),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(3, 4), strip_accents="unicode"),
}


@pytest.fixture(autouse=True)
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that a test registers are gone after it."""
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})


def fitted(tokeniser: Any = None, **options: Any) -> TopicModel:
    model = TopicModel(4, tokeniser=tokeniser, **{"random_state": 0, **options}).fit(TEXTS)
    model.set_labels({2: "<b>Größe</b>", 3: "gone"}).merge_topics([2, 3])
    return model.partial_fit([text + " zebra" for text in texts_about([0] * 3)])


@pytest.mark.parametrize("name", SOURCES)
def test_a_loaded_model_goes_on_as_if_nothing_had_been(tmp_path: Path, name: str) -> None:
    if name.startswith("registered"):
        register_tokeniser("shout", SOURCES[name])
    model = fitted(SOURCES[name])
    model.save(tmp_path / "topics.safetensors")
    loaded = trustream.load(tmp_path / "topics.safetensors")
    assert isinstance(loaded, TopicModel) and repr(loaded) == repr(model)
    assert loaded.words_ == model.words_ and loaded.n_documents_ == 203
    assert loaded.topics_.names == model.topics_.names
    assert loaded.topic_info(TEXTS) == model.topic_info(TEXTS)
    assert loaded._words.waiting == model._words.waiting
    for seed in range(3):
        more = [text + " zebra lynx" for text in texts_about([0, 1, 2], seed)]
        for twin in (model, loaded):
            twin.partial_fit(more)
        assert loaded.words_ == model.words_
        assert np.array_equal(loaded.estimator_.components_, model.estimator_.components_)
        assert np.array_equal(loaded.transform(TEXTS), model.transform(TEXTS))
    grows = not isinstance(SOURCES[name], CountVectorizer)
    assert (loaded.words_[-2:] == model.words_[-2:]) and (loaded._words.n_documents == 212)
    assert not grows or [word.lower() for word in loaded.words_[-2:]] == ["zebra", "lynx"]
    # Once more, through a file that a loaded model wrote; and a fit is that of the same parameters.
    loaded.save(tmp_path / "again.safetensors")
    again = trustream.load(tmp_path / "again.safetensors")
    assert np.array_equal(again.transform(TEXTS), model.transform(TEXTS))
    assert np.array_equal(
        again.fit(TEXTS).estimator_.components_, model.fit(TEXTS).estimator_.components_
    )


def test_parameters_are_kept(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "min_documents": 3, "max_fraction": 0.25, "max_words": 29, "keep_documents": 7,
        "max_iter": 2, "dtype": "float64", "n_jobs": 1, "verbose": 0, "random_state": 5,
    }  # fmt: skip
    model = fitted(**options)
    model.min_documents = 77  # after the fit, which still goes by 3
    model.save(tmp_path / "m")
    loaded = trustream.load(tmp_path / "m")
    assert {name: getattr(loaded, name) for name in options} == options
    assert loaded.n_topics == 4 and loaded.n_topics_ == 3
    drawn = fitted(random_state=np.random.default_rng(3))
    drawn.save(tmp_path / "m")
    assert trustream.load(tmp_path / "m").random_state is None


def test_documents_are_not_in_the_file(tmp_path: Path) -> None:
    secret = "Miss Marple keeps a cat behind the clock"
    model = TopicModel(3, random_state=0).fit([*TEXTS, secret])
    assert any(secret in document.title for document in model.representative_documents(0, 201))
    model.save(tmp_path / "m")
    content = (tmp_path / "m").read_bytes().decode("latin-1")
    assert secret[:11] not in content and "cat behind" not in content
    loaded = trustream.load(tmp_path / "m")
    assert loaded.topic_info().n_documents is None
    with pytest.raises(ValueError, match=r"no documents are kept \(they are not in files"):
        loaded.representative_documents(0)
    assert loaded.representative_documents(0, 3, TEXTS)[0].title in TEXTS
    # From now on those that come are kept, and times are theirs.
    loaded.partial_fit(TEXTS[:30])
    assert loaded.topic_info().n_documents == 30
    assert loaded.topics_over_time(range(30), 3).n_documents.sum() == 30


def test_a_function_needs_a_name(tmp_path: Path) -> None:
    model = TopicModel(3, tokeniser=shout, random_state=0).fit(TEXTS)
    with pytest.raises(ValueError, match=r"shout, which a file cannot hold.*register_tokeniser"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    register_tokeniser("shout", shout)
    model.save(tmp_path / "m")


def test_a_name_may_be_registered_after_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_tokeniser("shout", shout)
    model = TopicModel(3, tokeniser=shout, random_state=0).fit(TEXTS)
    model.save(tmp_path / "m")
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})
    loaded = trustream.load(tmp_path / "m")
    assert np.array_equal(loaded.topics_.weights, model.topics_.weights)
    assert loaded.topic_info().topics[0].words[0].word.isupper()
    for call in (loaded.transform, loaded.partial_fit):
        with pytest.raises(ValueError, match=r"register_tokeniser\('shout', function\) first"):
            call(TEXTS)
    loaded.save(tmp_path / "again")
    register_tokeniser("shout", shout)
    assert np.array_equal(loaded.transform(TEXTS), model.transform(TEXTS))


@pytest.mark.parametrize("name", ["", "a b", "../x", 7, "a" * 101])
def test_names_that_are_none(name: Any) -> None:
    with pytest.raises(ValueError, match="the name of a tokeniser is"):
        register_tokeniser(name, shout)


@pytest.mark.parametrize("function", [None, "shout", Tokeniser])
def test_functions_that_are_none(function: Any) -> None:
    with pytest.raises(ValueError, match="expected a function"):
        register_tokeniser("shout", function)


class OwnVectorizer(CountVectorizer):
    """Another kind of vectoriser."""


@pytest.mark.parametrize(
    ("vectoriser", "reason"),
    [
        (CountVectorizer(tokenizer=shout, token_pattern=None), "has a tokenizer, which is"),
        (CountVectorizer(preprocessor=str.upper), "has a preprocessor, which is"),
        (CountVectorizer(analyzer=shout), "has a analyzer, which is"),
        (CountVectorizer(strip_accents=str.strip), "has a strip_accents, which is"),
        (OwnVectorizer(), "but no OwnVectorizer"),
    ],
)
def test_vectorisers_that_are_no_data(tmp_path: Path, vectoriser: Any, reason: str) -> None:
    model = TopicModel(3, tokeniser=vectoriser, random_state=0).fit(TEXTS)
    with pytest.raises(ValueError, match=f"{reason}.*build_analyzer.*register_tokeniser"):
        model.save(tmp_path / "m")
    analyse = functools.partial(vectoriser.build_analyzer())
    register_tokeniser("analyse", analyse)
    TopicModel(3, tokeniser=analyse, random_state=0).fit(TEXTS).save(tmp_path / "m")


def test_a_vectoriser_with_an_empty_word(tmp_path: Path) -> None:
    model = TopicModel(2, tokeniser=CountVectorizer(token_pattern=r"\w*"), random_state=0)
    model.fit(TEXTS).save(tmp_path / "m")
    assert "" in model.words_
    assert np.array_equal(trustream.load(tmp_path / "m").transform(TEXTS), model.transform(TEXTS))


def test_words_of_all_kinds(tmp_path: Path) -> None:
    strange = ["\ud83dlone", "größe", "c++", "naïve", "\x00", "__metadata__", "<b>", "a" * 10_000]
    register_tokeniser("split", str.split)
    model = TopicModel(2, tokeniser=str.split, random_state=0, max_fraction=1.0)
    model.fit([" ".join(strange)] * 5 + ["\udfff waits"]).save(tmp_path / "m")
    loaded = trustream.load(tmp_path / "m")
    assert loaded.words_ == model.words_ and set(strange) <= set(loaded.words_)


# --- what files hold

Change = Callable[[dict[str, Any], dict[str, np.ndarray]], object]


def put(*path: str, value: Any) -> Change:
    """Set one value of the header."""

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = value

    return change


def array(name: str, value: Any) -> Change:
    return lambda header, arrays: arrays.update({name: value})


PARAMS = {"pattern": "[a-z]+", "min_length": 3, "stop_words": [], "lower": True}
CHANGES: dict[str, Change] = {
    "no words": lambda header, arrays: arrays.pop("lda.words"),
    "fewer words": array("lda.words", persist.pack_strings(["cat"])),
    "empty words": array("lda.words", persist.pack_strings([""] * 30)),
    "no estimator": lambda header, arrays: header.pop("lda"),
    "another estimator": put("lda", value={}),
    "no topics": put("params", "n_topics", value=0),
    "share": put("params", "max_fraction", value=2.0),
    "a fraction of a document": put("params", "min_documents", value=0.5),
    "seed": put("seed", value=-1),
    "large seed": put("seed", value=2**70),
    "documents": put("n_documents", value=-3),
    "names": put("names", value={"ids": [0, 1], "labels": {}, "next_id": 2}),
    "equal names": put("names", value={"ids": [0, 0, 1], "labels": {}, "next_id": 2}),
    "long label": put("names", "labels", value={"0": "a" * 500}),
    "label of nothing": put("names", "labels", value={"77": "a"}),
    "unknown key": put("code", value="print()"),
    "tokeniser": put("words", value={"tokeniser": {"pattern": "("}}),
    "pattern": put("words", value={"tokeniser": {**PARAMS, "pattern": "("}}),
    "two tokenisers": put("words", value={"tokeniser": PARAMS, "registered": "a"}),
    "registered": put("words", value={"registered": "os.system x"}),
    "none": put("words", value={}),
    "vectoriser": put("words", value={"vectoriser": {"analyzer": "word"}}),
    "waiting": array("waiting.documents", np.array([1, 2])),
    "never": array("waiting.documents", np.array([0])),
    "twice": lambda header, arrays: arrays.update(
        {"waiting.words": persist.pack_strings(["cat"]), "waiting.documents": np.array([1])}
    ),
    "other arrays": array("more", np.zeros(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_content_that_does_not_fit(tmp_path: Path, name: str) -> None:
    fitted().save(tmp_path / "m")
    arrays, header = persist.read(tmp_path / "m")
    persist.write(tmp_path / "same", arrays, header)
    trustream.load(tmp_path / "same")
    CHANGES[name](header, arrays)
    persist.write(tmp_path / "changed", arrays, header)
    with pytest.raises(ValueError, match="damaged"):
        trustream.load(tmp_path / "changed")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("analyzer", "eval"),
        ("ngram_range", [1, 10**9]),
        ("stop_words", [1]),
        ("dtype", "object"),
        ("input", "filename"),
        ("token_pattern", 7),
    ],
)
def test_vectorisers_that_do_not_fit(tmp_path: Path, name: str, value: Any) -> None:
    fitted(CountVectorizer()).save(tmp_path / "m")
    arrays, header = persist.read(tmp_path / "m")
    changed = copy.deepcopy(header)
    changed["words"]["vectoriser"][name] = value
    persist.write(tmp_path / "changed", arrays, changed)
    with pytest.raises(ValueError, match="damaged"):
        trustream.load(tmp_path / "changed")


def leaves(values: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values of a header are, the estimator's own left out."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        if key == "lda" or (isinstance(key, int) and key > 1):
            continue
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@pytest.mark.parametrize("tokeniser", [None, CountVectorizer(stop_words=["the"])])
def test_any_value_is_refused_or_taken(tmp_path: Path, tokeniser: Any) -> None:
    """Whatever stands in the place of a value, a model that is loaded can be used."""
    fitted(tokeniser).save(tmp_path / "m")
    arrays, header = persist.read(tmp_path / "m")
    hostile = [None, -1, 0, 2**62, 2**70, 0.5, float("nan"), 1e308, "x", "", [], {}, [1], True]
    outcomes = {"refused": 0, "taken": 0}
    for path in leaves(header):
        for value in hostile:
            changed = copy.deepcopy(header)
            place = functools.reduce(lambda values, key: values[key], path[:-1], changed)
            place[path[-1]] = value
            persist.write(tmp_path / "changed", arrays, changed)
            try:
                model = trustream.load(tmp_path / "changed")
            except ValueError as error:
                outcomes["refused"] += 1
                assert "restore it from a copy" in str(error) or path == ("estimator",)
                continue
            outcomes["taken"] += 1
            assert model.transform(TEXTS[:3]).shape == (3, 3), (path, value)
            assert len(model.topic_info()) == 3
            try:
                model.partial_fit(["zebra cat"] * 5)
            except ValueError as error:  # by a pattern that no word matches, for example
                assert "no word was found" in str(error), (path, value)
    assert outcomes["refused"] > 200 and outcomes["taken"] > 20, outcomes


def hostile_arrays(array: np.ndarray) -> Iterator[np.ndarray]:
    """Others that might stand in the place of an array."""
    row = np.atleast_1d(array)
    yield from (row[:0], row[:1], np.concatenate([row, row]), row[None], row[::-1], row.sum())
    yield from (array.astype(kind) for kind in ("int8", "float16", "bool", "float64", "int64"))
    for value in (0, -1, float("nan"), float("inf"), 255, 2**62, 1e-320, 1e38):
        changed = array.copy()
        with np.errstate(all="ignore"):
            changed.flat[: 1 if changed.size else 0] = np.array([value]).astype(array.dtype)
        yield changed


@pytest.mark.filterwarnings("ignore:.* encountered in cast")
def test_any_array_is_refused_or_taken(tmp_path: Path) -> None:
    """With checksums that are right; what is taken gives possible numbers."""
    fitted().save(tmp_path / "m")
    arrays, header = persist.read(tmp_path / "m")
    outcomes = {"refused": 0, "taken": 0}
    for name, array in arrays.items():
        for other in hostile_arrays(array):
            persist.write(tmp_path / "changed", {**arrays, name: other}, header)
            try:
                model = trustream.load(tmp_path / "changed")
            except ValueError as error:
                outcomes["refused"] += 1
                assert "restore it from a copy" in str(error), (name, error)
                continue
            outcomes["taken"] += 1
            shares = model.transform(TEXTS[:3])
            assert np.isfinite(shares).all(), (name, other)
            np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5, err_msg=name)
            assert len(model.topic_info()) == 3
    assert outcomes["refused"] > 3 * outcomes["taken"] > 0, outcomes


@pytest.mark.parametrize("n", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_damaged_bytes_are_refused(tmp_path: Path, n: int) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    whole = path.read_bytes()
    rng, kinds = np.random.default_rng(3), list(damage.DAMAGES.values())
    for i in range(rounds(n)):
        damaged = kinds[i % len(kinds)](whole, rng)
        path.write_bytes(damaged)
        if damaged != whole:
            with pytest.raises(ValueError, match=r"damaged|not a model|cannot read|complete|ends"):
                trustream.load(path)


# --- commands, other processes


def test_commands_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "topics.safetensors"
    model = fitted()
    model.save(path)
    found = load_fitted(path)
    assert found.words == model.words_ and found.tokeniser == Tokeniser()
    result = CliRunner().invoke(main, ["topics", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert len([json.loads(line) for line in result.output.splitlines()]) == 3
    texts = tmp_path / "new.txt"
    texts.write_text("\n".join(TEXTS[:3]), encoding="utf-8")
    result = CliRunner().invoke(main, ["transform", str(path), str(texts)])
    assert result.exit_code == 0, result.output
    fitted(CountVectorizer()).save(path)
    assert isinstance(load_fitted(path).tokeniser, CustomTokeniser)
    result = CliRunner().invoke(main, ["transform", str(path), str(texts)])
    assert result.exit_code != 0 and "CountVectorizer" in result.output


def test_load_in_a_process_of_its_own(tmp_path: Path) -> None:
    """That has imported nothing else, and pickle is not used."""
    model = fitted()
    model.save(tmp_path / "m")
    code = (
        "import sys, trustream; model = trustream.load(sys.argv[1]); "
        "print(type(model).__name__, model.words_[-1], model.topic_info().topic(2).label)"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.stdout.split() == ["TopicModel", model.words_[-1], "<b>Größe</b>"], done.stderr
