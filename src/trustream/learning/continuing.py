"""Choose the window of a mean, and when and how much to smooth, for data that keep coming.

What is shown is a mean of lambda over a window of data points (`State.mean`), smoothed by what
training documents ask for (`State.smoothing`). Streams and `partial_fit` take both from here.
"""

from __future__ import annotations

import math

# The smoothing is found anew twice while the data points that were looked at double, and after so
# many steps in any case, each time from several batches in a row, at most so many.
_TIMES_PER_OCTAVE, _EVERY, _MOST_BATCHES = 2, 250, 32
# How often data points of which nobody says whether they are new are taken to stand in what is
# shown already. New ones do not, but what is taken for new would be smoothed too little.
WEIGHT_OF_UNKNOWN = 2.0


def mean_window(n_looked_at: float, n_documents: float = math.inf) -> float:
    """Data points that a mean of lambda is taken over: a pass, at the beginning less.

    Args:
        n_looked_at: data points that were looked at, of which the last half counts.
        n_documents: of a pass, if that is known.

    >>> mean_window(100), mean_window(100, 20), mean_window(1)
    (50.0, 20.0, 1.0)
    """
    return max(1.0, min(float(n_documents), n_looked_at / 2))


def weight_before_look(n_documents: float, window: float) -> float:
    """How often a data point stands in a mean just before it is looked at again.

    It stands x = N / window times in the mean when it was just looked at, and a pass later
    x (e^-x + e^-2x + ...) times.

    >>> round(weight_before_look(100, 100), 3), weight_before_look(100_000, 10)
    (0.582, 0.0)
    """
    turnover = n_documents / window
    try:
        return turnover / math.expm1(turnover)
    except OverflowError:  # so many passes of windows ago that nothing of it is left
        return 0.0


def is_smoothed(n_steps: int, n_seen: int, size: int, n_batches: int = 1) -> bool:
    """Whether the smoothing is found anew, from a batch before it is learned from.

    It is when what was looked at has grown by two fifths, and every 250 steps.

    Args:
        n_steps: steps that were taken.
        n_seen: data points that they looked at, repetitions counted.
        size: data points of a batch.
        n_batches: batches that are enough for a steady result; so many in a row are used.

    >>> [n for n in range(50) if is_smoothed(n, 10 * n, 10)]
    [1, 2, 3, 4, 5, 7, 10, 13, 19, 26, 37]
    >>> is_smoothed(500, 10**6, 10), is_smoothed(501, 10**6, 10), is_smoothed(501, 10**6, 10, 2)
    (True, False, True)
    """
    n_batches = min(n_batches, _MOST_BATCHES)
    if n_steps < 1:
        return False
    if n_steps % _EVERY < n_batches:
        return True
    before = max(n_seen - n_batches * size, 1)
    octaves = math.log2(max(n_seen, 1)), math.log2(before)
    now, then = (math.floor(_TIMES_PER_OCTAVE * octave) for octave in octaves)
    return now > then
