"""The ``trustream`` command, and ``python -m trustream``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line.

    Ctrl-C ends the process in silence while the command line itself is loaded; after that the
    command line takes care of it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from trustream.cli import main as commands

    commands(prog_name="trustream")


if __name__ == "__main__":
    main()
