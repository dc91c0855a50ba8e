"""The command line as a process: closed and full streams, signals, odd names and locales."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.forking import run_forked
from trustream.cli import main
from trustream.cli.output import echo_table

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and devices of POSIX")
PYTHON = [sys.executable, "-m", "trustream"]
# Output waits in Python's buffers, as it does for most users.
ENVIRONMENT = {name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With words that not every terminal has letters for."""
    folder = tmp_path_factory.mktemp("process")
    path = folder / "topics.db"
    (folder / "feed.txt").write_text("żółw ptak\npies żółw\n" * 20, encoding="utf-8")
    for arguments in (
        ["init", path, "--topics", 2, "--min-documents", 1],
        ["ingest", path, folder / "feed.txt"],
        ["train", path, "--steps", 3],
    ):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
    return path


def run(*arguments: object, env: dict[str, str] | None = None, **streams: Any) -> Any:
    kept = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(
        [*PYTHON, *map(os.fsencode, map(str, arguments))],
        timeout=120,
        env={**ENVIRONMENT, **(env or {})},
        **kept,
    )


def code_in(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a Python that something was done to before."""
    command = [
        sys.executable,
        "-c",
        f"import sys\n{code}\nfrom trustream.__main__ import main\nmain()",
    ]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)


# Where any command will do it is `check`, which is loaded in a fraction of a second.
def test_output_that_is_closed(store: Path) -> None:
    """`| head -1`: the reader has seen enough."""
    reader, writer = os.pipe()
    os.close(reader)
    for arguments in (["check", store], ["--help"]):
        done = run(*arguments, stdout=writer)
        assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b""), arguments
    done = run("nonsense", stderr=writer)
    assert done.returncode in (1, -signal.SIGPIPE)
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_is_full(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:
        done = run("check", store, stdout=full)
        assert done.returncode == 1
        assert done.stderr == b"Error: No space left on device: standard output\n"
        done = run("nonsense", stderr=full)
        assert (done.returncode, done.stdout) == (1, b"")
    full = open("/dev/full", "w")
    monkeypatch.setattr(sys, "stdout", full)
    with pytest.raises(OSError, match="standard output"):
        echo_table("a table", ["a column"], [])
    with pytest.raises(OSError):
        full.close()


def test_streams_that_are_not_there(store: Path) -> None:
    ratings = store.with_name("ratings.csv")
    ratings.write_text("user,item,rating\n" + "".join(f"u{i},{i % 3},1\n" for i in range(9)))
    for closing, arguments in (
        ("<&- >&- 2>&-", ["recommend", ratings, "--topics", 2, "--passes", 1, "--all"]),
        ("2>&-", ["train", store, "--steps", 1]),
    ):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closing}', "sh", *PYTHON, *map(str, arguments)],
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, (closing, arguments, done.stderr)
        assert b"Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_terminals_without_our_letters(store: Path, env: dict[str, str]) -> None:
    feed = store.with_name("żółw.txt")
    feed.write_text("pies\n", encoding="utf-8")
    done = run("ingest", store, feed, env=env)
    assert done.returncode == 0, done.stderr
    assert "ż".encode() in done.stdout or rb"\u017c" in done.stdout
    done = run("żółw.db", env=env)
    assert done.returncode == 2 and b"Error: No such command" in done.stderr


def test_names_that_are_not_text(store: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"sto\xffre\x1b[31m.db")
    feed = Path(os.fsdecode(os.fsencode(tmp_path) + b"/fe\xfeed.txt"))
    feed.write_text("pies\n")
    for arguments, code in (
        (["init", tmp_path / name, "--topics", 2, "--min-documents", 1], 0),
        (["ingest", tmp_path / name, feed], 0),
        (["status", name], 1),
        (["export", store, tmp_path / name / "model"], 1),
        (["train", store, f"--{name}"], 2),
    ):
        # One of them in a Python of its own, which decodes what it is given.
        done: Any = run(*arguments) if arguments[0] == "ingest" else run_forked(None, *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        printed = done.stdout + done.stderr
        if isinstance(printed, str):
            printed = printed.encode(errors="surrogateescape")
        assert b"\x1b" not in printed and b"\xff" not in printed and b"\xfe" not in printed
        assert b"Traceback" not in printed


def test_without_the_driver_of_postgresql() -> None:
    done = code_in("sys.modules['psycopg'] = None", "check", "postgresql://me:s3cret@host/db")
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install 'trustream[postgres]'" in done.stderr and "s3cret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_warnings_threads_and_what_cannot_be_raised_are_lines(store: Path) -> None:
    code = """
import threading, warnings, trustream.store as store
real = store.open_store
class Bad:
    def __del__(self):
        raise KeyError("x\\x1b")
def opened(*a, **k):
    warnings.warn("odd\\x1b[31m\\nthing", UserWarning)
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    Bad()
    return real(*a, **k)
store.open_store = opened
"""
    done = code_in(code, "check", str(store))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "Warning: odd\\x1b[31m thing",
        "Warning: a thread failed (ZeroDivisionError: division by zero)",
        "Warning: something was not cleaned up (KeyError: 'x\\x1b')",
    ]
    assert "Traceback" in code_in(code, "--debug", "check", str(store)).stderr


def interrupted(number: int, *arguments: object) -> Any:
    """Run a command, and send the signal once it follows a file."""
    process = subprocess.Popen(
        [*PYTHON, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    first = process.stderr.readline()  # of the progress: the command is at work
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, first + err


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, b"Interrupted. "), (signal.SIGTERM, b"Terminated. ")]
)
def test_a_signal_ends_the_process_by_that_signal(
    store: Path, tmp_path: Path, number: int, said: bytes
) -> None:
    feed = tmp_path / f"log{number}.txt"
    feed.write_text("ptak\n")
    code, out, err = interrupted(number, "ingest", store, feed, "--follow")
    assert (code, out) == (-number, b"")
    last = err.splitlines()[-1]
    assert last.startswith(said) and b"Traceback" not in err
    # What is safe, and how to go on.
    expected = f"1 record was added from {feed.name} to {store}; the same command goes on from"
    assert expected.encode() in last
    # The shell's code, and a loop that stops.
    assert 128 + number in (130, 143)
    assert run("check", store).returncode == 0


def test_interrupted_commands_say_how_to_go_on(store: Path, tmp_path: Path) -> None:
    feed = tmp_path / "log.txt"
    feed.write_text("ptak\n")
    _, _, err = interrupted(signal.SIGINT, "ingest", store, feed, "--follow", "--again", "--add")
    assert b"1 record was added" in err and b"the same command without --again goes on" in err
    # The promise is kept: nothing is read twice, and what was added since is read.
    with feed.open("a") as file:
        file.write("pies\n")
    done = run("ingest", store, feed)
    assert done.stdout.startswith(b"log.txt: 1 records"), done.stdout


def test_an_interrupted_pipe_says_what_was_stored(store: Path) -> None:
    process = subprocess.Popen(
        [*PYTHON, "ingest", str(store), "-", "--format", "text", "--batch", "1", "--name", "pipe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(b"ptak\n")
    process.stdin.flush()
    assert b"1 records" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert b"1 record was added from standard input" in err and b"send it again" in err


def test_an_interrupted_simulation_says_how_to_go_on(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n".join(f"w{i}" for i in range(20)))
    counts = tmp_path / "counts.npy"
    np.save(counts, np.random.default_rng(0).poisson(3.0, (5000, 20)))
    made = tmp_path / "stream.db"
    arguments = ["simulate", made, counts, "--vocabulary", words, "--topics", 2, "--json"]
    process = subprocess.Popen(
        [*PYTHON, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["steps"]:  # of a tick after which something was stored
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert f"trustream train {made} learns from it".encode() in err.splitlines()[-1]
    done = run_forked(None, "train", made, "--steps", 1)
    assert done.returncode == 0, done.stderr
    assert "has documents already" in run_forked(None, *arguments).stderr


def test_ignored_signals_stay_ignored(store: Path) -> None:
    """As for a process behind `nohup` or `&` of a script."""
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code += "import trustream.store as s\nreal = s.open_store\n"
    code += "def opened(*a, **k):\n    signal.raise_signal(2)\n    return real(*a, **k)\n"
    code += "s.open_store = opened"
    done = code_in(code, "check", str(store))
    assert done.returncode == 0, done.stderr


def test_an_interrupt_that_a_callback_swallows_ends_the_command(store: Path) -> None:
    """ctypes prints what is raised in a callback and goes on; LLVM calls back as it compiles."""
    code = """
import ctypes, signal, trustream.store as store
real = store.open_store
@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGINT)
def opened(*a, **k):
    callback()
    return real(*a, **k)
store.open_store = opened
"""
    done = code_in(code, "check", str(store))
    assert done.returncode == -signal.SIGINT and done.stdout == ""
    assert "Traceback" not in done.stderr


def test_an_interrupted_import_is_an_interrupt(store: Path, tmp_path: Path) -> None:
    """Extension modules turn it into an ImportError."""
    code = """
import signal, trustream.store as store
def opened(*a, **k):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error
store.open_store = opened
"""
    done = code_in(code, "check", str(store))
    assert done.returncode == -signal.SIGINT
    assert done.stderr == "Interrupted, and then: initialization failed\n"


def test_shell_completion_still_works() -> None:
    done = run(env={"_TRUSTREAM_COMPLETE": "bash_source"})
    assert done.returncode == 0 and b"_trustream_completion" in done.stdout


def test_compilation_says_so_once_off_a_terminal_too(store: Path, tmp_path: Path) -> None:
    """With an empty cache; the second process finds what the first has compiled."""
    env = {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = b"trustream: compiling its kernels, once after an install (some seconds)\n"
    arguments = ["evaluate", store, store.with_name("feed.txt"), "-m", "diversity"]
    first = run(*arguments, env=env)
    assert first.returncode == 0, first.stderr
    assert first.stderr.count(told) == 1 and told not in first.stdout
    assert told not in run(*arguments, env=env).stderr
