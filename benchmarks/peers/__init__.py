"""trustream next to other libraries: the same documents, machine and run.

`command.py` draws held-out score against time; beside that stand measurements as the other
packages have them.
"""

from pathlib import Path

# What was measured: committed, so that what is measured anew is written beside the rest.
RESULTS = Path(__file__).parent / "results.json"
# Name on the command line and module of this package.
MEASUREMENTS = {
    "transform": "transform",
    "mixture": "mixture",
    "memory": "memory",
    "many-topics": "many_topics",
    "in-turn": "paired_times",
}
# Documents and topics, see `workloads.py`; here so that --help is quick.
WORKLOADS = ("wiki-100", "wiki-400", "simple-100", "vocabulary", "wiki-1000")
MAIN = "wiki-100"
