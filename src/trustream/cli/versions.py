"""The option ``--version``: the versions that a report of a bug should name."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

import click

# What results and speed depend on, by the names of the distributions; the last three are optional.
_LIBRARIES = {
    "numpy": "NumPy",
    "scipy": "SciPy",
    "numba": "Numba",
    "scikit-learn": "scikit-learn",
    "click": "click",
    "rich": "rich",
    "psycopg": "psycopg",
    "pyarrow": "pyarrow",
    "polars": "polars",
}


def versions() -> Iterator[tuple[str, str]]:
    """Yield names and versions: trustream, Python, SQLite and the libraries that are installed.

    Nothing is imported for it but SQLite, so it is quick, and works if a library is broken.

    >>> dict(versions())["Python"] == platform.python_version()
    True
    """
    # Here: it loads the parsers of e-mail, which no other command needs.
    import importlib.metadata

    from trustream import __version__

    yield "trustream", __version__
    yield "Python", platform.python_version()
    for name, title in _LIBRARIES.items():
        try:
            yield title, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield title, "not installed"
    try:
        import sqlite3

        yield "SQLite", sqlite3.sqlite_version
    except ImportError:  # Python can be built without it
        yield "SQLite", "not available"
    yield "system", platform.platform()


def version_option() -> Any:
    """Return the option --version of a group of commands."""

    def show(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            for name, version in versions():
                click.echo(f"{name} {version}")
            context.exit()

    return click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the versions of trustream, Python and libraries, and exit.",
    )
