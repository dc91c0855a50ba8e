"""Fits of one version, done on request: settings come in, topics go out.

Run as a process of its own (`python -m benchmarks.against.fit_work`) with the version to look at
first on the path. It uses only what versions have in common.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from scipy import sparse

from trustream import LatentDirichletAllocation


def main() -> None:
    """Fit what is asked for, line by line."""
    warnings.simplefilter("ignore")
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        counts = sparse.load_npz(asked["counts"])
        # Compiled before the clock starts.
        LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(counts[:50])
        model = LatentDirichletAllocation(asked["n_components"], random_state=asked["seed"])
        start = time.process_time()
        model.fit(counts)
        seconds = time.process_time() - start
        np.savez(asked["out"], topics=model.components_, alpha=model.doc_topic_prior_)
        print(seconds, flush=True)


if __name__ == "__main__":
    main()
