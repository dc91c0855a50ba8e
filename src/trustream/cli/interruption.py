"""What a command says when it is stopped by Ctrl-C or SIGTERM: what is safe, and how to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_ADVICE = "trustream.interruption"


def if_interrupted(advice: str | Callable[[], str]) -> None:
    """Say a sentence after "Interrupted.", should the command that runs be stopped.

    Parameters
    ----------
    advice : str or callable
        A function is called when the command was stopped, and can say how far it was. The last
        call of this function counts.
    """
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_ADVICE] = advice


def advice_of(meta: dict[str, Any]) -> str:
    """Return the sentence for a command with this context; an empty one if it has none."""
    advice = meta.get(_ADVICE, "")
    return advice if isinstance(advice, str) else advice()
