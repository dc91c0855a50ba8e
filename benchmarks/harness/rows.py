"""The arguments of a measurement, and the rows that it returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Setup:
    """What the user asked for."""

    data: Path
    quick: bool
    n_threads: int

    def choose(self, full: int, quick: int) -> int:
        """A number of repetitions, documents or the like."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: what was measured.
        measured: the result in `unit`, None if there is none.
        target: for people, for instance ">= 12".
        met: None where there is no target.
        details: raw timings in seconds and whatever explains the result.
    """

    name: str
    measured: float | None
    target: str
    unit: str
    met: bool | None
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def at_least(name: str, measured: float, target: float, unit: str, **details: Any) -> Row:
    """A row whose result should not be below the target."""
    return Row(name, measured, f">= {target:g}", unit, bool(measured >= target), details)


def at_most(name: str, measured: float, target: float, unit: str, **details: Any) -> Row:
    """A row whose result should not be above the target."""
    return Row(name, measured, f"<= {target:g}", unit, bool(measured <= target), details)


def information(name: str, measured: float, unit: str, **details: Any) -> Row:
    """A row without a target."""
    return Row(name, measured, "", unit, None, details)
