"""Commands that make a store, look at it and take things out of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from trustream import presets
from trustream.cli.files import InputFile, ModelFile
from trustream.cli.numbers import Real, Whole, seed_option
from trustream.cli.options import (
    Method,
    echo,
    echo_json,
    json_option,
    model_option,
    opened,
    repeatable,
    store_argument,
)

_INIT = """\b
Examples:
  trustream init topics.db --topics 100
  trustream init postgresql://localhost/topics --topics 400 --min-documents 10
"""


@click.command(epilog=_INIT)
@store_argument
@click.option("--topics", default=100, show_default=True, type=Whole(1), help="Topics.")
@click.option(
    "--held-out",
    default=0.02,
    show_default=True,
    type=Real(0, 1, max_open=True),
    help="Share of documents that is only used to score the model.",
)
@click.option(
    "--min-documents",
    default=5,
    show_default=True,
    type=Whole(1),
    help="A word takes part once it is in so many documents.",
)
@click.option(
    "--max-words",
    default=200_000,
    show_default=True,
    type=Whole(1),
    help="Most words that take part; the rarest give way.",
)
@click.option(
    "--vocabulary",
    type=InputFile(),
    help="Only these words, one a line, all from the first document on.",
)
@click.option(
    "--method",
    default="trust-region",
    show_default=True,
    type=Method(),
    help="Name of the algorithm.",
)
@click.option(
    "--preset",
    type=click.Choice(presets.names()),
    help="Settings of the paper's streams: batch size, rate, iterations and priors.",
)
@click.option("--batch", type=Whole(1), help="Batch size.  [default: 100, or the preset's]")
@seed_option
@json_option
def init(
    store: str,
    topics: int,
    held_out: float,
    min_documents: int,
    max_words: int,
    vocabulary: Path | None,
    method: str,
    preset: str | None,
    batch: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Make a STORE for documents and for a model with some number of topics.

    STORE is a file name (SQLite) or a postgresql:// address.
    """
    from trustream import feeds
    from trustream.streaming.lda.model import TopicStream
    from trustream.streaming.published import load_settings, save_settings

    chosen: dict[str, Any] = {"n_components": topics, "method": method}
    if preset is not None:
        chosen = presets.trainer(preset, method, topics)
    if batch is not None:
        chosen["batch_size"] = batch
    model = TopicStream(**chosen, random_state=seed)
    words = None if vocabulary is None else feeds.read_vocabulary(vocabulary)
    options: dict[str, Any] = {"held_out": held_out}
    if words is None:
        options |= {"min_documents": min_documents, "max_words": max_words}
    else:
        options["vocabulary"] = words
    with opened(store, create=True, **options) as found:
        before = load_settings(found)
        if before is not None and before != model:
            raise ValueError(
                f"{found.name} has a model with other settings already "
                f"({_described(before)}): choose another store"
            )
        save_settings(found, model)
    if as_json:
        echo_json({"store": found.name, "topics": topics, "method": method})
    else:
        echo(f"{found.name} is ready for {topics} topics.")
        name = repeatable(store)
        echo(f"Next: trustream ingest {name} FILE..., and trustream train {name}")


def _described(model: Any) -> str:
    settings = model.settings()
    return f"{settings.get('n_components')} topics, {settings.get('method')}"


@click.command()
@store_argument
@model_option
@json_option
def status(store: str, name: str, as_json: bool) -> None:
    """Say what is in a STORE and how far its model is."""
    from trustream.streaming.published import load_checkpoint
    from trustream.streaming.training import batch_size

    with opened(store) as found:
        totals = found.totals()
        checkpoint = load_checkpoint(found, name)
    values: dict[str, Any] = dataclasses.asdict(totals)
    values |= {"steps": 0, "rho": None, "heldout": None, "best_heldout": None, "topics": None}
    if checkpoint is not None:
        recipe = checkpoint.model.recipe
        size = batch_size(checkpoint.model, totals)
        values |= {
            "steps": checkpoint.state.n_steps,
            "rho": checkpoint.clock.rate(recipe.tau, recipe.kappa, size),
            "heldout": checkpoint.last_score,
            "best_heldout": checkpoint.best_score,
            "topics": checkpoint.model.settings().get("n_components"),
        }
    if as_json:
        echo_json(values)
        return
    echo(f"{totals.documents:,} documents ({totals.held_out:,} held out), "
               f"{totals.tokens:,} tokens, {totals.words:,} words take part")  # fmt: skip
    if checkpoint is None:
        echo(f"no model yet: trustream train {repeatable(store)}")
    else:
        scored = "not scored yet"
        if checkpoint.last_score is not None:
            scored = f"held-out {checkpoint.last_score:.4f} nats a word"
        echo(f"{values['topics']} topics, {values['steps']:,} steps, "
                   f"rate {values['rho']:.4f}, {scored}")  # fmt: skip


@click.command()
@store_argument
@click.option("-n", default=10, show_default=True, type=Whole(1), help="Words a topic.")
@model_option
@json_option
def topics(store: str, n: int, name: str, as_json: bool) -> None:
    """Print the topics of a STORE's model as words, the largest topic first."""
    from trustream.streaming.published import load_model
    from trustream.topics.summary import summarise

    with opened(store) as found:
        model = load_model(found, name)
    for topic in summarise(model, n):
        if as_json:
            echo_json(dataclasses.asdict(topic))
        else:
            echo(f"{topic.topic:4d} {100 * topic.share:5.1f} %  {' '.join(topic.words)}")


@click.command()
@store_argument
@click.argument("data", type=InputFile())
@click.option("--top", default=5, show_default=True, type=Whole(1), help="Topics shown.")
@model_option
@json_option
def transform(store: str, data: Path, top: int, name: str, as_json: bool) -> None:
    """Topics of new documents (.txt, .jsonl or a matrix) by a STORE's model."""
    import numpy as np

    from trustream import feeds
    from trustream.streaming.published import load_model

    with opened(store) as found:
        model = load_model(found, name)
        words = [str(word) for word in model.feature_names_in_]
        # Files have rows and no names: scikit-learn would warn of that.
        del model.feature_names_in_
        matrix = feeds.read_matrix(data, words)
        proportions = model.transform(matrix)
    for row, theta in enumerate(proportions):
        if as_json:
            echo_json({"row": row, "theta": [round(float(value), 6) for value in theta]})
        else:
            best = np.argsort(-theta, kind="stable")[:top]
            parts = "  ".join(f"{k}: {theta[k]:.3f}" for k in best)
            echo(f"{row + 1:6d}  {parts}")


@click.command()
@store_argument
@click.argument("path", type=ModelFile())
@model_option
@json_option
def export(store: str, path: Path, name: str, as_json: bool) -> None:
    """Write a STORE's model to PATH, for `trustream.load` and `trustream evaluate`."""
    from trustream.streaming.published import load_model

    with opened(store) as found:
        model = load_model(found, name)
        model.save(path)
    if as_json:
        echo_json({"path": str(path), "topics": model.n_components, "words": model.n_features_in_})
    else:
        echo(f"{path}: {model.n_components} topics, {model.n_features_in_:,} words")
