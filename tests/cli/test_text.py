"""The way of a text on the command line: one tokeniser from `init` to `transform` of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import sparse

import trustream
from tests.forking import run_forked
from trustream import feeds
from trustream.cli import data_parameters, main
from trustream.store import Record
from trustream.text import Tokeniser

PETS = "Cat Dog Bird c_1 c_2".split()
MONEY = "Bank Bond Rate m_1 m_2".split()
SPLIT = ("--keep-case", "--word-pattern", r"\w+")


def call(*arguments: object, input: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)


def ok(*arguments: object, input: str | None = None) -> str:
    result = call(*arguments, input=input)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def lines(*arguments: object, input: str | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ok(*arguments, "--json", input=input).splitlines()]


def fails(*arguments: object, input: str | None = None) -> str:
    result = call(*arguments, input=input)
    assert result.exit_code == 1, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose words are not the usual ones, its model, and the exported file."""
    folder = tmp_path_factory.mktemp("text")
    rng = np.random.default_rng(0)
    with (folder / "feed.jsonl").open("w") as file:
        for i in range(200):
            text = " ".join(rng.choice([PETS, MONEY][i % 2], 12))
            file.write(json.dumps({"id": f"d{i}", "text": text}) + "\n")
    store = folder / "topics.db"
    ok("init", store, "--topics", 2, "--min-documents", 1, "--batch", 20, *SPLIT)
    ok("ingest", store, folder / "feed.jsonl")
    ok("train", store, "--steps", 50)
    ok("export", store, folder / "topics.safetensors")
    (folder / "new.txt").write_text("Cat c_1\nBank m_1 zz\ncat bank\n\n")
    return folder


MODELS = ("topics.db", "topics.safetensors")


@pytest.mark.parametrize("model", MODELS)
def test_texts_are_split_as_those_of_the_store(folder: Path, model: str) -> None:
    """With the usual tokeniser nothing would be known, and topics would be those of the prior."""
    pets, money, unknown, empty = lines("transform", folder / model, folder / "new.txt")
    assert [pets["id"], money["id"], unknown["id"], empty["id"]] == [
        f"new.txt:{n}" for n in (1, 2, 3, 4)
    ]
    assert pets["topics"][0]["proportion"] > 0.9 < money["topics"][0]["proportion"]
    assert pets["topics"][0]["topic"] != money["topics"][0]["topic"]
    assert [(row["n_tokens"], row["n_known"]) for row in (pets, money, unknown, empty)] == [
        (2, 2), (2, 2), (2, 0), (0, 0),
    ]  # fmt: skip
    assert unknown["topics"] == empty["topics"] == []


def test_a_document_without_a_known_word_says_so(folder: Path) -> None:
    result = call("transform", folder / "topics.db", folder / "new.txt")
    assert result.exit_code == 0
    assert "new.txt:3  none of its 2 words is known" in result.stdout
    assert "new.txt:4  it has no words" in result.stdout
    assert "knows no word of 2 of 4 documents" in result.stderr
    known = call("transform", folder / "topics.db", "-", "--format", "text", input="Cat\n")
    assert known.exit_code == 0 and known.stderr == ""
    for arguments in ((), ("--json",)):
        result = call("evaluate", folder / MODELS[1], folder / "new.txt", "-m", "bound", *arguments)
        assert "knows no word of 2 of 4 documents" in result.stderr
        without = '"n_empty": 2' if arguments else "2 without a known"
        assert result.exit_code == 0 and without in " ".join(result.stdout.split())


def test_documents_of_which_no_word_is_known_are_not_scored(folder: Path, tmp_path: Path) -> None:
    """The message speaks of the file and its words, not of a matrix of counts."""
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("Xylophone qwerty\nOther nothing\n")
    for measure in ("completion", "bound"):
        problem = fails("evaluate", folder / MODELS[1], unknown, "-m", measure)
        assert f"the model knows no word of the 2 documents of {unknown}" in problem


@pytest.mark.parametrize("model", MODELS)
def test_every_format_gives_the_same(folder: Path, tmp_path: Path, model: str) -> None:
    texts = {"a": "Cat c_1 Dog", "b": "Bank m_1"}
    model_path = folder / model
    rows = [json.dumps({"id": key, "text": text}) for key, text in texts.items()]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    (tmp_path / "new.csv").write_text("id,text\n" + "".join(f"{k},{t}\n" for k, t in texts.items()))
    expected = lines("transform", model_path, tmp_path / "new.jsonl")
    assert [row["id"] for row in expected] == ["a", "b"]
    assert lines("transform", model_path, tmp_path / "new.csv") == expected
    piped = ("transform", model_path, "-", "--format", "jsonl")
    assert lines(*piped, input="\n".join(rows)) == expected
    loaded = trustream.load(folder / "topics.safetensors")
    words = loaded.words_
    counts = [[text.split().count(word) for word in words] for text in texts.values()]
    sparse.save_npz(tmp_path / "new.npz", sparse.csr_array(np.array(counts)))
    of_matrix = lines("transform", model_path, tmp_path / "new.npz")
    assert [row.pop("id") for row in of_matrix] == ["new.npz:1", "new.npz:2"]
    assert of_matrix == [{k: v for k, v in row.items() if k != "id"} for row in expected]
    scores = [
        json.loads(ok("evaluate", model_path, tmp_path / name, "-m", "bound", "--json"))
        for name in ("new.jsonl", "new.csv", "new.npz")
    ]
    assert scores[0] == scores[1] == scores[2] and scores[0]["n_tokens"] == 5


def test_parquet(folder: Path, tmp_path: Path) -> None:
    frames = pytest.importorskip("polars")
    path = tmp_path / "new.parquet"
    frames.DataFrame({"key": ["a", "b"], "body": ["Cat c_1", "Bank"]}).write_parquet(path)
    columns = ("--text-column", "body", "--id-column", "key")
    found = lines("transform", folder / "topics.db", path, *columns)
    assert [(row["id"], row["n_known"]) for row in found] == [("a", 2), ("b", 1)]
    assert "no column 'text'" in fails("transform", folder / "topics.db", path)
    message = fails("transform", folder / "topics.db", path, *columns[:3], "id")
    assert "no column 'id'" in message
    unnamed = lines("transform", folder / "topics.db", path, *columns[:2])
    assert [row["id"] for row in unnamed] == ["new.parquet:1", "new.parquet:2"]


def test_text_and_json_agree(folder: Path) -> None:
    for options in (("--top", 1), ("--top", 2), ("--all",)):
        rows = lines("transform", folder / "topics.db", folder / "new.txt", *options)
        texts = ok("transform", folder / "topics.db", folder / "new.txt", *options).splitlines()
        for row, text in zip(rows[:2], texts[:2], strict=True):
            shown = [(part["topic"], part["proportion"]) for part in row.get("topics", [])]
            shown = shown or list(enumerate(row["theta"]))
            assert len(shown) == (1 if options == ("--top", 1) else 2)
            assert text == f"{row['id']}  " + "  ".join(f"{k}: {value:.3f}" for k, value in shown)
        assert [row["id"] for row in rows] == [text.split()[0] for text in texts]


def test_topics_of_a_file(folder: Path, tmp_path: Path) -> None:
    of_store, of_file = (lines("topics", folder / model, "-n", 5) for model in MODELS)
    assert of_store == of_file
    assert {frozenset(topic["words"]) for topic in of_file} == {frozenset(PETS), frozenset(MONEY)}
    lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(np.eye(2, dtype=int))
    lda.save(tmp_path / "unnamed")
    nameless = call("topics", tmp_path / "unnamed")
    assert "x0" in nameless.stdout and "--vocabulary" in nameless.stderr
    (tmp_path / "words.txt").write_text("cat\ndog\n")
    given = ok("topics", tmp_path / "unnamed", "--vocabulary", tmp_path / "words.txt")
    assert "cat" in given and "x0" not in given
    (tmp_path / "new.txt").write_text("cat\n")
    assert "give a vocabulary" in fails("transform", tmp_path / "unnamed", tmp_path / "new.txt")


def test_models_that_do_not_say_how_texts_are_split(tmp_path: Path) -> None:
    lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(np.eye(2, dtype=int))
    lda.set_words(["Cat", "dog"]).save(tmp_path / "model")
    (tmp_path / "new.txt").write_text("Cat dog\nDog\n")
    with pytest.warns(UserWarning, match="does not say how its texts were split into words"):
        usual = lines("transform", tmp_path / "model", tmp_path / "new.txt")
    assert [row["n_known"] for row in usual] == [1, 1]
    split = lines("transform", tmp_path / "model", tmp_path / "new.txt", "--keep-case")
    assert [row["n_known"] for row in split] == [2, 0]
    lda.set_words(["Cat", "dog"], tokenise=str.split).save(tmp_path / "model")
    message = fails("transform", tmp_path / "model", tmp_path / "new.txt")
    assert "by the Python function str.split" in message
    assert lines("transform", tmp_path / "model", tmp_path / "new.txt", "--keep-case") == split


def test_columns_that_have_names_are_found_by_them(folder: Path, tmp_path: Path) -> None:
    """A table of counts in another order of columns is not taken for one in the model's."""
    words = trustream.load(folder / "topics.safetensors").words_
    row = [3 if word == "Cat" else 0 for word in words]
    tables = {}
    for name, order in (("same", range(10)), ("turned", range(9, -1, -1))):
        head = ",".join(words[i] for i in order)
        (tmp_path / "x.csv").write_text(f"{head}\n{','.join(str(row[i]) for i in order)}\n")
        tables[name] = lines("transform", folder / "topics.db", tmp_path / "x.csv")
    assert tables["same"] == tables["turned"]
    (tmp_path / "x.csv").write_text(f"{head.replace('Cat', 'Kat')}\n{','.join('1' * 10)}\n")
    assert "'Kat' among them" in fails("transform", folder / "topics.db", tmp_path / "x.csv")


def test_words_by_number_need_their_vocabulary(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "new.ldac").write_text("1 0:3\n")
    (tmp_path / "words.txt").write_text("Bank\nelse\n")
    message = fails("transform", folder / "topics.db", tmp_path / "new.ldac")
    assert "has words by number" in message
    (found,) = lines("transform", folder / "topics.db", tmp_path / "new.ldac", "--vocabulary",
                     tmp_path / "words.txt")  # fmt: skip
    bank = lines("transform", folder / "topics.db", "-", "--format", "text", input="Bank Bank Bank")
    assert found["topics"] == bank[0]["topics"] and found["n_known"] == 3


def test_other_options_than_the_store_s(folder: Path, tmp_path: Path) -> None:
    store = folder / "topics.db"
    (tmp_path / "more.txt").write_text("Cat\n")
    message = fails("ingest", store, tmp_path / "more.txt", "--lower-case")
    assert (
        "words in their case, not in lower case" in message
        and f"trustream tokeniser {store}" in message
    )
    assert "in another way" in fails("transform", store, folder / "new.txt", "--min-length", 2)
    assert "in another way" in fails("evaluate", store, folder / "new.txt", "--min-length", 2)
    # Those that say the same are welcome, though not all are given.
    assert lines("transform", store, folder / "new.txt", "--keep-case")[0]["n_known"] == 2
    init = ("init", store, "--topics", 2, "--min-documents", 1, "--batch", 20)
    assert "in another way" in fails(*init, "--lower-case", "--word-pattern", r"\w+")
    ok(*init)
    ok(*init, *SPLIT)


def test_the_tokeniser_of_a_store(tmp_path: Path) -> None:
    store = tmp_path / "small.db"
    ok("init", store, "--topics", 2, "--min-documents", 1)
    (shown,) = lines("tokeniser", store)
    assert shown == {"tokeniser": Tokeniser().to_dict(), "changed": False, "documents": 0}
    assert "keep the words" not in ok("tokeniser", store, "--keep-case")
    (tmp_path / "a.txt").write_text("Cat c_1\n")
    ok("ingest", store, tmp_path / "a.txt")
    message = ok("tokeniser", store, "--word-pattern", r"\w+")
    assert "1 documents in" in message and "keep the words that they have" in message
    assert "Before: words of 3 letters or more, in their case" in message
    (tmp_path / "b.txt").write_text("Dog c_2\n")
    ok("ingest", store, tmp_path / "b.txt")
    (shown,) = lines("tokeniser", store, "--default", "--min-length", 2)
    assert shown["tokeniser"] == Tokeniser(min_length=2).to_dict() and shown["changed"]
    with trustream.open_store(store) as found:
        words = [word for word in found.vocabulary().words if word]
        assert sorted(words) == ["Cat", "Dog", "c_2"]
        found.set_tokeniser(Tokeniser(), before=Tokeniser())
        assert found.tokeniser() == Tokeniser(min_length=2)
    assert "no regular expression" in fails("tokeniser", store, "--word-pattern", "(")
    address = "postgresql://me:secret@host/db"
    message = fails("tokeniser", store, "--word-pattern", address)
    assert "is an address of a store" in message and "secret" not in message
    assert lines("tokeniser", store) == [{**shown, "changed": False}]


def test_a_store_of_an_earlier_version(tmp_path: Path) -> None:
    store = tmp_path / "old.db"
    with trustream.open_store(store, min_documents=1) as found:
        found.append([Record(str(i), ["Cat", "dog"]) for i in range(20)])
        with trustream.StreamTrainer(found, n_components=2, batch_size=5) as trainer:
            trainer.run(steps=3)
    assert lines("tokeniser", store)[0]["tokeniser"] is None
    assert "does not say how its texts were split" in ok("tokeniser", store)
    (tmp_path / "new.txt").write_text("Cat\n")
    with pytest.warns(UserWarning, match="old.db does not say how its texts were split"):
        assert lines("transform", store, tmp_path / "new.txt")[0]["n_known"] == 0
    ok("ingest", store, tmp_path / "new.txt", "--keep-case")
    assert lines("transform", store, tmp_path / "new.txt")[0]["n_known"] == 1
    assert "in their case" in ok("tokeniser", store)


def test_simulated_texts(tmp_path: Path) -> None:
    store = tmp_path / "stream.db"
    ok("init", store, "--topics", 2, "--min-documents", 1, *SPLIT)
    (tmp_path / "words.txt").write_text("\n".join(PETS))
    (tmp_path / "new.txt").write_text("Cat c_1 dog\n" * 20)
    arguments = (store, tmp_path / "new.txt", "--vocabulary", tmp_path / "words.txt")
    assert lines("simulate", *arguments, "--rate", 9, "-p", 1)[-1]["tokens"] == 40


def test_choices_are_those_of_the_library() -> None:
    assert set(data_parameters.FORMATS) == set(feeds.FORMATS) - {"ratings"}


def test_mixtures_have_no_topics(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(40, 2))
    trustream.GaussianMixture(2, random_state=0).fit(points).save(tmp_path / "gauss")
    np.save(tmp_path / "points.npy", points)
    for arguments in (("topics",), ("transform", tmp_path / "points.npy")):
        command, *rest = arguments
        message = fails(command, tmp_path / "gauss", *rest)
        assert "holds a GaussianMixture, which has no topics" in message


def test_a_real_pipe(folder: Path) -> None:
    """Warnings go to standard error, and a long stream is answered piece by piece."""
    command = ["transform", "topics.db", "-", "--format", "text", "--json"]
    text = "Cat c_1\n" * 2500 + "what else\n"
    done = run_forked(None, *command, cwd=folder, input=text)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in rows] == [f"stdin:{n}" for n in range(1, 2502)]
    assert rows[0]["topics"] == rows[2499]["topics"] and rows[2500]["n_known"] == 0
    assert done.stderr.startswith("Warning: the model knows no word of 1 of 2,501 documents")
