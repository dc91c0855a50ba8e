"""Ingest a feed in a process of its own: `ingest_process.py STORE FEED OPTIONS`.

Options are JSON. A line `n_records finished` is printed at the end.
"""

from __future__ import annotations

import json
import sys

from trustream.feeds import Progress, ingest
from trustream.store import open_store


def main(store: str, feed: str, options: str) -> None:
    def tell(progress: Progress) -> None:
        print("stored", progress.result.n_records, flush=True)

    with open_store(store, min_documents=1, max_words=None) as opened:
        print("ready", flush=True)
        result = ingest(opened, feed, progress=tell, **json.loads(options))
        print(result.n_records, result.finished, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
