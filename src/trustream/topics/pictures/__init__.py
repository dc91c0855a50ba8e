"""Draw topics with matplotlib: words, map, hierarchy, over time, documents, number of topics.

Each function takes what a function of `trustream.topics` returns, draws on the Axes that it is
given or on new ones, and returns them. Matplotlib is loaded by the first call.
"""

from __future__ import annotations

from trustream.topics.pictures.choice import plot_choice
from trustream.topics.pictures.document import plot_document
from trustream.topics.pictures.over_time import plot_over_time
from trustream.topics.pictures.relations import plot_hierarchy, plot_map
from trustream.topics.pictures.top_words import plot_top_words

__all__ = [
    "plot_choice",
    "plot_document",
    "plot_hierarchy",
    "plot_map",
    "plot_over_time",
    "plot_top_words",
]
