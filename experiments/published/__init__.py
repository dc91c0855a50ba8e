"""The paper's figures as numbers; where they come from is in README.md beside this file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
FOLDER = Path(__file__).parent


def table(name: str) -> dict[str, list[str]]:
    """A file's columns by name, as text.

    >>> sorted(table("fig3a_circled"))
    ['ng_loglik_nat_per_word', 'set', 'tr_loglik_nat_per_word']
    """
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def numbers(column: list[str]) -> Float64:
    """A column as numbers; empty cells are NaN.

    >>> numbers(["1.5", ""])
    array([1.5, nan])
    """
    return np.array([float(cell) if cell else np.nan for cell in column])


def curve(name: str, series: str, x: str, y: str) -> tuple[Float64, Float64]:
    """One line of a figure, from left to right.

    >>> updates, bound = curve("fig2b_mnist_elbo", "NG", "updates", "elbo_nat_per_image")
    >>> updates[-1], bound[-1].round(1)
    (np.float64(6000.0), np.float64(-159.6))
    """
    columns = table(name)
    chosen = [i for i, value in enumerate(columns["series"]) if value == series]
    if not chosen:
        raise ValueError(f"{name} has no {series!r}, but {sorted(set(columns['series']))}")
    xs, ys = numbers(columns[x])[chosen], numbers(columns[y])[chosen]
    order = np.argsort(xs, kind="stable")
    return xs[order], ys[order]


def value_at(name: str, series: str, x: str, y: str, at: float) -> float:
    """A line's height at a place, between its points if need be; NaN beyond its ends.

    >>> round(value_at("fig2b_mnist_elbo", "TR", "updates", "elbo_nat_per_image", 6000), 1)
    -150.2
    """
    xs, ys = curve(name, series, x, y)
    return float(np.interp(at, xs, ys, left=np.nan, right=np.nan))
