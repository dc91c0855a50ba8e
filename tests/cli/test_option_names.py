"""Messages of commands name options of the command line, and not arguments of Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from trustream.cli import main
from trustream.cli.option_names import in_options, option_names

SOURCE = Path(__file__).parents[2] / "src" / "trustream"
OPTIONS = [
    (name, parameter)
    for name, command in main.commands.items()
    for parameter in command.params
    if isinstance(parameter, click.Option)
]


@pytest.mark.parametrize(
    ("command", "option"), OPTIONS, ids=[f"{name} {option.opts[0]}" for name, option in OPTIONS]
)
def test_every_option_is_named(command: str, option: click.Option) -> None:
    """As the name of a variable, with a value, and as what a message is about."""
    said = max(option.opts, key=len)
    for name in {(option.name or "").rstrip("_"), said.lstrip("-").replace("-", "_")}:
        for text, expected in (
            (f"{name} is 3, expected 4", f"{said} is 3, expected 4"),
            (f"made with {name}=0.5; leave it", f"made with {said} 0.5; leave it"),
            (f"made with {name}=-1,000", f"made with {said} -1,000"),
            (f"give {name}=True.", f"give {said}."),
            (f'leave it out by {name}="skip"', f"leave it out by {said} skip"),
            (f"give {name}=, one of a, b", f"give {said}, one of a, b"),
            (f"'{name}' and \"{name}\" stay", f"'{name}' and \"{name}\" stay"),
            (f"no file {name}.npz, x.{name}", f"no file {name}.npz, x.{name}"),
        ):
            assert in_options(text, main.commands[command]) == expected
        if "_" in name:
            text = f"longer than that; {name} allows more"
            assert in_options(text, main.commands[command]) == text.replace(name, said)


def test_what_the_user_has_written_is_left_alone() -> None:
    ingest = main.commands["ingest"]
    text = "cannot tell the format of max_bytes by its name; give format="
    assert "of max_bytes by" in in_options(text, ingest, ["ingest", "s.db", "folder/max_bytes"])
    assert "of --max-bytes by" in in_options(text, ingest, [])
    ordinary = "another name for the format of a batch of words in the store"
    assert in_options(ordinary, ingest) == ordinary
    assert in_options("max_bytes", None) == "max_bytes"


# Names in messages of the library that no option stands for, and why no command says them, or why
# it may. A name that is not here must be one of an option of some command.
NOT_OF_A_COMMAND = {
    "a parameter of an estimator that no command sets": {
        "binarize", "covariance_prior", "covariance_type", "degrees_of_freedom",
        "degrees_of_freedom_prior", "learn_priors", "learning_decay", "learning_offset",
        "max_doc_topics", "probability_prior", "weight_concentration_prior", "start_count",
        "evaluate_every", "validation_fraction", "topic_word_prior", "whole_counts",
        "emissions", "n_symbols", "group_covariance_", "half_life", "subchain_buffer",
        "subchain_length",
    },
    "an argument of a function that commands call with what is right": {
        "bound_only", "feature_names", "item_ids", "lambda_", "n_samples", "newest", "since",
        "unknown", "user_ids", "window_rule", "schema", "axis", "keepdims", "partial_fit",
        "n_documents", "n_features", "score_samples", "held_out", "library_version",
        "worker_threads",
    },
    "the name of a function or of a part of a file, for programs": {
        "open_store", "pack_strings", "append_id", "expected_statistics", "log_normaliser",
        "count_matrix", "set_words", "find_files", "init_store", "choose_n_components",
        "view_documents", "return_inverse",
        "get_feature_names_out",
    },
    "a parameter in an address of the service": {"in_parts"},
    "a function that takes topics to another library, which no command does": {"to_gensim"},
    "a parameter or method of TopicModel, which no command makes": {
        "input", "max_df", "max_fraction", "min_df", "register_tokeniser",
        "representative_documents", "topics_over_time",
    },
    "a Python function that no command can be given": {"tokenise"},
    "a limit without an option; what else to do is said": {"max_document_tokens"},
    "a part of a header of HTTP": {"realm"},
}  # fmt: skip


def names_in_messages() -> Iterator[tuple[str, str]]:
    """Names with an underscore or a value, in the texts of what is raised; with their places."""
    pattern = re.compile(r"\b([a-z]+(?:_[a-z]+)+_?)\b|\b([a-z_]+)=")
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ("cli", "families", "kernels", "models"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if re.search(r"(Error|InvalidValue|BadRecord|warn)$", called):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        for found in pattern.finditer(part.value):
                            place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                            yield found[1] or found[2], place


def test_every_name_in_a_message_is_an_option_or_is_no_business_of_a_command() -> None:
    known = {name for command in main.commands.values() for name in option_names(command)}
    others = set().union(*NOT_OF_A_COMMAND.values())
    found = list(names_in_messages())
    assert len(found) > 30
    unknown = {(name, place) for name, place in found if name not in known | others}
    assert not unknown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("new.jsonl").write_text('{"id": "a", "text": "cat dog"}\n{"id": "b", "text": "dog"}\n')
    Path("bad.jsonl").write_text('{"id": "c"}\n')
    Path("deep.jsonl").write_text('{"id": "c", "tokens": [[[1]]]}\n')
    Path("wide.csv").write_text("id,text,c,d\n1,cat,3,4\n")
    Path("strange").write_text("cat\n")
    Path("empty.txt").write_text("")
    Path("twice.txt").write_text("cat\ncat\n")
    Path("words.txt").write_text("cat\ndog\n")
    Path("ratings.csv").write_text("who,item,rating\na,x,1\n")
    np.save("counts.npy", np.ones((4, 2), int))
    result = CliRunner().invoke(main, ["init", "s.db", "--topics", "2", "--min-documents", "1"])
    assert result.exit_code == 0, result.output
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("init s.db --topics 2 --min-documents 1 --held-out 0.5", "leave --held-out out"),
        ("init s.db --topics 2 --min-documents 3", "leave --min-documents out"),
        ("init s.db --topics 2 --min-documents 1 --max-words 7", "leave --max-words out"),
        ("init new.db --vocabulary twice.txt", "'cat' twice"),
        ("ingest s.db strange", "give --format, one of"),
        ("ingest s.db bad.jsonl", "with --on-error skip"),
        ("ingest s.db new.jsonl --max-bytes 3", "--max-bytes allows more"),
        ("ingest s.db new.jsonl --max-bytes 3 --on-error skip", "--max-bytes allows more"),
        ("ingest s.db deep.jsonl --max-depth 2", "--max-depth allows more"),
        ("ingest s.db new.jsonl --max-words 1", "--max-words sets it"),
        ("ingest s.db wide.csv --max-columns 2", "--max-columns allows more"),
        ("ingest s.db wide.csv --delimiter ab", "--delimiter is 'ab'"),
        ("ingest s.db ratings.csv", "by --id-column and --text-column"),
        ("ingest s.db ratings.csv --format ratings", "by --user-column, --item-column and"),
        ("recommend ratings.csv --all -q", "by --user-column, --item-column and --rating-column"),
    ],
)
def test_commands_name_options(folder: Path, arguments: str, said: str) -> None:
    result = CliRunner().invoke(main, arguments.split())
    assert said in result.stderr, result.output
    command = main.commands[arguments.split()[0]]
    for name in option_names(command):
        if "_" in name:
            assert name not in result.stderr


def test_ingesting_standard_input(folder: Path) -> None:
    result = CliRunner().invoke(main, ["ingest", "s.db", "-"], input="cat\n")
    assert "give --format, one of" in result.stderr
