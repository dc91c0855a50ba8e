"""Describe what an algorithm keeps beside lambda, so that files can hold it and be checked.

An `Algorithm` names its `MemoryFormat`; `learning.state_arrays` writes and reads by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from trustream._schema import Array


class MemoryFormat(NamedTuple):
    """How files hold what an algorithm keeps beside lambda, `State.memory`.

    Attributes:
        memory_type: a dataclass or named tuple of arrays and numbers. Files have its name, which
            no other memory may have and which stays for ever.
        arrays: says what the parts of a memory must be, by name, given the arrays of lambda and
            prior, as ``lambda.*`` and ``prior.*``, and the parts of lambda that have a gradient.
            Numbers are arrays of no dimension.
    """

    memory_type: type
    arrays: Callable[[Mapping[str, Array], Sequence[str]], dict[str, Array]]
