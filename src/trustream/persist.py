"""Models on disk: named arrays and a versioned JSON header in one safetensors file, never pickle.

A file holds the arrays, checksums (`trustream._tensor_file`), and the header
(`trustream._file_header`).

This module knows nothing of models: an estimator decides which arrays and which header it needs,
and checks what a file holds before anything is made from it. Whatever is wrong with a file is one
ValueError that says what to do.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import numpy as np

from trustream import _tensor_file
from trustream._file_header import FORMAT, Unsuitable, decode_header, encode_header
from trustream._random_state import generator_from_json, generator_to_json
from trustream._regular_file import PathLike, open_regular, replace_file
from trustream._schema import shown

__all__ = [
    "Contents",
    "Unsuitable",
    "from_bytes",
    "generator_from_json",
    "generator_to_json",
    "load",
    "pack_strings",
    "read",
    "refusing_damage",
    "register",
    "to_bytes",
    "unpack_strings",
    "write",
]

T = TypeVar("T", bound=type)

# Estimators by the name in a file; see `register`.
_ESTIMATORS: dict[str, Any] = {}
# Our own packages and modules whose classes register themselves when they are imported.
_PACKAGES = ("trustream.estimators", "trustream.recommender", "trustream.topics.topic_model")
_ADVICE = "restore it from a copy, or fit the model and save it again"
# Whatever content that is not what it should be can lead to.
_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
# Characters of a reason that a message shows.
_SHOWN = 200


@contextmanager
def refusing_damage(name: str, advice: str) -> Iterator[None]:
    """Whatever goes wrong with the content of `name` becomes one ValueError with advice.

    >>> with refusing_damage("a file", "take another"):
    ...     {}["key"]
    Traceback (most recent call last):
    ...
    ValueError: cannot read a file: it is damaged ('key'); take another
    """
    try:
        yield
    except Unsuitable:
        raise
    except _tensor_file.NotTensors as error:
        raise ValueError(
            f"cannot read {name}: it is not a safetensors file, or damaged; {advice}"
        ) from error
    except MemoryError as error:
        raise ValueError(
            f"cannot read {name}: it needs more memory than there is; read it on a larger machine"
        ) from error
    except _DAMAGE as error:
        reason = "".join(c if c.isprintable() else " " for c in str(error)[:_SHOWN])
        reason = " ".join(reason.split())
        raise ValueError(f"cannot read {name}: it is damaged ({reason}); {advice}") from error


class Contents:
    """A file as far as its header: what it says of its arrays, which are read when asked for.

    Attributes:
        header: what `write` was given.
        entries: data type and shape of each array, by name.
    """

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        self._head = _tensor_file.read_head(file, size)
        self._start = file.tell()
        self.header = decode_header(name, self._head.metadata)
        self.entries: Mapping[str, _tensor_file.Entry] = self._head.entries

    @classmethod
    def of(cls, content: bytes, name: str) -> Contents:
        """The contents of what `to_bytes` returned."""
        return cls(io.BytesIO(content), len(content), name)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays, in memory of their own; can be called once."""
        return _tensor_file.read_arrays(self._file, self._head)

    def array(self, name: str) -> np.ndarray:
        """One array without the others, whose checksum is that of all and is not looked at."""
        entry = self.entries[name]
        self._file.seek(self._start + entry.start)
        content = self._file.read(entry.stop - entry.start)
        return np.frombuffer(content, np.dtype(entry.dtype).newbyteorder("<")).reshape(entry.shape)


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
    replace_file(path, _packed(arrays, header))


def read(path: PathLike) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the header that `write` put in ``path``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is a directory, a device or a pipe, is not a safetensors file, is damaged, was not
        written by trustream, or was written in a newer format.

    Examples
    --------
    >>> read("no-such-file.safetensors")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model file no-such-file.safetensors
    """
    with open_regular(path, "model file") as (file, size), refusing_damage(str(path), _ADVICE):
        contents = Contents(file, size, str(path))
        return contents.arrays(), contents.header


def to_bytes(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> bytes:
    """Return what `write` would put in a file.

    Examples
    --------
    >>> arrays, header = from_bytes(to_bytes({"x": np.arange(3)}, {"a": 1}), "an example")
    >>> arrays["x"], header
    (array([0, 1, 2]), {'a': 1})
    """
    return b"".join(_packed(arrays, header))


def from_bytes(content: bytes, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the header of `to_bytes`; ``name`` is what errors call it.

    Examples
    --------
    >>> from_bytes(b"something else", "an example")
    Traceback (most recent call last):
    ...
    ValueError: cannot read an example: it is not a safetensors file, or damaged; ...
    """
    with refusing_damage(name, _ADVICE):
        contents = Contents.of(content, name)
        return contents.arrays(), contents.header


def load(path: PathLike) -> Any:
    """Return the estimator that its ``save(path)`` wrote, ready to go on where it stopped.

    Examples
    --------
    >>> load("no-such-file.safetensors")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no model file no-such-file.safetensors
    """
    with open_regular(path, "model file") as (file, size), refusing_damage(str(path), _ADVICE):
        contents = Contents(file, size, str(path))
        name = contents.header.get("estimator")
        # Not at the top: estimators import this module to save themselves.
        for package in _PACKAGES:
            if not (isinstance(name, str) and name in _ESTIMATORS):
                importlib.import_module(package)
        # Only these: a file must not choose what code runs.
        if not isinstance(name, str) or name not in _ESTIMATORS:
            raise Unsuitable(
                f"{path} holds the estimator {shown(name)}; expected one of "
                f"{', '.join(_ESTIMATORS)}. Use trustream.persist.read to get at its arrays."
            )
        return _ESTIMATORS[name]._from_contents(contents)


def register(cls: T) -> T:
    """Let files name this class: what `load` returns for a file that an instance of it saved.

    The header of such a file has the name of the class as ``estimator``, and its classmethod
    ``_from_contents(contents)`` makes the instance from `Contents`.
    """
    _ESTIMATORS[cls.__name__] = cls
    return cls


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
    strings = json.loads(packed.tobytes())
    if not (isinstance(strings, list) and all(isinstance(item, str) for item in strings)):
        raise ValueError("expected a list of strings")
    return strings


def _packed(
    arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> list[bytes | memoryview]:
    """The parts of a file."""
    tensors = {name: _storable(name, value) for name, value in arrays.items()}
    return _tensor_file.pack(tensors, FORMAT, encode_header(header))


def _storable(name: str, value: np.ndarray) -> np.ndarray:
    """Return ``value`` in C order and little endian, ready to be written byte by byte."""
    array = np.asarray(value)  # not ascontiguousarray, which makes a vector of a scalar
    if not _tensor_file.is_storable(array.dtype):
        raise ValueError(
            f"array {name!r} has dtype {array.dtype}; only booleans, integers and floats of "
            "at most 64 bits can be saved"
        )
    if name == "__metadata__":
        raise ValueError("an array cannot be called '__metadata__': safetensors uses the name")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
