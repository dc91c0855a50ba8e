"""The command ``trustream choose-k``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.completion import file_names
from trustream.cli.data_parameters import data_options
from trustream.cli.number_parameters import LARGEST, Whole
from trustream.cli.output import echo, echo_json, echo_table, progress
from trustream.cli.shared_parameters import jobs_option, json_option, opened, seed_option
from trustream.cli.tokeniser_parameters import taken_tokeniser

if TYPE_CHECKING:
    from trustream.topics.choosing import ComponentsScore
    from trustream.topics.choosing_data import SampledDocuments

_EPILOG = """\b
Examples:
  trustream choose-k topics.db
  trustream choose-k articles.jsonl --candidates 5,10,20,40
  trustream choose-k counts.npz --documents 5000 --json
"""


class Numbers(click.ParamType):
    """Accept whole numbers with commas between.

    >>> Numbers().convert("5, 10,20", None, None)
    [5, 10, 20]
    """

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """Called by click."""
        try:
            numbers = [int(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if not numbers or not all(1 <= number <= LARGEST for number in numbers):
            self.fail(f"{value!r} is no list of numbers such as 5,10,20.", param, ctx)
        return numbers


@click.command("choose-k", epilog=_EPILOG, short_help="Say how many topics documents have.")
@click.argument("data", metavar="FILE_OR_STORE", shell_complete=file_names)
@click.option(
    "--candidates", type=Numbers(), help="Numbers of topics.  [default: a grid, 2 to 128]"
)
@click.option(
    "--documents", default=10_000, type=Whole(20), help="Use so many, a random sample, of more."
)
@data_options
@seed_option
@jobs_option
@json_option
def choose_k(
    data: str,
    candidates: list[int] | None,
    documents: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Say how many topics documents should be learned with, and why.

    FILE_OR_STORE is a store, documents in any format that `ingest` reads, or a matrix of counts
    (.npz, .npy, .mtx, .csv of numbers). A fifth of the documents is left out and predicted by
    models of each number of topics. Recommended are the fewest that predict as well as the best,
    up to one standard error.
    """
    from trustream.topics import choose_n_components

    sample = _sample(data, documents, seed, options)
    scored: list[ComponentsScore] = []
    with progress("trying numbers of topics", None, "models") as advance:

        def note(score: ComponentsScore) -> None:
            scored.append(score)
            advance(len(scored), f"{score.n_components} topics")

        choice = choose_n_components(
            sample.counts,
            candidates,
            max_documents=documents,
            random_state=seed,
            progress=note,
            n_jobs=jobs,
        )
    if as_json:
        numbers = {"n_sampled": sample.n_sampled, "n_documents": sample.n_documents}
        echo_json({**dataclasses.asdict(choice), **numbers})
        return
    some = f"{sample.n_sampled:,} of {sample.n_documents:,}"
    used = some if sample.n_sampled < sample.n_documents else f"all {sample.n_documents:,}"
    echo_table(
        f"{used} documents",
        ["topics>", "held-out, nats per word>", "standard error>", "coherence>", ""],
        [
            [
                str(score.n_components),
                f"{score.held_out:.4f}",
                f"{score.standard_error:.4f}",
                f"{score.coherence:.3f}",
                "recommended" if score.n_components == choice.n_components else "",
            ]
            for score in choice.scores
        ],
    )
    echo(choice.reason)


def _sample(data: str, most: int, seed: int, options: dict[str, Any]) -> SampledDocuments:
    from trustream import feeds
    from trustream.streaming.fitted_models import is_store
    from trustream.topics.choosing_data import sample_data, sample_store

    tokeniser = taken_tokeniser(options)
    vocabulary, format_ = options.pop("vocabulary"), options.pop("format_")
    given = {name: value for name, value in options.items() if value is not None}
    if is_store(data):
        if tokeniser is not None or vocabulary is not None or format_ is not None or given:
            raise click.UsageError("how data are read is for files; the store has its words.")
        with opened(data) as store:
            return sample_store(store, most, random_state=seed)
    if data != "-" and not Path(data).exists():
        raise FileNotFoundError(
            f"there is no file {data}; give a store, documents or a matrix of counts"
        )
    if tokeniser is not None:
        given["tokenise"] = tokeniser
    if vocabulary is not None:
        given["vocabulary"] = feeds.read_vocabulary(vocabulary)
    return sample_data(data, most, random_state=seed, format=format_, **given)
