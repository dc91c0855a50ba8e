"""The random numbers of `compiled_random`, in plain Python."""

from __future__ import annotations

import math

_BITS = (1 << 64) - 1


class Stream:
    """Uniform random numbers in [0, 1), given a key and the number of the repetition.

    x_i = mix(mix(first + i g) ^ second): a counter, hashed twice with two keys.

    >>> Stream(1, 0).uniform() == Stream(1, 0).uniform() != Stream(1, 1).uniform()
    True
    """

    def __init__(self, key: int, repeat: int) -> None:
        self.counter = _mix((int(key) + repeat * 0xD1B54A32D192ED03) & _BITS)
        self.second = _mix(self.counter ^ 0xA0761D6478BD642F)

    def uniform(self) -> float:
        """The next number."""
        self.counter = (self.counter + 0x9E3779B97F4A7C15) & _BITS
        return (_mix(_mix(self.counter) ^ self.second) >> 11) * 2.0**-53

    def normal(self) -> float:
        """A standard normal number (Box and Muller)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def log_gamma(self, shape: float) -> float:
        """Logarithm of a draw from Gamma(shape, 1) (Marsaglia and Tsang, 2000).

        A shape below one is drawn as Gamma(shape + 1) u^(1 / shape), in logarithms so that small
        shapes do not underflow.
        """
        boost = 0.0
        if shape < 1.0:
            boost = math.log(1.0 - self.uniform()) / shape
            shape += 1.0
        d = shape - 1.0 / 3.0
        while True:
            x = self.normal()
            v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
            if v > 0.0 and math.log(1.0 - self.uniform()) < 0.5 * x * x + d - d * v + d * math.log(
                v
            ):
                return math.log(d * v) + boost


def _mix(x: int) -> int:
    """A bijection of 64-bit integers that spreads every bit over all."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _BITS
    return x ^ (x >> 31)
