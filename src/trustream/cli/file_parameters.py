"""Types of parameters that name a file to read or a model file to write."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any

import click

# The ninth byte of a safetensors file: eight bytes give the length of its header, which follows.
_HEADER = b"{"


class InputFile(click.Path):
    """Accept the path of an existing file or pipe; devices may have no end and are refused.

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
    """Accept the path of a new file, or of a model that will be replaced.

    Other files are refused: a store or a feed that is overwritten is lost.
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


class InputOrStandardInput(InputFile):
    """Accept the path of a file or a pipe, or `-` for standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        return "-" if value == "-" else super().convert(value, param, ctx)
