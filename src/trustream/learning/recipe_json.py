"""A recipe as JSON can hold it, for checkpoints, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from trustream._schema import (
    Rule,
    boolean,
    check_values,
    integer,
    mapping,
    number,
    optional,
)
from trustream.learning import algorithms
from trustream.learning.defaults import LEAST_SEPARATION
from trustream.learning.recipe import Effort, Recipe

_names = Rule(
    lambda value: isinstance(value, list | tuple) and all(isinstance(v, str) for v in value),
    "a list of names",
)
_pair = Rule(lambda value: isinstance(value, list | tuple) and len(value) == 2, "a pair")
_FIELDS = {
    "method": Rule(lambda value: value in algorithms.names(), "the name of an algorithm"),
    "adaptive": boolean,
    "tau": number(above=0.0),
    "kappa": number(least=0.0),
    "cooldown": number(least=0.0),
    "batch_size": optional(integer(1)),
    "batch_tokens": number(above=0.0),
    "batch_least_part": number(above=0.0),
    "max_iter": integer(1),
    "effort": mapping,
    "local_tol": number(least=0.0),
    "tol": number(least=0.0),
    "learn": _names,
    "first": optional(_pair),
    "late": optional(_pair),
    "max_doc_topics": optional(integer(1)),
    "population": optional(number(above=0.0)),
    "tokens_per_pair": number(least=0.0),
    "data_multiple": number(least=0.0),
    "equal_documents": number(least=0.0),
    "least_separation": number(least=0.0),
    "settling": optional(number(above=0.0)),
    "n_parts": integer(1),
    "exact_steps": optional(integer(0)),
    "least_steps_per_pass": integer(1),
    "least_steps": integer(1),
    "least_documents": integer(1),
}
# Recipes of earlier checkpoints do not have them.
_MAY_LACK = (
    "data_multiple",
    "equal_documents",
    "least_separation",
    "settling",
    "n_parts",
    "exact_steps",
    "least_steps_per_pass",
    "least_steps",
    "least_documents",
)


def to_json(recipe: Recipe) -> dict[str, Any]:
    """All fields of a recipe."""
    return asdict(recipe)


def from_json(values: Any) -> Recipe:
    """The recipe that `to_json` gave, perhaps through a file.

    >>> import json
    >>> from trustream.learning.defaults import for_topics
    >>> recipe = for_topics(100)
    >>> from_json(json.loads(json.dumps(to_json(recipe)))) == recipe
    True

    Raises:
        ValueError: the values are not those of a recipe.
    """
    check_values(values, _FIELDS, "the recipe", _MAY_LACK)
    if "least_separation" not in values and values.get("equal_documents", 0.0) > 0:
        # Then the one went with the other.
        values = {**values, "least_separation": LEAST_SEPARATION}
    staged = {name: _staged(values[name]) for name in ("first", "late")}
    effort = _effort(values["effort"])
    return Recipe(**{**values, "effort": effort, "learn": tuple(values["learn"]), **staged})


def _effort(values: Any) -> Effort:
    check_values(values, {"n_inner": integer(1), "n_local": integer(1)}, "the effort")
    return Effort(**values)


def _staged(values: Any) -> tuple[Any, Effort] | None:
    if values is None:
        return None
    check_values({"from": values[0]}, {"from": number(least=0.0)}, "the effort")
    return values[0], _effort(values[1])
