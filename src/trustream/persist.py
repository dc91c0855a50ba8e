"""Models on disk: named arrays and a versioned JSON header in one safetensors file, never pickle.

A file holds the arrays and a single metadata entry, ``trustream``, whose text is the JSON object

    {"format": "trustream", "version": 1, "library_version": "0.1.0", "header": {...}}

This module knows nothing of models: an estimator decides which arrays and which header it needs.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save, save_file

from trustream import __version__
from trustream._random_state import generator_from_json, generator_to_json

__all__ = [
    "from_bytes",
    "generator_from_json",
    "generator_to_json",
    "load",
    "pack_strings",
    "read",
    "to_bytes",
    "unpack_strings",
    "write",
]

FORMAT = "trustream"
VERSION = 1

# What a file may name, and the module it lives in.
_ESTIMATORS = {
    "LatentDirichletAllocation": "trustream.estimators",
    "BernoulliMixture": "trustream.estimators",
    "GaussianMixture": "trustream.estimators",
    "TopicRecommender": "trustream.recommender",
}
_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
# The safetensors reader refuses a longer header, so a file with one could not be read again.
_MAX_HEADER = 100_000_000

PathLike = str | os.PathLike[str]


def write(path: PathLike, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``header`` to ``path``; whoever reads sees the old file or the new one.

    Parameters
    ----------
    path : str or path
        The file to write or replace. A symbolic link is followed.
    arrays : mapping of str to array
        Booleans, integers and floats of any shape, kept bit for bit.
    header : mapping
        What JSON can hold: strings, numbers, booleans, None, lists and dicts with string keys.
        Tuples come back as lists and NumPy scalars as Python numbers.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/model.safetensors"
    >>> write(path, {"x": np.arange(3)}, {"name": "three numbers"})
    >>> arrays, header = read(path)
    >>> arrays["x"], header
    (array([0, 1, 2]), {'name': 'three numbers'})
    >>> folder.cleanup()
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"cannot write a model to {target}: it is a directory; give a file name")
    tensors = {name: _storable(name, value) for name, value in arrays.items()}
    metadata = {FORMAT: _encode_header(header)}

    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        # Made by us first, so that the umask decides who may read it and errors are the system's.
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        mode = stat.S_IMODE((target if target.exists() else temporary).stat().st_mode)
        os.close(descriptor)
        try:
            save_file(tensors, temporary, metadata=metadata)
        except SafetensorError as error:
            raise OSError(f"cannot write {target}: {error}") from error
        os.chmod(temporary, mode)
        _flush(temporary, os.O_RDWR)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name != "nt":  # Windows cannot open a directory
        _flush(target.parent, os.O_RDONLY)


def read(path: PathLike) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the header that `write` put in ``path``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is a directory, is not a safetensors file, is cut short, was not written by
        trustream, or was written in a newer format.

    Examples
    --------
    >>> read("no-such-file.safetensors")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model file no-such-file.safetensors
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a directory, not a model file")
    if not path.exists():
        raise FileNotFoundError(f"there is no model file {path}")
    try:
        # One open file for both, or a writer could swap it between header and arrays.
        with safe_open(path, framework="numpy") as file:
            header = _decode_header(path, file.metadata() or {})
            return {name: file.get_tensor(name) for name in file.keys()}, header
    except SafetensorError as error:
        raise ValueError(f"cannot read {path}: {_diagnosis(path)} ({error})") from error


def to_bytes(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> bytes:
    """Return what `write` would put in a file.

    Examples
    --------
    >>> arrays, header = from_bytes(to_bytes({"x": np.arange(3)}, {"a": 1}), "an example")
    >>> arrays["x"], header
    (array([0, 1, 2]), {'a': 1})
    """
    tensors = {name: _storable(name, value) for name, value in arrays.items()}
    return save(tensors, metadata={FORMAT: _encode_header(header)})


def from_bytes(content: bytes, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the header of `to_bytes`; ``name`` is what errors call it.

    Examples
    --------
    >>> from_bytes(b"something else", "an example")
    Traceback (most recent call last):
    ...
    ValueError: cannot read an example: it is damaged, or not a model of trustream
    """
    try:
        # Eight bytes for the length of the JSON that describes the rest.
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]
        arrays = load_arrays(content)
    except (SafetensorError, KeyError, ValueError, UnicodeDecodeError) as error:
        raise ValueError(
            f"cannot read {name}: it is damaged, or not a model of trustream"
        ) from error
    return arrays, _decode_header(name, metadata)


def load(path: PathLike) -> Any:
    """Return the estimator that its ``save(path)`` wrote, ready to go on where it stopped.

    Examples
    --------
    >>> load("no-such-file.safetensors")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model file no-such-file.safetensors
    """
    arrays, header = read(path)
    name = header.get("estimator")
    # Only these: a file must not choose what code runs.
    if not isinstance(name, str) or name not in _ESTIMATORS:
        raise ValueError(
            f"{path} holds the estimator {name!r}; expected one of {', '.join(_ESTIMATORS)}. "
            "Use trustream.persist.read to get at its arrays."
        )
    # Not at the top: estimators import this module to save themselves.
    home = importlib.import_module(_ESTIMATORS[name])
    return getattr(home, name)._from_arrays(arrays, header)


def pack_strings(strings: Sequence[str]) -> np.ndarray:
    """Return ``strings`` as a uint8 array, for lists too long for the header (vocabularies).

    Examples
    --------
    >>> unpack_strings(pack_strings(["word", "größe", ""]))
    ['word', 'größe', '']
    """
    return np.frombuffer(bytearray(json.dumps(list(strings)).encode()), dtype=np.uint8)


def unpack_strings(packed: np.ndarray) -> list[str]:
    """Return the strings that `pack_strings` packed.

    Examples
    --------
    >>> unpack_strings(pack_strings([]))
    []
    """
    strings: list[str] = json.loads(packed.tobytes())
    return strings


def _storable(name: str, value: np.ndarray) -> np.ndarray:
    """Return ``value`` in C order and native byte order: safetensors copies memory as it lies."""
    array = np.asarray(value)  # not ascontiguousarray, which makes a vector of a scalar
    if array.dtype.name not in _DTYPES:
        raise ValueError(
            f"array {name!r} has dtype {array.dtype}; only booleans, integers and floats of "
            "at most 64 bits can be saved"
        )
    if name == "__metadata__":
        raise ValueError("an array cannot be called '__metadata__': safetensors uses the name")
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def _encode_header(header: Mapping[str, Any]) -> str:
    """Return the text of the metadata entry."""
    text = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "library_version": __version__,
            "header": _plain(header, "header"),
        }
    )
    # As a string inside safetensors' own JSON each quote and backslash takes one more byte.
    if len(text) + text.count('"') + text.count("\\") > 0.9 * _MAX_HEADER:
        raise ValueError(
            f"the header takes {len(text)} bytes, more than a safetensors file can hold; "
            "put long lists in arrays (trustream.persist.pack_strings)"
        )
    return text


def _decode_header(path: Path | str, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the header in the metadata of a file, or say why there is none."""
    try:
        outer = json.loads(metadata[FORMAT])
        if outer["format"] != FORMAT:
            raise KeyError("format")
        version, header = int(outer["version"]), outer["header"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is a safetensors file, but trustream did not write it") from error
    if version > VERSION:
        raise ValueError(
            f"{path} is in format version {version}, written by trustream "
            f"{outer.get('library_version')}; this is trustream {__version__}, which reads up to "
            f"version {VERSION}: upgrade trustream to load it"
        )
    return dict(header)


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


def _flush(path: Path, flags: int) -> None:
    """Wait until a file or directory is on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _diagnosis(path: Path) -> str:
    """Say in words why the safetensors reader refused a file: cut short, or something else."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        start = file.read(1)
    if size == 0:
        return "it is empty"
    # The first 8 bytes give the length of a JSON object that follows.
    if size < 8 or (length <= _MAX_HEADER and start in (b"{", b"")):
        return f"it is cut short or damaged; it has {size} bytes"
    return "it is not a safetensors file"
