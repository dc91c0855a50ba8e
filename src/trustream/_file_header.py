"""The header of a model file: what is said of its arrays, with the version of the format.

It is the metadata entry ``trustream`` of a safetensors file, whose text is the JSON object

    {"format": "trustream", "version": 1, "library_version": "0.2.0", "header": {...}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream import __version__
from trustream._schema import check_values, integer, mapping, one_of, shown, text

FORMAT = "trustream"
VERSION = 1

_OUTER = {
    "format": one_of([FORMAT]),
    "version": integer(1),
    "library_version": text,
    "header": mapping,
}


class Unsuitable(ValueError):
    """The content is whole, as far as one can tell, and not for this version of trustream."""


def encode_header(header: Mapping[str, Any]) -> str:
    """Return the text of the metadata entry."""
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "library_version": __version__,
            "header": _plain(header, "header"),
        }
    )


def decode_header(name: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the header in the metadata of a file, or say why there is none."""
    try:
        outer = json.loads(metadata[FORMAT])
        if outer["format"] != FORMAT:
            raise KeyError("format")
        version = outer["version"]
    except (KeyError, TypeError, ValueError) as error:
        raise Unsuitable(
            f"{name} is a safetensors file, but trustream did not write it, or it is damaged: "
            "give one that `save` wrote"
        ) from error
    if type(version) is int and version > VERSION:
        raise Unsuitable(
            f"{name} is in format version {shown(version)}, written by trustream "
            f"{shown(outer.get('library_version'), quote=False)}; this is trustream {__version__}, "
            f"which reads up to version {VERSION}: upgrade trustream to load it"
        )
    check_values(outer, _OUTER, "the metadata")
    header: dict[str, Any] = outer["header"]
    return header


def _plain(value: Any, where: str) -> Any:
    """Return ``value`` as JSON can hold it without losing anything, or name what cannot be held."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{where} has the key {key!r}; keys must be strings")
        return {key: _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise ValueError(f"{where} is a {type(value).__name__}, which a JSON header cannot hold")
