"""Run the demonstration: learn topics from docstrings while they stream into a store."""

from trustream.demo.demonstration import DemoResult, run

__all__ = ["DemoResult", "run"]
