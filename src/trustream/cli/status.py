"""The command ``trustream status``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    opened,
    repeatable,
    store_argument,
    suggested_model,
)

if TYPE_CHECKING:
    from trustream.feeds.phrase_adoption import PhraseState
    from trustream.streaming.status import ListedModel, ModelStatus

_EPILOG = """\b
Examples:
  trustream status topics.db
  watch -n 5 trustream status topics.db       # every five seconds
  trustream status topics.db --model fine --json
"""


@click.command(epilog=_EPILOG, short_help="Say what is in a STORE, and how its models do.")
@store_argument
@click.option("--model", "name", help="Only the model of this name.  [default: all models]")
@json_option
def status(store: str, name: str | None, as_json: bool) -> None:
    """Say what is in a STORE, how far its models are, and which trainers are running."""
    from trustream.streaming.published import DEFAULT_NAME, MissingModelError, models_there
    from trustream.streaming.status import status as status_of

    with opened(store) as found:
        result = status_of(found, name or DEFAULT_NAME)
        models = [model for model in result.models if name in (None, model.name)]
        if name is not None and not models:
            raise MissingModelError(f"{found.name} has no model {name!r}: {models_there(found)}")
    totals = result.totals
    # The model that the values without a name are about.
    chosen = next((model for model in models if model.name == (name or DEFAULT_NAME)), None)
    if chosen is None and len(models) == 1:
        chosen = models[0]
    if as_json:
        listed = [{"name": model.name, **_values(model)} for model in models]
        phrases = None if result.phrases is None else dataclasses.asdict(result.phrases)
        values = {**dataclasses.asdict(totals), **_values(chosen), "phrases": phrases}
        echo_json({**values, "models": listed})
        return
    echo(
        f"{totals.documents:,} documents ({totals.held_out:,} held out), {totals.tokens:,} tokens, "
        f"{totals.words:,} active words"
    )
    if result.phrases is not None:
        echo(_phrases(result.phrases, f"trustream phrases {repeatable(store)}"))
    if not models:
        echo(f"no model yet: trustream init {repeatable(store)}")
    for model in models:
        title = "" if len(models) == 1 and model.name == DEFAULT_NAME else f"{model.name}: "
        echo(title + _text(model, f"trustream train {repeatable(store)}"))


def _phrases(state: PhraseState, command: str) -> str:
    text = f"{state.n_phrases:,} phrases, order of words kept of {state.n_ordered:,} documents"
    if state.n_left:
        text += f", {state.n_left:,} of them joined by other phrases: {command} --adopt"
    return text


def _values(listed: ListedModel | None) -> dict[str, Any]:
    """The values of a model for programs."""
    model: ModelStatus | None = None if listed is None else listed.model
    trainer = None if listed is None else listed.trainer
    afresh = None if listed is None else listed.retrainer
    return {
        "steps": 0 if model is None else model.n_steps,
        "rho": None if model is None else model.rho,
        "heldout": None if model is None else model.last_score,
        "best_heldout": None if model is None else model.best_score,
        "topics": None if listed is None else listed.n_topics,
        "trainer": None if trainer is None else dataclasses.asdict(trainer),
        "retrainer": None if afresh is None else dataclasses.asdict(afresh),
        "problem": None if listed is None else listed.problem,
    }


def _text(listed: ListedModel, train: str) -> str:
    model, trainer = listed.model, listed.trainer
    running = (
        "no trainer is running" if trainer is None else f"a trainer is running: {trainer.text}"
    )
    topics = "" if listed.n_topics is None else f"{listed.n_topics} topics, "
    if listed.problem is not None:
        return f"{listed.problem}; {running}"
    if model is None and trainer is None:
        return f"{topics}no model yet: {train}{suggested_model(listed.name)}"
    if model is None:
        return f"{topics}no checkpoint yet; {running}"
    scored = "not scored yet"
    if model.last_score is not None:
        scored = f"held-out {model.last_score:.4f} nats per word"
    return f"{topics}{model.n_steps:,} steps, rate {model.rho:.4f}, {scored}; {running}"
