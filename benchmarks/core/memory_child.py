"""Fit in a separate process, and print how much memory that took.

Arguments: directory of the CSR parts, learning method, words, topics, threads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from trustream import LatentDirichletAllocation
from trustream.kernels.lda import compiled  # noqa: F401  an import too, although a late one


def resident(field: str) -> int:
    """VmRSS (now) or VmHWM (the most so far) in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the system does not tell {field}")


def main() -> None:
    """Load the data, fit, and print what was resident before, between and at most."""
    folder, method = Path(sys.argv[1]), sys.argv[2]
    n_words, n_topics, n_threads = map(int, sys.argv[3:])
    estimator = LatentDirichletAllocation(
        n_topics,
        learning_method=method,
        max_iter=2 if method == "batch" else 1,
        n_jobs=n_threads,
        random_state=0,
    )
    start = resident("VmRSS")
    # Apart from the data, to tell what the compiled kernels take.
    clone(estimator).set_params(n_components=2).fit(np.eye(3))
    kernels = resident("VmRSS")
    parts = tuple(np.load(folder / f"{name}.npy") for name in ("data", "indices", "indptr"))
    counts = sp.csr_matrix(parts, shape=(parts[2].size - 1, n_words), copy=False)
    loaded = resident("VmRSS")
    estimator.fit(counts)
    peak = resident("VmHWM")
    print(json.dumps({"start": start, "kernels": kernels, "loaded": loaded, "peak": peak}))


if __name__ == "__main__":
    main()
