"""Names of a package that are imported when they are first asked for (PEP 562)."""

from __future__ import annotations

import sys

# As little as will do: until it is loaded the command line cannot answer to Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str], modules: Collection[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        homes: public names with the modules that they live in.
        modules: of the package that are public themselves.

    >>> load, names = lazy_names("trustream", {"open_store": "trustream.store"}, ["text"])
    >>> load("open_store").__name__, load("text").__name__, "text" in names()
    ('open_store', 'trustream.text', True)
    >>> load("stoer")
    Traceback (most recent call last):
    ...
    AttributeError: module 'trustream' has no attribute 'stoer'
    """

    def load(name: str) -> object:
        from importlib import import_module

        if name in homes:
            value: object = getattr(import_module(homes[name]), name)
            # Once: from now on it is an attribute like any other.
            setattr(sys.modules[package], name, value)
            return value
        if name in modules:
            # Importing it makes it an attribute.
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *modules})

    return load, names
