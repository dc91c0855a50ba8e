"""The command ``trustream topics``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from trustream.cli.data_parameters import model_argument, vocabulary_option
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, naming_init

_EPILOG = """\b
Examples:
  trustream topics topics.db
  trustream topics topics.safetensors --vocabulary words.txt
  trustream topics topics.db -n 20 --json > topics.jsonl
"""


@click.command(epilog=_EPILOG, short_help="Print topics as words.")
@model_argument
@click.option("-n", default=10, type=Whole(1), help="Words per topic.")
@vocabulary_option
@model_option
@json_option
def topics(model: str, n: int, vocabulary: Path | None, name: str, as_json: bool) -> None:
    """Print topics as words, the largest topic first.

    MODEL_OR_STORE is a store with a model, or a file that `export` or an estimator's `save` wrote.
    """
    from trustream import feeds
    from trustream.streaming.fitted_models import load_fitted
    from trustream.topics.summary import summarise

    with naming_init(model):
        fitted = load_fitted(model, name)
    fitted.check_topics()
    if vocabulary is not None:
        fitted = fitted.with_words(feeds.read_vocabulary(vocabulary), vocabulary.name)
    if fitted.words is None:
        echo(
            f"Warning: {fitted.title} has no words, and x0, x1, ... are its columns: give "
            "--vocabulary, or save it with words (set_words)",
            err=True,
        )
    for topic in summarise(fitted.estimator, n, fitted.words):
        if as_json:
            echo_json(dataclasses.asdict(topic))
        else:
            label = "" if topic.label is None else f"{topic.label}: "
            echo(f"{topic.topic:4d} {100 * topic.share:5.1f} %  {label}{' '.join(topic.words)}")
