"""The command ``trustream recommend``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from trustream.cli.file_parameters import InputFile, ModelFile
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json, progress, writing
from trustream.cli.shared_parameters import jobs_option, seed_option, topics_option
from trustream.terminal import shown

if TYPE_CHECKING:
    from trustream.recommender.fitted_recommender import FittedRecommender
    from trustream.recommender.list_requests import ItemList

_EPILOG = """\b
Examples:
  trustream recommend ratings.csv --threshold 4 --save movies.safetensors
  trustream recommend --model movies.safetensors --user ann --user bob -n 10
  trustream recommend --model movies.safetensors --all --json > lists.jsonl
  trustream recommend --model movies.safetensors --like Alien --like Brazil
  trustream recommend --model movies.safetensors --similar Alien
  trustream recommend plays.parquet --item-column song --all
  trustream recommend ratings.csv --trending --save now.safetensors
  trustream recommend --model now.safetensors --add today.csv --all
"""
# Options that only matter when a model is fitted.
_FITTING = (
    "topics", "by", "passes", "threshold", "user_column", "item_column", "rating_column",
    "timestamp_column", "seed", "trending", "half_life", "share",
)  # fmt: skip


@click.command(epilog=_EPILOG, short_help="Learn from RATINGS, and recommend items to users.")
@click.argument("ratings", required=False, type=InputFile())
@click.option("--model", type=InputFile(), help="Use this saved model; no RATINGS then.")
@click.option("--add", type=InputFile(), help="Newer ratings, which --model learns from first.")
@click.option("--save", type=ModelFile(), help="Write the fitted model.")
@click.option("--user", "users", multiple=True, help="Recommend to this user; repeatable.")
@click.option("--all", "everybody", is_flag=True, help="Recommend to all users.")
@click.option("--like", "likes", multiple=True, help="For somebody who likes this; repeatable.")
@click.option("--similar", multiple=True, help="Items like this one; repeatable.")
@click.option("-n", default=20, type=Whole(1), help="Items per list.")
@click.option("--seen", is_flag=True, help="Keep items that the user has rated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one line per list.")
@topics_option(20)
@click.option(
    "--by",
    type=click.Choice(["topics", "poisson"]),
    default="topics",
    help="Learn topics, or factors by Poisson factorisation, as many as --topics says.",
)
@click.option(
    "--trending",
    is_flag=True,
    help="Recommend what everybody likes at the moment as well; RATINGS must have times.",
)
@click.option(
    "--half-life",
    type=Real(0, min_open=True),
    help="With --trending: days after which a like counts half.  [default: chosen by RATINGS]",
)
@click.option(
    "--share",
    type=Real(0, 1),
    help="With --trending: weight of the moment in a score.  [default: chosen by RATINGS]",
)
@click.option("--passes", type=Whole(1), help="Passes over the users.  [default: 5, by poisson 10]")
@click.option(
    "--threshold", type=Real(), help="Liked from this rating on.  [default: ratings are weights]"
)
@click.option("--user-column", default="user", help="Column of user ids.")
@click.option("--item-column", default="item", help="Column of item ids.")
@click.option("--rating-column", default="rating", help="Column of ratings; '' for none.")
@click.option(
    "--timestamp-column",
    default="timestamp",
    help="Column of times, if there is one; the latest of repeated ratings counts.",
)
@seed_option
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.pass_context
def recommend(context: click.Context, **options: Any) -> None:
    """Learn from RATINGS what users like, and recommend items to them.

    RATINGS is a table with one row per rating (.csv, .tsv, .parquet) and the columns user, item,
    rating and perhaps timestamp. Ids may be words or whole numbers.

    Give RATINGS to fit a model, or --model to use one, perhaps with newer ratings (--add); --user,
    --all, --like and --similar say which lists to print.
    """
    _check_usage(context, options)
    from trustream.recommender.list_requests import item_lists, load_recommender

    if options["model"]:
        model = load_recommender(options["model"], options["jobs"])
        if options["add"]:
            _add(model, options)
    else:
        model = _fitted(options)
    if options["save"]:
        model.save(options["save"])
    print_list = _print_json if options["as_json"] else _TablePrinter()
    for found in item_lists(
        model,
        users=None if options["everybody"] else options["users"],
        likes=options["likes"],
        similar_to=options["similar"],
        n=options["n"],
        exclude_seen=not options["seen"],
        progress=None if options["quiet"] else _progress,
    ):
        print_list(found)


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
    if options["add"] and not options["model"]:
        raise click.UsageError("--add is for --model; put all ratings into RATINGS to fit a model")
    for name in ("half_life", "share"):
        if options[name] is not None and not (options["trending"] or options["model"]):
            raise click.UsageError(f"--{name.replace('_', '-')} is for --trending")
    if options["model"]:
        for name in (*_FITTING, *(() if options["add"] else ("save",))):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                flag = name.replace("_", "-")
                raise click.UsageError(f"--{flag} is for fitting, and --model is fitted")


def _fitted(options: dict[str, Any]) -> FittedRecommender:
    from trustream.feeds import read_ratings
    from trustream.recommender import PoissonRecommender, TopicRecommender, TrendingRecommender

    columns: dict[str, Any] = {
        name: options[name] or (None if name in ("rating_column", "timestamp_column") else "")
        for name in ("user_column", "item_column", "rating_column", "timestamp_column")
    }
    kinds: dict[str, Any] = {"topics": TopicRecommender, "poisson": PoissonRecommender}
    passes = {} if options["passes"] is None else {"max_iter": options["passes"]}
    one = kinds[options["by"]](
        options["topics"],
        threshold=options["threshold"],
        random_state=options["seed"],
        n_jobs=options["jobs"],
        verbose=0 if options["quiet"] else 1,
        **columns,
        **passes,
    )
    model = one
    if options["trending"]:
        given = {
            name: options[name] for name in ("half_life", "share") if options[name] is not None
        }
        model = TrendingRecommender(one, **given)
    model.fit(read_ratings(options["ratings"], one.columns))
    if not options["quiet"]:
        n_users, n_items = len(model.user_ids_), len(model.item_ids_)
        what = "topics" if options["by"] == "topics" else "components"
        echo(f"{n_users} users, {n_items} items, {options['topics']} {what}", err=True)
    if options["trending"]:
        trend = model.trend_
        if not options["quiet"]:
            echo(f"half-life {trend.half_life:g} days, share {trend.share:g}", err=True)
        model.recommender_.set_params(verbose=0)
    else:
        model.set_params(verbose=0)
    return model


def _add(model: FittedRecommender, options: dict[str, Any]) -> None:
    from trustream.recommender.new_ratings import add_ratings

    added = add_ratings(model, options["add"])
    if not options["quiet"]:
        new = f"new users: {added.users}, new items: {added.items}"
        echo(f"{added.ratings} ratings added; {new}", err=True)


def _progress(n_users: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show progress if the users' lists are not all computed at once."""
    from trustream.recommender.list_requests import USERS_AT_A_TIME

    if n_users <= USERS_AT_A_TIME:
        return nullcontext(lambda done: None)
    return progress("Recommending", n_users, "users")


def _print_json(found: ItemList) -> None:
    items = [dataclasses.asdict(item) for item in found.items]
    echo_json({found.kind: found.subject, "items": items})


class _TablePrinter:
    """Print lists as rows of one table: even columns on a terminal, tabs elsewhere."""

    def __init__(self) -> None:
        self.widths: list[int] | None = None

    def __call__(self, found: ItemList) -> None:
        rows = [
            (shown(found.title), str(rank), shown(entry.item), f"{entry.score:.5g}")
            for rank, entry in enumerate(found.items, start=1)
        ]
        if self.widths is None:
            rows.insert(0, ("for", "rank", "item", "score"))
            # The widths of the first list are used for all, so that it can be printed at once.
            self.widths = [max(len(row[i]) for row in rows) for i in range(4)]
        for row in rows:
            if sys.stdout is not None and sys.stdout.isatty():
                padded = (f"{cell:<{width}}" for cell, width in zip(row, self.widths, strict=True))
                echo("  ".join(padded).rstrip())
            else:
                with writing("standard output"):
                    click.echo("\t".join(row))  # the cells are safe already, the tabs are ours
