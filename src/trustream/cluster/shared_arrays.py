"""Arrays in Ray's shared memory, as compiled kernels take them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trustream.models.lda.parts import Excerpt


class _View:
    """The same memory, said to be writable."""

    def __init__(self, array: np.ndarray) -> None:
        interface = array.__array_interface__
        self.array = array  # whose memory must stay
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def for_kernels(excerpt: Excerpt) -> Excerpt:
    """An excerpt whose arrays kernels take without being compiled again.

    Arrays in shared memory are read-only, which to Numba is another type. The table of rows is not
    copied: no kernel writes to it.
    """
    lambda_, prior = excerpt.lambda_, excerpt.prior
    if not lambda_.stored.flags.writeable:
        lambda_ = replace(
            lambda_, stored=np.asarray(_View(lambda_.stored)), totals=lambda_.totals.copy()
        )
    prior = replace(
        prior,
        alpha=prior.alpha.copy(),
        pattern=prior.pattern.copy(),
        pattern_sums=prior.pattern_sums.copy(),
    )
    return Excerpt(lambda_, prior, np.array(excerpt.words))
