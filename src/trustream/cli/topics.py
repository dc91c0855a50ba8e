"""The command ``trustream topics``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.cluster_parameters import (
    check_workers,
    cluster_options,
    documents_done,
    say_start,
)
from trustream.cli.data_parameters import model_argument, vocabulary_option
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json, echo_table
from trustream.cli.shared_parameters import json_option, model_option, naming_init, opened
from trustream.cli.topic_parameters import of_documents, percent, reading, sample_option

if TYPE_CHECKING:
    from trustream.streaming.fitted_models import FittedModel
    from trustream.topics.table import TopicTable

_EPILOG = """\b
Examples:
  trustream topics topics.db
  trustream topics topics.db --info --relevance 0.3
  trustream topics topics.safetensors --vocabulary words.txt
  trustream topics topics.db -n 20 --json > topics.jsonl
"""


@click.command(epilog=_EPILOG, short_help="Print topics as words.")
@model_argument
@click.option("-n", default=10, type=Whole(1), help="Words per topic.")
@click.option(
    "--info", is_flag=True, help="Read the documents: sizes, coherence, words that set apart."
)
@click.option(
    "--relevance",
    type=Real(0, 1),
    help="With --info: 1 is the most probable words, 0 those of one topic only.  [default: 0.6]",
)
@sample_option
@cluster_options
@vocabulary_option
@model_option
@json_option
def topics(
    model: str,
    n: int,
    info: bool,
    relevance: float | None,
    sample: int | None,
    cluster: str | None,
    workers: int | None,
    vocabulary: Path | None,
    name: str,
    as_json: bool,
) -> None:
    """Print topics as words with their ids, labels and shares, the largest topic first.

    MODEL_OR_STORE is a store with a model, or a file that `export` or an estimator's `save` wrote.
    With --info all documents of a store are read: share of their tokens, documents whose largest
    topic it is, the words that set a topic apart, and coherence (npmi). A file has no documents,
    and shares are then those of the topics' weights.
    """
    from trustream import feeds
    from trustream.streaming.fitted_models import load_fitted
    from trustream.topics.summary import summarise

    if not info and (relevance, sample, cluster) != (None, None, None):
        raise click.UsageError("--relevance, --sample and --cluster need --info.")
    check_workers(cluster, workers)
    if cluster is not None and sample is not None:
        raise click.UsageError("With --cluster all documents are read: leave out --sample.")
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
    if info:
        options = {} if relevance is None else {"relevance": relevance}
        where = None if cluster is None else {"cluster": cluster, "workers": workers}
        _print_info(fitted, model, {"n_words": n, **options}, sample, where, as_json)
        return
    for topic in summarise(fitted.estimator, n, fitted.words):
        if as_json:
            echo_json(dataclasses.asdict(topic))
        else:
            label = "" if topic.label is None else f"{topic.label}: "
            echo(f"{topic.topic:4d} {100 * topic.share:5.1f} %  {label}{' '.join(topic.words)}")


def _print_info(
    fitted: FittedModel,
    source: str,
    options: dict[str, Any],
    sample: int | None,
    where: dict[str, Any] | None,
    as_json: bool,
) -> None:
    from trustream.topics import as_topics, topic_info
    from trustream.topics.exploring import explore

    found = as_topics(fitted.estimator, fitted.words)
    if not fitted.in_store:
        _print_table(topic_info(found, **options), "", as_json)
        return
    given: dict[str, Any] = {"n_documents": 1, "bins": None, **options}
    if where is None:
        with opened(source) as store, reading(store, sample) as progress:
            result = explore(store, found, sample=sample, progress=progress, **given)
    else:
        from trustream.cluster.exploring import explore as on_cluster

        say_start(where["cluster"])
        with documents_done(fitted.title) as progress:
            result = on_cluster(source, fitted, progress=progress, **where, **given)
    _print_table(result.table, f" in {of_documents(result)}", as_json)


def _print_table(table: TopicTable, read: str, as_json: bool) -> None:
    if as_json:
        for info in table:
            echo_json(dataclasses.asdict(info))
        return
    counted = table.n_documents is not None
    columns = ["topic>", "share>", *(["documents>", "coherence>"] if counted else []), "words"]
    labelled = any(info.labelled for info in table)
    if labelled:
        columns.insert(1, "label")
    rows = []
    for info in table:
        row = [str(info.topic), percent(info.share)]
        if counted:
            coherence = info.coherence
            row += [f"{info.n_documents:,}", "-" if coherence is None else f"{coherence:.2f}"]
        row.append(" ".join(entry.word for entry in info.relevant))
        if labelled:
            row.insert(1, info.label if info.labelled else "")
        rows.append(row)
    title = f"{len(rows)} topics{read}, words by relevance {table.relevance:g}"
    echo_table(title, columns, rows)
