"""Readers of digits and photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import images
from tests.experiments import tiny


@pytest.mark.parametrize(
    "name",
    ["train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "train-images.idx3-ubyte"],
)
def test_idx_files_hold_what_the_archive_holds(tmp_path: Path, name: str) -> None:
    tiny.digits(tmp_path)
    expected, archive = images.digits(tmp_path)
    tiny.write_idx(tmp_path / name, expected.reshape(-1, 6, 6))
    found, source = images.digits(tmp_path)
    np.testing.assert_array_equal(found, expected)
    assert source.files == [name]
    assert source.same_as_paper
    assert source.sha256 != archive.sha256


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b\x08\x00rest", "not an IDX file"),
        (b"", "not an IDX file"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "should have 13 bytes"),
        (b"\0\0\x08\x01\0\0\0\x02abc", "should have 10 bytes"),
        (b"\0\0\x08\x03\0\0", "16 bytes of header, has 6"),
    ],
)
def test_what_is_not_idx_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        images.read_idx(path)


def test_idx_of_wide_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"\0\0\x0b\x01\0\0\0\x02" + np.array([1, -300], dtype=">i2").tobytes())
    np.testing.assert_array_equal(images.read_idx(path), [1, -300])


def write_iml(path: Path, values: np.ndarray) -> None:
    path.write_bytes(values.astype(">u2").tobytes())


def test_iml_images(tmp_path: Path) -> None:
    values = np.arange(1024 * 1536).reshape(1024, 1536) % 6000
    write_iml(tmp_path / "a.iml", values)
    np.testing.assert_array_equal(images.read_iml(tmp_path / "a.iml"), values)
    write_iml(tmp_path / "b.iml", values[:-1])
    with pytest.raises(ValueError, match="should have 3145728 bytes, has 3142656"):
        images.read_iml(tmp_path / "b.iml")


def test_patches_of_the_original_images(tmp_path: Path) -> None:
    """Neighbours in a patch are neighbours in the image, and all images have their share."""
    ramp = np.broadcast_to(1000 + 2 * np.arange(1536), (1024, 1536))
    write_iml(tmp_path / "a.iml", ramp)
    write_iml(tmp_path / "b.iml", ramp + 20_000)
    tiny.photographs(tmp_path)  # the originals go first
    found, source = images.patches(tmp_path, 100, 8, np.random.default_rng(0))
    assert (source.files, source.same_as_paper) == (["a.iml", "b.iml"], True)
    assert found.shape == (100, 64)
    values = np.floor(np.exp(found.astype(float)) - 1 + 1e-2).reshape(100, 8, 8)
    assert np.abs(np.diff(values, axis=2) - 2).max() <= 1
    assert np.abs(np.diff(values, axis=1)).max() <= 1
    brighter = (values[:, 0, 0] > 15_000).mean()
    assert 0.3 < brighter < 0.7


def test_a_substitute_is_named(tmp_path: Path) -> None:
    found, source = images.patches(tiny.photographs(tmp_path), 50, 8, np.random.default_rng(0))
    assert found.shape == (50, 64)
    assert np.isfinite(found).all()
    assert not source.same_as_paper
    assert "instead of van Hateren" in source.name


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"mnist\.npz.*--data"):
        images.digits(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"iml.*photographs\.npz.*--data"):
        images.patches(tmp_path, 1, 8, np.random.default_rng(0))


def test_pixels_are_ink_as_often_as_they_are_grey() -> None:
    grey = np.full((20_000, 1), 51, dtype=np.uint8)
    assert images.binarised(grey, np.random.default_rng(0)).mean() == pytest.approx(0.2, abs=0.01)
