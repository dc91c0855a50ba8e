"""The file format: what goes in comes out bit for bit, and a bad file says what is wrong."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from trustream import __version__, persist

ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-45, np.pi]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.array(ODD, dtype=np.float64), id="float64"),
        pytest.param(np.array(ODD, dtype=np.float32), id="float32"),
        pytest.param(np.array([-(2**63), 2**63 - 1]), id="int64"),
        pytest.param(np.array([0, 2**64 - 1], dtype=np.uint64), id="uint64"),
        pytest.param(np.array([[True, False, True]]), id="bool"),
        pytest.param(np.array(0.1), id="scalar-float64"),
        pytest.param(np.array(2**64 - 1, dtype=np.uint64), id="scalar-uint64"),
        pytest.param(np.zeros((0, 5), dtype=np.float32), id="empty"),
        pytest.param(np.asfortranarray(np.arange(12.0).reshape(3, 4)), id="column-order"),
        pytest.param(np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::2], id="strided"),
        pytest.param(np.arange(5).astype(">i8"), id="big-endian"),
    ],
)
def test_array_round_trip(tmp_path: Path, array: np.ndarray) -> None:
    path = tmp_path / "model"
    persist.write(path, {"other": np.arange(7), "array": array}, {})
    arrays, _ = persist.read(path)
    back = arrays["array"]
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    assert back.tobytes() == array.astype(back.dtype).tobytes()
    assert back.flags.writeable
    assert arrays.keys() == {"other", "array"}


def test_header_round_trip(tmp_path: Path) -> None:
    header = {
        "text": 'größe \ud800 " \\ \n',
        "numbers": [0, -1, 2**200, 0.1, 1e-320, float("inf")],
        "nested": {"none": None, "flag": True, "": []},
    }
    persist.write(tmp_path / "model", {}, header)
    assert persist.read(tmp_path / "model") == ({}, header)


def test_header_takes_numpy_scalars_and_tuples(tmp_path: Path) -> None:
    header = {"a": np.int64(3), "b": np.float32(0.1), "c": (1, np.bool_(True))}
    persist.write(tmp_path / "model", {}, header)
    _, back = persist.read(tmp_path / "model")
    assert back == {"a": 3, "b": float(np.float32(0.1)), "c": [1, True]}
    assert type(back["a"]) is int


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"x": {"y": np.arange(3)}}, r"header\['x'\]\['y'\] is a ndarray"),
        ({"x": [object()]}, r"header\['x'\]\[0\] is a object"),
        ({"x": {1: "one"}}, "keys must be strings"),
    ],
)
def test_header_refuses_what_json_would_change(tmp_path: Path, header: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        persist.write(tmp_path / "model", {}, header)
    assert snapshot(tmp_path) == {}


def test_header_too_long_to_be_read_again_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pack_strings"):
        persist.write(tmp_path / "model", {}, {"words": "x" * 100_000_000})
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("bad", [np.array(["a"]), np.array([None]), np.array([1 + 2j])])
def test_write_refuses_other_dtypes(tmp_path: Path, bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="array 'x' has dtype"):
        persist.write(tmp_path / "model", {"x": bad}, {})
    assert snapshot(tmp_path) == {}


def test_file_is_plain_safetensors_with_a_versioned_header(tmp_path: Path) -> None:
    path = tmp_path / "model"
    persist.write(path, {"x": np.arange(3.0)}, {"k": 1})
    assert load_file(path)["x"].tolist() == [0.0, 1.0, 2.0]
    length = int.from_bytes(path.read_bytes()[:8], "little")
    metadata = json.loads(path.read_bytes()[8 : 8 + length])["__metadata__"]
    assert metadata.keys() == {"checksum", "trustream"}
    assert json.loads(metadata["trustream"]) == {
        "format": "trustream",
        "version": 1,
        "library_version": __version__,
        "header": {"k": 1},
    }


def test_strings_round_trip(tmp_path: Path) -> None:
    words = ["", "größe", "\ud800", "a\0b", '"', "日本"] * 1000
    persist.write(tmp_path / "model", {"words": persist.pack_strings(words)}, {})
    assert persist.unpack_strings(persist.read(tmp_path / "model")[0]["words"]) == words


def test_read_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no model file"):
        persist.read(tmp_path / "model")


def test_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a directory"):
        persist.read(tmp_path)
    with pytest.raises(ValueError, match="is a directory"):
        persist.write(tmp_path, {}, {})


def test_write_into_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        persist.write(tmp_path / "nowhere" / "model", {}, {})


@pytest.mark.parametrize(
    "content", [b"plain text " * 50, b"\x80\x04\x95 pickle" * 50, b'{"json": 1} ' * 50]
)
def test_read_not_safetensors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ValueError, match="not a safetensors file"):
        persist.read(tmp_path / "model")


def test_read_truncated(tmp_path: Path) -> None:
    path = tmp_path / "model"
    persist.write(path, {"x": np.arange(20.0), "y": np.ones(3)}, {"k": "v"})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="cut short" if size else "is empty"):
            persist.read(path)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"author": "someone"},
        {"trustream": "not json"},
        {"trustream": "[1]"},
        {"trustream": '{"format": "other", "version": 1, "header": {}}'},
    ],
)
def test_read_not_ours(tmp_path: Path, metadata: dict | None) -> None:
    save_file({"x": np.zeros(2)}, tmp_path / "model", metadata=metadata)
    with pytest.raises(ValueError, match="did not write it"):
        persist.read(tmp_path / "model")


def test_read_newer_format(tmp_path: Path) -> None:
    text = '{"format": "trustream", "version": 2, "library_version": "9.9", "header": {}}'
    save_file({"x": np.zeros(2)}, tmp_path / "model", metadata={"trustream": text})
    with pytest.raises(ValueError, match=r"version 2, written by trustream 9\.9.*upgrade"):
        persist.read(tmp_path / "model")


@pytest.mark.parametrize("name", [None, "Pipeline", "os", ["LatentDirichletAllocation"]])
def test_load_knows_its_own_estimators_only(tmp_path: Path, name: object) -> None:
    persist.write(tmp_path / "model", {}, {"estimator": name})
    with pytest.raises(ValueError, match=r"expected one of .*LatentDirichletAllocation"):
        persist.load(tmp_path / "model")


@pytest.mark.parametrize("call", ["chmod", "fsync", "replace"])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    persist.write(tmp_path / "model", {"x": np.arange(3)}, {"old": True})
    before = snapshot(tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match="no space left"):
            persist.write(tmp_path / "model", {"x": np.arange(4)}, {"old": False})
    assert snapshot(tmp_path) == before


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are Unix's")
def test_disk_that_fills_up_halfway_leaves_the_old_file(tmp_path: Path) -> None:
    persist.write(tmp_path / "model", {"x": np.arange(3)}, {"old": True})
    before = snapshot(tmp_path)
    code = """
import resource, sys, numpy as np
from trustream import persist
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    persist.write(sys.argv[1], {"x": np.zeros(1_000_000)}, {})
except OSError as error:
    print("refused:", error)
"""
    result = run_python(code, tmp_path / "model")
    assert result.stdout.startswith("refused: cannot write"), result.stderr
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is Unix's")
def test_killed_write_leaves_the_old_file(tmp_path: Path) -> None:
    persist.write(tmp_path / "model", {"x": np.arange(3)}, {"old": True})
    before = snapshot(tmp_path)["model"]
    code = """
import os, signal, sys, numpy as np
from trustream import persist
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
persist.write(sys.argv[1], {"x": np.zeros(1000)}, {})
"""
    result = run_python(code, tmp_path / "model")
    assert result.returncode == -signal.SIGKILL
    assert (tmp_path / "model").read_bytes() == before
    # The left-over temporary file is in nobody's way.
    persist.write(tmp_path / "model", {"x": np.arange(4)}, {"old": False})
    assert persist.read(tmp_path / "model")[1] == {"old": False}


def test_everything_is_on_disk_before_the_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace

    def traced_fsync(descriptor: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        events.append("fsync directory" if is_directory else "fsync file")
        fsync(descriptor)

    def traced_replace(source: Path, target: Path) -> None:
        events.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", traced_fsync)
    monkeypatch.setattr(os, "replace", traced_replace)
    persist.write(tmp_path / "model", {"x": np.arange(3)}, {})
    assert events == ["fsync file", "replace", "fsync directory"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links are Unix's")
def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    persist.write(real, {}, {"n": 1})
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(real.stat().st_mode) == 0o666 & ~umask
    real.chmod(0o640)
    link.symlink_to(real)
    persist.write(link, {}, {"n": 2})
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert persist.read(real)[1] == {"n": 2}
