"""Commands called in this process, and what they print."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from trustream.cli import main


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def ok(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def values(*arguments: object) -> dict[str, Any]:
    """The last JSON object that a command prints."""
    return json.loads(ok(*arguments, "--json").splitlines()[-1])


def fails(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 1, result.output + repr(result.exception)
    assert "Error: " in result.output and "Traceback" not in result.output
    return result.output
