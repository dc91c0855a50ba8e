"""A fitted estimator as named arrays and a JSON header, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream import persist
from trustream._schema import Array, Described, check_arrays, check_entries, check_values, shown
from trustream.estimators import parameters, schemas
from trustream.estimators.seed_topics import SeedTopics
from trustream.estimators.topic_words import checked_words
from trustream.learning import state_arrays, state_formats
from trustream.tokenisers import from_dict
from trustream.topic_names import TopicNames


def to_arrays(estimator: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, header) that hold all of a fitted estimator but its callback.

    Raises:
        ValueError: parameters were changed after the fit, so that a file could not be read again.
    """
    arrays, state_header = state_arrays.to_arrays(estimator._state)
    params = estimator.get_params(deep=False)
    kept = {}
    for key, value in params.items():
        if key == "words" and value is not None:
            arrays["param.words"] = persist.pack_strings([str(word) for word in value])
        elif key == "seed_words" and value is not None:
            kept[key] = {str(name): [str(word) for word in words] for name, words in value.items()}
        elif isinstance(value, np.ndarray | list | tuple):
            arrays[f"param.{key}"] = np.asarray(value)
        elif _is_plain(value):
            kept[key] = plain(value)
        elif key == "dtype":
            kept[key] = np.dtype(value).name
        elif key not in ("callback", "random_state"):
            raise ValueError(f"cannot save the parameter {key}={value!r}")
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names"] = persist.pack_strings(list(estimator.feature_names_in_))
    if getattr(estimator, "_words", None) is not None:
        arrays["words"] = persist.pack_strings(estimator._words)
    arrays |= estimator._own_arrays()
    attributes = {
        name: plain(getattr(estimator, name))
        for name in schemas.ATTRIBUTES
        if name in vars(estimator)
    }
    header = {
        "estimator": type(estimator).__name__,
        "params": kept,
        "attributes": attributes,
        **state_header,
        "rng": persist.generator_to_json(estimator._rng),
    }
    if getattr(estimator, "_seeds", None) is not None:
        header["seed_topics"] = estimator._seeds.to_json()
    if getattr(estimator, "_tokeniser", None) is not None:
        header["tokeniser"] = estimator._tokeniser.to_dict()
    if getattr(estimator, "_topic_names", None) is not None:
        header["topics"] = estimator._topic_names.to_json()
    try:
        check(type(estimator), header, arrays)
    except ValueError as error:
        raise ValueError(
            f"cannot save this {type(estimator).__name__}: {error}. If parameters were changed "
            "after the fit, change them back or fit again"
        ) from error
    return arrays, header


def from_contents(cls: Any, contents: persist.Contents) -> Any:
    """The estimator that `to_arrays` took apart.

    Raises:
        ValueError: the contents do not fit each other.
    """
    header = contents.header
    table = check(cls, header, contents.entries)
    arrays = contents.arrays()
    check_arrays(arrays, table)
    return from_arrays(cls, header, arrays)


def check(cls: Any, header: Any, entries: Mapping[str, Described]) -> state_formats.Table:
    """What the arrays of a file with this header must be; a ValueError if they are not.

    Nothing is made of the size that a file claims before this.
    """
    may_lack = (*state_arrays.MAY_LACK, "tokeniser", "topics", "seed_topics")
    check_values(header, schemas.HEADER, "the header", may_lack=may_lack)
    check_values(header["attributes"], schemas.ATTRIBUTES, "the attributes", schemas.MAY_LACK)
    estimator = cls(**_plain_params(cls, header["params"], entries))
    _validate(estimator)
    # Shapes may depend on them.
    vars(estimator).update(header["attributes"])
    n_features = header["attributes"]["n_features_in_"]
    table = estimator._format(n_features).table(header) | estimator._own_table(entries)
    given = {f"param.{name}": rule for name, rule in estimator._array_params(n_features).items()}
    packed = Array(None, ("uint8",))
    optional = {"feature_names": packed, "words": packed, **given}
    check_entries(entries, table | optional, may_lack=optional)
    return table | optional


def from_arrays(cls: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The estimator of a header and arrays that were checked."""
    given: dict[str, Any] = {
        key: arrays[f"param.{key}"] for key in state_arrays.named(arrays, "param")
    }
    if "words" in given:
        given["words"] = persist.unpack_strings(given["words"])
    estimator = cls(**header["params"], **given)
    _validate(estimator)
    for name, value in header["attributes"].items():
        setattr(estimator, name, value)
    if "feature_names" in arrays:
        names = persist.unpack_strings(arrays["feature_names"])
        if len(names) != estimator.n_features_in_:
            raise ValueError(f"{len(names)} names for {estimator.n_features_in_} features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if "words" in arrays:
        words = persist.unpack_strings(arrays["words"])
        estimator._words = checked_words(words, estimator.n_features_in_)
    if "seed_topics" in header:
        estimator._seeds = SeedTopics.from_json(header["seed_topics"], estimator.n_components)
    if "tokeniser" in header:
        estimator._tokeniser = from_dict(header["tokeniser"])
    if "topics" in header:
        topics = TopicNames.from_json(header["topics"])
        estimator._topic_names = topics.checked(estimator.n_components)
    estimator._state = state_arrays.from_arrays(
        estimator._format(estimator.n_features_in_), header, arrays
    )
    estimator._rng = persist.generator_from_json(header["rng"])
    estimator._take_own_arrays(arrays)
    return estimator


def _plain_params(
    cls: Any, params: dict[str, Any], entries: Mapping[str, Described]
) -> dict[str, Any]:
    """The parameters of a header, which are known to the estimator, and not in arrays as well.

    Some may be missing: those that a version had not yet.
    """
    names = cls._get_param_names()
    rules = {name: schemas.LIMITS.get(name, schemas.PLAIN) for name in names}
    check_values(params, rules, "the parameters", may_lack=names)
    for name in state_arrays.named(entries, "param"):
        if name in params:
            raise ValueError(f"the parameter {shown(name)} stands there twice")
    return params


def _validate(estimator: Any) -> None:
    """The checks that `fit` makes before it looks at data."""
    estimator._validate_params()
    parameters.dtype_name(estimator.dtype)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def plain(value: Any) -> Any:
    """A NumPy scalar as a number of Python's; all else as it is."""
    return value.item() if isinstance(value, np.generic) else value
