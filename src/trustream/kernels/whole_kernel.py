"""Compile kernels that are complete: each runs its own copies of the functions that it calls.

Numba compiles a function that a kernel calls by itself first, and a copy of it once more as a part
of the kernel, where it may be optimised further. Both copies have one name, of which a process
takes the one that it met first: where the kernel was just compiled the first, and where it was read
from the disk the second, or one that came with another kernel. With `fastmath` the copies may round
in different ways. Inside a kernel made here the copies are private, and results have the same bits
wherever it comes from.
"""

# Numba's compiler carries no types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return,misc"
from __future__ import annotations

from typing import Any

import numba

# Compiled Python functions begin with this.
_FUNCTION = "_ZN"


class WholeKernelCompiler(numba.core.compiler.Compiler):
    """Numba's compiler, for `pipeline_class`: other functions of a kernel become private to it."""

    def compile_extra(self, func):
        library = _WholeKernel(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()  # as Numba does where it makes a library
        self.state.library = library
        return super().compile_extra(func)


class _WholeKernel(numba.core.codegen.JITCodeLibrary):
    """The code of a kernel and of all that it calls."""

    def _finalize_final_module(self) -> None:
        # After all optimisation, so that the code of a kernel does not depend on this.
        for function in self._final_module.functions:
            if _is_copy(function):
                function.linkage = "internal"
        super()._finalize_final_module()


def _is_copy(function: Any) -> bool:
    """Whether this is the code of a function that was linked in, of which there are others."""
    return (
        not function.is_declaration
        and function.name.startswith(_FUNCTION)
        and function.linkage.name == "linkonce_odr"
    )
