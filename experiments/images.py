"""Read digits and photographs, from the shared files or from the original ones."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import provenance
from experiments.experiment import Source

Array = NDArray[Any]

# The third byte of an IDX file; numbers are big-endian.
_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_IDX_NAMES = ("train-images-idx3-ubyte", "train-images.idx3-ubyte")
# Rows and columns of the van Hateren images, which have no header.
IML_SHAPE = (1024, 1536)


def read_idx(path: Path) -> Array:
    """An array in the format of the MNIST site, compressed with gzip or not.

    Two zero bytes, one for the type, one for the number of dimensions; the dimensions as four
    bytes each; the numbers.

    Raises:
        ValueError: the file is not in this format, or is too short or too long.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        content: bytes = file.read()
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _IDX_TYPES:
        raise ValueError(f"{path} is not an IDX file: it begins with {content[:4]!r}")
    start = 4 + 4 * content[3]
    if len(content) < start:
        raise ValueError(f"{path} should have {start} bytes of header, has {len(content)}")
    shape = tuple(int(n) for n in np.frombuffer(content[4:start], dtype=">u4"))
    dtype = np.dtype(_IDX_TYPES[content[2]])
    expected = start + int(np.prod(shape)) * dtype.itemsize
    if len(content) != expected:
        raise ValueError(f"{path} should have {expected} bytes for {shape}, has {len(content)}")
    values = np.frombuffer(content, dtype=dtype, offset=start).reshape(shape)
    return values.astype(dtype.newbyteorder("="))


def read_iml(path: Path) -> Array:
    """Linear intensities of a van Hateren image, (1024, 1536): big-endian 16 bits, no header.

    Raises:
        ValueError: the file has another size.
    """
    values = np.fromfile(path, dtype=">u2")
    if values.size != IML_SHAPE[0] * IML_SHAPE[1]:
        expected = 2 * IML_SHAPE[0] * IML_SHAPE[1]
        raise ValueError(f"{path} should have {expected} bytes, has {path.stat().st_size}")
    return values.reshape(IML_SHAPE).astype(np.uint16)


def digits(data: Path) -> tuple[Array, Source]:
    """Grey training digits (N, pixels), uint8, from IDX files or `mnist.npz`.

    Raises:
        FileNotFoundError: the directory has neither.
    """
    names = [name + ending for name in _IDX_NAMES for ending in ("", ".gz")]
    found = [data / name for name in names if (data / name).is_file()]
    if found:
        path, images = found[0], read_idx(found[0])
    elif (data / "mnist.npz").is_file():
        path = data / "mnist.npz"
        with np.load(path) as parts:
            images = parts["x_train"]
    else:
        raise FileNotFoundError(
            f"no MNIST in {data}: mnist.npz (with x_train) or {', '.join(names)} is read. "
            "Name the directory with --data or TRUSTREAM_DATA."
        )
    note = "Each pixel is 1 with the probability of its grey value."
    source = Source("MNIST", [path.name], provenance.sha256([path]), True, note)
    return images.reshape(len(images), -1), source


def binarised(grey: Array, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Each pixel 1 with the probability of its grey value, of 255.

    >>> binarised(np.array([[0, 255]], dtype=np.uint8), np.random.default_rng(0))
    array([[0, 1]], dtype=uint8)
    """
    noise = rng.random(grey.shape, dtype=np.float32)
    return (noise < grey / np.float32(255)).astype(np.uint8)


def patches(
    data: Path, n_patches: int, side: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Source]:
    """Log intensities of random patches (n_patches, side^2), in random order.

    They are log(1 + v + u) of whole intensities v, with u uniform in [0, 1), which makes them
    continuous: without, a Gaussian mixture finds the grid of the values. From `.iml` files if
    there are any, else from `photographs.npz`.

    Raises:
        FileNotFoundError: the directory has neither.
    """
    originals = sorted(data.glob("*.iml"))
    path = data / "photographs.npz"
    note = f"Log intensities of {side}x{side} patches, made continuous by uniform noise."
    images: Iterator[Array]
    if originals:
        images = (read_iml(original) for original in originals)
        source = Source(
            "van Hateren", [p.name for p in originals], provenance.sha256(originals), True, note
        )
        n_images = len(originals)
    elif path.is_file():
        with np.load(path) as parts:
            photographs = parts["images"]
        images, n_images = iter(photographs), len(photographs)
        name = f"{n_images} photographs of BSDS instead of van Hateren's"
        source = Source(name, [path.name], provenance.sha256([path]), False, note)
    else:
        raise FileNotFoundError(
            f"no photographs in {data}: *.iml (van Hateren) or photographs.npz (with `images`) is "
            "read. Name the directory with --data or TRUSTREAM_DATA."
        )
    counts = rng.multinomial(n_patches, np.full(n_images, 1 / n_images))
    parts_ = [_draw(image, n, side, rng) for image, n in zip(images, counts, strict=True)]
    chosen = np.concatenate(parts_)
    rng.shuffle(chosen)
    return chosen, source


def _draw(image: Array, n: int, side: int, rng: np.random.Generator) -> NDArray[np.float32]:
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side))
    rows, columns = (rng.integers(size, size=n) for size in windows.shape[:2])
    values = windows[rows, columns].reshape(n, side * side)
    return np.log(1 + values + rng.random(values.shape)).astype(np.float32)
