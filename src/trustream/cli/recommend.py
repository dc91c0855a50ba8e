"""``trustream recommend``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from trustream.cli.files import InputFile, ModelFile
from trustream.cli.numbers import Real, Whole, jobs_option, seed_option
from trustream.cli.options import echo, echo_json, writing
from trustream.terminal import shown

# Users whose lists are computed before any is printed.
_CHUNK = 4096

_EPILOG = """\b
Examples:
  trustream recommend ratings.csv --threshold 4 --save movies.safetensors
  trustream recommend --model movies.safetensors --user ann --user bob -n 10
  trustream recommend --model movies.safetensors --all --json > lists.jsonl
  trustream recommend --model movies.safetensors --like "Alien" --like "Brazil"
  trustream recommend --model movies.safetensors --similar "Alien"
  trustream recommend plays.parquet --user-column listener --item-column song \\
      --rating-column plays --topics 100 --all
"""
_FITTING = (
    "topics", "passes", "threshold", "user_column", "item_column", "rating_column",
    "timestamp_column", "seed",
)  # fmt: skip


class Answer(NamedTuple):
    """A list of items, and what it is for: `key` and `value` in JSON, `title` in a table."""

    key: str
    value: Any
    title: str
    items: Any


@click.command(epilog=_EPILOG)
@click.argument("ratings", required=False, type=InputFile())
@click.option(
    "--model",
    type=InputFile(),
    help="Use this saved model; no RATINGS then.",
)
@click.option("--save", type=ModelFile(), help="Write the fitted model.")
@click.option("--user", "users", multiple=True, help="Recommend to this user; repeatable.")
@click.option("--all", "everybody", is_flag=True, help="Recommend to all users.")
@click.option("--like", "likes", multiple=True, help="For somebody who likes this; repeatable.")
@click.option("--similar", multiple=True, help="Items like this one; repeatable.")
@click.option("-n", default=20, show_default=True, type=Whole(1), help="Items a list.")
@click.option("--seen", is_flag=True, help="Keep items that the user has rated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, a line a list.")
@click.option("--topics", default=20, show_default=True, type=Whole(1), help="Topics.")
@click.option(
    "--passes", default=5, show_default=True, type=Whole(1), help="Passes over the users."
)
@click.option(
    "--threshold", type=Real(), help="Liked from this rating on.  [default: ratings are weights]"
)
@click.option("--user-column", default="user", show_default=True, help="Column of user ids.")
@click.option("--item-column", default="item", show_default=True, help="Column of item ids.")
@click.option(
    "--rating-column", default="rating", show_default=True, help="Column of ratings; '' for none."
)
@click.option(
    "--timestamp-column",
    default="timestamp",
    show_default=True,
    help="Column of times, if there is one; the latest of repeated ratings counts.",
)
@seed_option
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.pass_context
def recommend(context: click.Context, **options: Any) -> None:
    """Learn from RATINGS what users like, and recommend items to them.

    RATINGS is a table with a row a rating (.csv, .tsv, .parquet) and the columns user, item,
    rating and perhaps timestamp. Ids may be words or whole numbers.

    Give RATINGS to fit a model, or --model to use one; --user, --all, --like and --similar say
    which lists to print.
    """
    _check_usage(context, options)
    model = _loaded(options) if options["model"] else _fitted(options)
    if options["save"]:
        model.save(options["save"])
    show = _json_line if options["as_json"] else _Table()
    for answer in _answers(model, options):
        show(answer)


def _check_usage(context: click.Context, options: dict[str, Any]) -> None:
    asked = any(options[name] for name in ("users", "everybody", "likes", "similar"))
    if (options["ratings"] is None) == (options["model"] is None):
        raise click.UsageError("give either RATINGS to fit a model or --model to use one")
    if not (asked or options["save"]):
        raise click.UsageError(
            "nothing to do: --save writes the model; --user, --all, --like, --similar print lists"
        )
    if options["everybody"] and options["users"]:
        raise click.UsageError("give either --user or --all")
    if options["model"]:
        for name in (*_FITTING, "save"):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                flag = name.replace("_", "-")
                raise click.UsageError(f"--{flag} is for fitting, and --model is fitted")


def _loaded(options: dict[str, Any]) -> Any:
    import trustream

    model = trustream.load(options["model"])
    if not isinstance(model, trustream.TopicRecommender):
        raise ValueError(
            f"{options['model']} holds a {type(model).__name__}, expected a TopicRecommender: "
            "make one with trustream recommend RATINGS --save"
        )
    return model.set_params(n_jobs=options["jobs"])


def _fitted(options: dict[str, Any]) -> Any:
    from trustream.feeds import read_ratings
    from trustream.recommender import TopicRecommender

    columns: dict[str, Any] = {
        name: options[name] or (None if name in ("rating_column", "timestamp_column") else "")
        for name in ("user_column", "item_column", "rating_column", "timestamp_column")
    }
    model = TopicRecommender(
        options["topics"],
        threshold=options["threshold"],
        max_iter=options["passes"],
        random_state=options["seed"],
        n_jobs=options["jobs"],
        verbose=0 if options["quiet"] else 1,
        **columns,
    )
    model.fit(read_ratings(options["ratings"], model.columns))
    if not options["quiet"]:
        n_users, n_items = len(model.user_ids_), len(model.item_ids_)
        echo(f"{n_users} users, {n_items} items, {options['topics']} topics", err=True)
    return model.set_params(verbose=0)


def _answers(model: Any, options: dict[str, Any]) -> Iterator[Answer]:
    n, exclude_seen = options["n"], not options["seen"]
    users = [model.parse_user(text) for text in options["users"]]
    if options["everybody"]:
        users = model.user_ids_.tolist()
    with _progress(len(users), options) as advance:
        for start in range(0, len(users), _CHUNK):
            chunk = users[start : start + _CHUNK]
            for user, items in model.recommend_all(n, users=chunk, exclude_seen=exclude_seen):
                yield Answer("user", user, str(user), items)
            advance(start + len(chunk))
    if options["likes"]:
        likes = [model.parse_item(text) for text in options["likes"]]
        items = model.recommend_for(likes, n, exclude_seen=exclude_seen)
        yield Answer("likes", likes, "likes " + ", ".join(options["likes"]), items)
    for text in options["similar"]:
        item = model.parse_item(text)
        yield Answer("similar_to", item, f"similar to {text}", model.similar_items(item, n))


def _progress(n_users: int, options: dict[str, Any]) -> Any:
    from contextlib import nullcontext

    if options["quiet"] or n_users <= _CHUNK:
        return nullcontext(lambda done: None)
    from rich.console import Console

    from trustream.terminal import progress

    return progress(Console(stderr=True), "Recommending to users", n_users)


def _json_line(answer: Answer) -> None:
    items = [{"item": item, "score": score} for item, score in answer.items]
    echo_json({answer.key: answer.value, "items": items})


class _Table:
    """Prints lists as rows of one table, as they come: tabs in a file, even columns on a screen."""

    def __init__(self) -> None:
        self.widths: list[int] | None = None

    def __call__(self, answer: Answer) -> None:
        rows = [
            (shown(answer.title), str(rank), shown(item), f"{score:.5g}")
            for rank, (item, score) in enumerate(answer.items, start=1)
        ]
        if self.widths is None:
            rows.insert(0, ("for", "rank", "item", "score"))
            # Those of the first list will do for the others, or nothing could be printed yet.
            self.widths = [max(len(row[i]) for row in rows) for i in range(4)]
        for row in rows:
            if sys.stdout is not None and sys.stdout.isatty():
                padded = (f"{cell:<{width}}" for cell, width in zip(row, self.widths, strict=True))
                echo("  ".join(padded).rstrip())
            else:
                with writing("standard output"):
                    click.echo("\t".join(row))  # the cells are shown texts, the tabs are ours
