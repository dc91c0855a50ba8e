"""Model files that are not what they should be, and places where no file can be."""

from __future__ import annotations

import io
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import trustream
from tests.reliability import damage
from trustream import _tensor_file, persist

ARRAYS = {
    "x": np.arange(20.0),
    "words": persist.pack_strings(["a", "b"]),
    "flags": np.array([True, False]),
}
HEADER = {"name": "an example", "rate": 0.1}
unix = pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes are Unix's")


@pytest.fixture
def content() -> bytes:
    return persist.to_bytes(ARRAYS, HEADER)


# --- checksums


def test_checksums_stand_where_the_format_says(content: bytes) -> None:
    head, data = damage.parts(content)
    assert content[8:].startswith(damage.START)
    # The tests' own writer comes to the same bytes; the spaces are those that align the data.
    spaces = int.from_bytes(content[:8], "little") - len(damage.sealed(head, b"")) + 8
    text = content[8 : len(content) - len(data)]
    assert text.endswith(b" " * spaces) and 0 <= spaces < 8
    assert damage.sealed(text, data) == content


def test_others_can_read_files_with_checksums(content: bytes) -> None:
    for name, array in load_tensors(content).items():
        assert np.array_equal(array, ARRAYS[name])


def test_every_damaged_byte_is_found(content: bytes) -> None:
    for place in range(len(content)):
        for change in (1, 32, 255):
            changed = bytearray(content)
            changed[place] ^= change
            with pytest.raises(ValueError, match="example"):
                persist.from_bytes(bytes(changed), "example")


def test_a_file_without_checksums_is_read(content: bytes) -> None:
    head, data = damage.parts(content)
    del head["__metadata__"]["checksum"]
    arrays, header = persist.from_bytes(damage.sealed(head, data), "an old file")
    assert header == HEADER
    assert np.array_equal(arrays["x"], ARRAYS["x"])


def test_a_checksum_in_another_place_is_no_checksum(content: bytes) -> None:
    head, data = damage.parts(content)
    head["__metadata__"] = dict(reversed(head["__metadata__"].items()))
    with pytest.raises(ValueError, match="not where it should be"):
        persist.from_bytes(damage.sealed(head, data), "a file")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("x", {"shape": [300_000_000]}, "takes 2400000000 bytes, but 160 are set aside"),
        ("x", {"shape": [2**62, 2**62]}, "larger than any memory"),
        ("x", {"shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}, "larger than any memory"),
        ("x", {"shape": [-20]}, "no shape"),
        ("x", {"shape": [True]}, "no shape"),
        ("x", {"shape": 20}, "no shape"),
        ("x", {"dtype": "O"}, "unknown type"),
        ("x", {"dtype": ["F64"]}, "unknown type"),
        ("x", {"data_offsets": [8, 168]}, "begins at"),
        ("x", {"data_offsets": [0, -1]}, "no place"),
        ("x", {"more": 1}, "not described"),
        ("flags", {"dtype": "BOOL", "shape": [1], "data_offsets": [160, 161]}, "begins at"),
    ],
)
def test_entries_that_do_not_fit(content: bytes, name: str, change: dict, words: str) -> None:
    head, data = damage.parts(content)
    head[name] |= change
    with pytest.raises(ValueError, match=f"{words}.*; restore it"):
        persist.from_bytes(damage.sealed(head, data), "a file")


def test_booleans_are_true_or_false(content: bytes) -> None:
    head, data = damage.parts(content)
    start, _ = head["flags"]["data_offsets"]
    changed = data[:start] + b"\x02" + data[start + 1 :]
    with pytest.raises(ValueError, match="something else than true and false"):
        persist.from_bytes(damage.sealed(head, changed), "a file")


@pytest.mark.parametrize("value", [b"{}", b'"a"', b"[1]", b"[null]", b"[", b"\xff", b""])
def test_strings_that_are_none(value: bytes) -> None:
    with pytest.raises(ValueError):
        persist.unpack_strings(np.frombuffer(value, np.uint8))


def test_a_message_is_one_line(content: bytes) -> None:
    head, data = damage.parts(content)
    head["a\n\x1b[31m" + "x" * 1000] = {"dtype": "F64"}
    with pytest.raises(ValueError, match="not described") as caught:
        persist.from_bytes(damage.sealed(head, data), "a file")
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400


# --- files that change


def test_a_file_that_is_replaced_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model"
    persist.write(path, ARRAYS, HEADER)
    with path.open("rb", buffering=0) as file:
        contents = persist.Contents(file, path.stat().st_size, "the file")
        persist.write(path, {"x": np.zeros(20)}, {"another": "file"})
        assert contents.header == HEADER
        assert np.array_equal(contents.arrays()["x"], ARRAYS["x"])


@pytest.mark.parametrize("n_left", [0, 8, 300])
def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, n_left: int) -> None:
    # Read as memory, it would end the process.
    path = tmp_path / "model"
    persist.write(path, {"x": np.zeros(100_000)}, HEADER)
    with path.open("rb", buffering=0) as file:
        contents = persist.Contents(file, path.stat().st_size, "the file")
        os.truncate(path, n_left)
        with pytest.raises(ValueError, match="changed while it was read"):
            contents.arrays()


def test_a_file_that_is_overwritten_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model"
    persist.write(path, ARRAYS, HEADER)
    with path.open("r+b", buffering=0) as file:
        contents = persist.Contents(file, path.stat().st_size, "the file")
        place = file.tell()
        file.write(b"\x55")
        file.seek(place)
        with pytest.raises(ValueError, match="checksum of its arrays does not match"):
            contents.arrays()


# --- what is no regular file


def special(folder: Path, kind: str) -> Path:
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "device":
        path = Path(os.devnull)
    else:
        path.mkdir()
    return path


@unix
@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "directory"])
def test_special_files_are_refused(tmp_path: Path, kind: str, through_link: bool) -> None:
    path = target = special(tmp_path, kind)
    if through_link:
        path = tmp_path / "link"
        path.symlink_to(target)
    before = target.stat()
    lda = trustream.LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match=f"it is a {kind}; give the name of a file"):
        lda.save(path)
    # A pipe that nobody writes to would never end.
    with pytest.raises(ValueError, match=f"it is a {kind}; give the name of a file"):
        trustream.load(path)
    after = target.stat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert {entry.name for entry in tmp_path.iterdir()} <= {kind, "link"}


@unix
@pytest.mark.parametrize("where", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_is_no_place_for_a_file(where: str) -> None:
    if not os.path.exists(where):
        pytest.skip(f"there is no {where}")
    code = f"""
import numpy as np
from trustream import persist
try:
    persist.write({where!r}, {{"x": np.zeros(3)}}, {{}})
except ValueError as error:
    print(error)
"""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stdout == f"cannot write to {where}: it is a pipe; give the name of a file\n"


@unix
def test_a_link_to_nowhere_becomes_a_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    persist.write(tmp_path / "link", ARRAYS, HEADER)
    assert stat.S_ISREG((tmp_path / "file").lstat().st_mode)
    assert persist.read(tmp_path / "link")[1] == HEADER


@unix
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "model"
    persist.write(path, ARRAYS, HEADER)
    path.chmod(0)
    code = """
import os, sys
from trustream import persist
if os.getuid() == 0:
    os.chmod(os.path.dirname(sys.argv[1]), 0o755)
    os.setuid(65534)
try:
    os.stat(sys.argv[1])
    persist.load(sys.argv[1])
except PermissionError as error:
    print("refused", error.filename == sys.argv[1])
"""
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    command = [sys.executable, "-c", code, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stdout.startswith("refused"), result.stderr


def test_empty_and_tiny_files(tmp_path: Path) -> None:
    for size in range(12):
        (tmp_path / "model").write_bytes(b"\x05" + bytes(size - 1) if size else b"")
        with pytest.raises(ValueError, match="restore it from a copy"):
            trustream.load(tmp_path / "model")


def test_nothing_larger_than_the_file_is_made() -> None:
    # What an array claims to take stands in the file, byte by byte.
    entry = {"dtype": "F32", "shape": [3 * 10**8, 1], "data_offsets": [0, 12 * 10**8]}
    content = damage.sealed({"__metadata__": {"trustream": "{}"}, "x": entry}, b"1234")
    with pytest.raises(ValueError, match="cut short"):
        _tensor_file.read_head(io.BytesIO(content), len(content))
