"""Run the service beside a demonstration, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_PACKAGES = ("fastapi", "uvicorn", "prometheus_client")
# Seconds that a service has to end before it is killed.
_PATIENCE = 10.0


def needs_packages() -> None:
    """Raise an error that says what to install, if the service lacks packages."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(
            f"--serve needs {', '.join(missing)}, which are not installed: "
            'pip install "trustream[serve]"'
        )


def program() -> str:
    """Return how to call this installation's command line from the current directory.

    Examples
    --------
    >>> program() != ""
    True
    """
    script = Path(sys.executable).with_name("trustream")
    if not script.exists():
        return f"{sys.executable} -m trustream"
    with suppress(ValueError):
        return str(script.relative_to(Path.cwd()))
    return str(script)


class Dashboard:
    """A service on loopback, at a free port, that ends with the ``with`` statement.

    Parameters
    ----------
    store : Path
        The store that it shows.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self.address = ""

    def __enter__(self) -> Dashboard:
        command = [sys.executable, "-m", "trustream", "serve", str(self._store), "--port", "0"]
        # A session of its own: Ctrl-C comes to the demonstration alone, which ends the service.
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._process.stderr is not None
        said: list[str] = []
        for line in self._process.stderr:
            said.append(line)
            if found := re.search(r"serving at (http://\S+)", line):
                self.address = found[1]
                return self
        self.__exit__()
        raise RuntimeError(f"the service did not start: {''.join(said).strip()}")

    def wait(self) -> None:
        """Wait until Ctrl-C, or until the service ends by itself."""
        with suppress(KeyboardInterrupt):
            self._process.wait()

    def __exit__(self, *error: Any) -> None:
        process = self._process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.stderr is not None:
            process.stderr.close()
