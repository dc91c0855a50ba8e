"""Ways to get topics, one file each.

A module has

- `PACKAGE`, what has to be installed; `ABOUT`, what is run, for people;
- `BASE`, settings to start from, and `GRID`, values that `--grid` tries one parameter at a time;
- `EFFORT`, passes or iterations of a full run, and `REFERENCE`, the label of the point that the
  grid and the targets look at;
- `run(counts, n_topics, settings, effort, recorder)`, which trains and hands points over.
"""

from __future__ import annotations

import importlib
from importlib import metadata
from types import ModuleType

PEERS = {
    "scikit-learn": "scikit_learn",
    "gensim": "gensim_auto",
    "gensim multicore": "gensim_multicore",
    "tomotopy": "tomotopy_gibbs",
    "Vowpal Wabbit": "vowpal_wabbit",
    "river": "river_infinite",
}
SPARK = {"Spark": "spark_online"}


def module(name: str) -> ModuleType:
    """The module of a peer. Its library is loaded when it runs, not before."""
    return importlib.import_module(f"{__name__}.{(PEERS | SPARK)[name]}")


def missing(name: str) -> str | None:
    """Why a peer cannot run here, or None."""
    peer = module(name)
    try:
        metadata.version(peer.PACKAGE)
    except metadata.PackageNotFoundError:
        return f"{peer.PACKAGE} is not installed"
    return peer.obstacle() if hasattr(peer, "obstacle") else None


def version(name: str) -> str:
    """Of the library, "" if it is not there."""
    try:
        return metadata.version(module(name).PACKAGE)
    except metadata.PackageNotFoundError:
        return ""
