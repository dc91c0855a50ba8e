"""Say by a key whether a run that was done before is still the run that is asked for.

A key is the hash of all that decides a run's result: the experiment, the settings (but those that
only say which runs there are), the run, the bytes of the data, and what the library computes. The
last is not a version number, since most changes of the library change no number: it is the result
of a `probe`, a tiny run of the same code on data that are made up, rounded to four digits. Runs of
other libraries do not depend on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from experiments.experiment import Experiment, Run, Settings, Source

_LENGTH = 16


def keys_of(
    experiment: Experiment, runs: Sequence[Run], settings: Settings, source: Source
) -> dict[str, str]:
    """The hash of everything that determines the result of a run, for each run by its name."""
    decisive = {k: v for k, v in settings.items() if k not in experiment.plan_only}
    shared, computed = [experiment.name, decisive, source.sha256], probed(experiment.probe())
    keys = {}
    for run in runs:
        numbers = [] if experiment.is_foreign(run) else computed
        text = json.dumps([*shared, numbers, run.series, run.seed, run.settings], sort_keys=True)
        keys[run.name] = hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
    return keys


def probed(values: Sequence[Any]) -> list[Any]:
    """The values of a probe, numbers to four digits: other machines round a little differently.

    >>> probed([-7.12345, "0.1.0"])
    [-7.123, '0.1.0']
    """
    return [float(f"{v:.4g}") if isinstance(v, float) else v for v in values]
