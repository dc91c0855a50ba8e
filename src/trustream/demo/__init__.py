"""Run the demonstration: learn topics from docstrings while they stream into a store."""

from __future__ import annotations

from trustream.demo.demonstration import DemoResult, run

__all__ = ["DemoResult", "run"]
