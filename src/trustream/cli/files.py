"""Files on the command line."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any

import click

# A safetensors file begins with the length of its header in eight bytes, and the header with this.
_HEADER = b"{"


class InputFile(click.Path):
    """A file to read: one that is there, and a pipe too, but no device, which may have no end.

    >>> InputFile().convert(os.devnull, None, None) == Path(os.devnull)
    True
    """

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        path: Any = super().convert(value, param, ctx)
        mode = os.stat(path).st_mode
        device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
        if device and not os.path.samefile(path, os.devnull):
            self.fail(f"{path} is a device; give a file.", param, ctx)
        return path


class ModelFile(click.Path):
    """A file to write a model to: a new one, or one with a model that it replaces.

    A store, a feed or a device that was replaced by a model could not be had back.
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        path: Any = super().convert(value, param, ctx)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISREG(os.stat(path).st_mode):
                self.fail(f"{path} is a device or a pipe; give the name of a file.", param, ctx)
            with open(path, "rb") as file:
                start = file.read(9)
            if start and start[8:] != _HEADER:
                self.fail(
                    f"{path} is there already and is no model; give another name.", param, ctx
                )
        return path
