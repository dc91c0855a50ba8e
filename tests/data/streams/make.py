"""Make the store beside this file: documents, and a trainer's checkpoint by each method.

It was made by the last version whose checkpoints had version 1, and stays as it is: a test goes on
with each checkpoint and compares with `expected.npz`, where that version ended. To make files of a
later version, give a folder of their own:

    python tests/data/streams/make.py FOLDER
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from pathlib import Path

import numpy as np

import trustream
from trustream.store.records import Record

# Steps before and after the checkpoint, and what the trainer is made with, by the model's name.
MODELS = {
    "trust-region": (4, 6, {"method": "trust-region", "batch_size": 20}),
    "float64": (4, 6, {"method": "trust-region", "batch_size": 20, "dtype": "float64"}),
    "defaults": (4, 6, {}),
    "natural-gradient": (4, 6, {"method": "natural-gradient", "batch_size": 15}),
    "streaming-vb": (1, 2, {"method": "streaming-vb", "batch_size": 20}),
    "streaming-batch": (1, 2, {"method": "streaming-batch", "batch_size": 50}),
}


def records() -> list[Record]:
    """Documents of two kinds."""
    rng = np.random.default_rng(0)
    kinds = ["cat dog bird fish horse".split(), "bank bond rate stock coin".split()]
    return [Record(f"d{i}", rng.choice(kinds[i % 2], 12).tolist()) for i in range(70)]


def main(folder: Path) -> None:
    """Write the store, compressed, and the parameters that its models end with."""
    expected = {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "store.db")
        for n_steps in (0, 1):
            with trustream.open_store(path, min_documents=1, held_out=0.1) as store:
                if n_steps == 0:
                    store.append(records())
                for name, (*steps, options) in MODELS.items():
                    with trustream.StreamTrainer(
                        store, 3, name=name, prefetch=False, **options
                    ) as trainer:
                        trainer.run(steps=steps[n_steps])
                        state = trainer.checkpoint().state
                        expected[f"{name}.lambda"] = state.lambda_.dense(state.prior.pattern)
                        expected[f"{name}.alpha"] = state.prior.alpha
            if n_steps == 0:
                (folder / "store.db.xz").write_bytes(lzma.compress(path.read_bytes()))
    np.savez_compressed(folder / "expected.npz", **expected)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
