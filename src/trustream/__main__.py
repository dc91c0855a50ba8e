"""``python -m trustream``: the command line."""

from trustream.cli import main

main(prog_name="trustream")
