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
    METHODS,
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
    type=click.Choice(METHODS),
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
    from trustream.streaming.model import load_settings, save_settings
    from trustream.streaming.settings import TrainerSettings

    chosen: dict[str, Any] = {"n_components": topics, "method": method}
    if preset is not None:
        chosen = presets.trainer(preset, method, topics)
    if batch is not None:
        chosen["batch_size"] = batch
    settings = TrainerSettings(**chosen, random_state=seed)
    words = None if vocabulary is None else feeds.read_vocabulary(vocabulary)
    options: dict[str, Any] = {"held_out": held_out}
    if words is None:
        options |= {"min_documents": min_documents, "max_words": max_words}
    else:
        options["vocabulary"] = words
    with opened(store, create=True, **options) as found:
        before = load_settings(found)
        if before is not None and before != settings:
            raise ValueError(
                f"{found.name} has a model with other settings already "
                f"({before.n_components} topics, {before.method}): choose another store"
            )
        save_settings(found, settings)
    if as_json:
        echo_json({"store": found.name, "topics": topics, "method": method})
    else:
        echo(f"{found.name} is ready for {topics} topics.")
        name = repeatable(store)
        echo(f"Next: trustream ingest {name} FILE..., and trustream train {name}")


@click.command()
@store_argument
@model_option
@json_option
def status(store: str, name: str, as_json: bool) -> None:
    """Say what is in a STORE and how far its model is."""
    from trustream.streaming.model import load_checkpoint

    with opened(store) as found:
        totals = found.totals()
        checkpoint = load_checkpoint(found, name)
    values: dict[str, Any] = dataclasses.asdict(totals)
    values |= {"steps": 0, "rho": None, "heldout": None, "best_heldout": None, "topics": None}
    if checkpoint is not None:
        s = checkpoint.settings
        values |= {
            "steps": checkpoint.state.n_steps,
            "rho": checkpoint.clock.rate(s.learning_offset, s.learning_decay, s.batch_size),
            "heldout": checkpoint.last_score,
            "best_heldout": checkpoint.best_score,
            "topics": s.n_components,
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
    import numpy as np

    from trustream.streaming.model import load_model

    with opened(store) as found:
        model = load_model(found, name)
    totals = model._state.lambda_.totals
    share = totals / totals.sum()
    words = model.top_words(n)
    order = np.argsort(-share, kind="stable")
    if as_json:
        for k in order:
            echo_json({"topic": int(k), "share": float(share[k]), "words": words[k]})
        return
    for k in order:
        echo(f"{k:4d} {100 * share[k]:5.1f} %  {' '.join(words[k])}")


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
    from trustream.streaming.model import load_model

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
    from trustream.streaming.model import load_model

    with opened(store) as found:
        model = load_model(found, name)
        model.save(path)
    if as_json:
        echo_json({"path": str(path), "topics": model.n_components, "words": model.n_features_in_})
    else:
        echo(f"{path}: {model.n_components} topics, {model.n_features_in_:,} words")
