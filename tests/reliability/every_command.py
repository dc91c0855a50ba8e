"""Calls of every command on one store that come to an end and succeed, in an order that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

# What words, ids, titles and labels may be, if nobody stops them.
HOSTILE = [
    "cat\x1b[31mred\x1b]0;owned\x07", "dog\u202egod", "[bold red]fish[/]", "zero\u200bwidth",
    "line\nError: fake", "csi\x9b31m", "del\x7f\x08", "[link=http://x]y[/link]", ":smile:",
    "tab\tand\rreturn", "para\u2029graph", "[/]", "żółw", "龜",
]  # fmt: skip
# They go on until somebody ends them, and have tests of their own.
ENDLESS = {"demo", "serve"}


def write_documents(path: Path, n: int = 80) -> Path:
    """Documents whose words, ids and titles are hostile."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            words = rng.choice(HOSTILE[:7] if number % 2 else HOSTILE[7:], 12).tolist()
            document = {
                "id": f"key{number}\x1b[2J",
                "tokens": words,
                "title": f"title\u202e{number}",
                "time": 86400.0 * number,
            }
            file.write(json.dumps(document) + "\n")
    return path


def calls(store: object, folder: Path, name: str) -> list[list[Any]]:
    """Calls on a store that is not there yet; some of them write files in the folder."""
    feed = write_documents(folder / f"{name}.jsonl")
    counts, words = folder / "counts.npy", folder / "words.txt"
    np.save(counts, np.ones((20, 2), int))
    words.write_text("cat\ndog\n")
    ratings = folder / "ratings.csv"
    ratings.write_text(
        "user,item,rating,timestamp\n"
        + "".join(f"u\x1b[3{i % 9}m,i\u202e{i % 7},5,{i}\n" for i in range(60))
    )
    order = ["--keep-text", "--keep-order", "--held-out", 0.3]
    return [
        ["init", store, "--topics", 2, "--min-documents", 1, "--batch", 10, *order],
        ["ingest", store, feed],
        ["train", store, "--steps", 8],
        ["tokeniser", store],
        ["status", store],
        ["check", store],
        ["topics", store, "-n", 14],
        ["topics", store, "--info"],
        ["documents", store, 0, "-n", 20],
        ["documents", store, "--document", "key3\x1b[2J"],
        ["trends", store, "--all"],
        ["report", store, folder / f"{name}.html"],
        ["label", store, 0, HOSTILE[0].replace("\x07", "")],
        ["topics", store],
        ["transform", store, feed],
        ["evaluate", store, feed, "-m", "bound", "-m", "npmi"],
        ["export", store, folder / f"{name}.model"],
        ["choose-k", store, "--candidates", "2,3"],
        ["phrases", store, "--min-count", 2, "--threshold", -1],
        ["phrases", store, "--min-count", 2, "--threshold", -1, "--adopt"],
        ["split", store, 1],
        ["merge", store, 0, 2],
        ["delete-topics", store, 3],
        ["train", store, "--steps", 2],
        ["retrain", store, "--passes", 1, "--force"],
        ["delete", store, "key1\x1b[2J"],
        ["token", "create", store, "reader"],
        ["token", "list", store],
        ["token", "revoke", store, "reader"],
        ["recommend", ratings, "--topics", 2, "--passes", 1, "--all", "-n", 2],
        ["recommend", ratings, "--topics", 2, "--passes", 1, "--trending", "--half-life", 1,
         "--share", 0.5, "--save", folder / f"{name}-trending.model"],
        ["recommend", "--model", folder / f"{name}-trending.model", "--add", ratings, "--all"],
        ["simulate", f"{store}{name}", counts, "--vocabulary", words, "--ticks", 2],
        ["completion", "bash"],
    ]  # fmt: skip
