"""The packages import each other in one direction, and the inner ones do no input or output.

Modules are parsed, not imported. Imports inside functions count; those for type checkers do not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from trustream.learning import algorithms

SOURCE = Path(__file__).parents[1] / "src" / "trustream"

# A package may import itself, the packages before it, and the modules at the root.
ORDER = (
    "families", "kernels", "models", "inference", "learning", "evaluation", "estimators", "store",
    "feeds", "streaming", "topics", "recommender", "cluster", "service", "demo", "cli",
)  # fmt: skip

# Packages that may import nothing else than these, the standard library and themselves.
DEPENDENCIES = {
    "families": {"numpy", "scipy"},
    # llvmlite is a part of Numba; threadpoolctl sets the number of threads of BLAS.
    "kernels": {"numpy", "scipy", "numba", "llvmlite", "threadpoolctl"},
}

# Packages that do no input or output and do not read the clock.
PURE = ORDER[: ORDER.index("evaluation") + 1]
IMPURE_CALLS = {
    "open", "print", "input", "read_bytes", "read_text", "write_bytes", "write_text", "savez",
    "savez_compressed", "fromfile", "tofile", "memmap",
}  # fmt: skip
IMPURE_MODULES = {
    "click", "datetime", "http", "io", "logging", "pathlib", "rich", "shutil", "socket", "sqlite3",
    "subprocess", "tempfile", "time", "urllib",
}  # fmt: skip

# Imports of a package by a module at the root, or against the order, each with its reason. An
# entry that is no longer needed fails the test.
EXCEPTIONS = {
    ("trustream.__main__", "cli"): "it is the entry point of the command line",
    ("trustream._sparse_formats", "kernels"): "a compiled pass checks the indices of a matrix",
}

# Modules of pure packages that read or write all the same, each with its reason.
INPUT_AND_OUTPUT = {
    "trustream.kernels.kernel_files": "compiled kernels are kept on the disk; Numba asks for them",
}

# Modules that import others by computed names, each with its reason.
COMPUTED_IMPORTS = {
    "trustream._lazy_names": "it loads the public names of a package on first use",
    "trustream.persist": "a model file names its class, from a fixed table",
}

# What knows models by their names, outside of which `streaming` knows `StreamModel` alone.
MODELS = ("trustream.models.", "trustream.estimators.", "trustream.streaming.lda.")
KNOW_MODELS = {
    "trustream.streaming.stream_model": "it loads the models that it does not know, by a name",
    "trustream.streaming.setup": "`init_store` prepares a store for topics, with seed words",
}

# Modules that compare the names of algorithms, each with its reason.
NAME_ALGORITHMS = {
    "trustream.presets": "the paper has settings for two algorithms",
}


class Use(NamedTuple):
    """Something that a module imports or calls, and the line."""

    module: str
    line: int
    target: str


class Tree:
    """All modules of a package, parsed."""

    def __init__(self, root: Path) -> None:
        self.name = root.name
        self.modules: dict[str, ast.Module] = {}
        self.packages: set[str] = set()
        for path in sorted(root.rglob("*.py")):
            parts = [root.name, *path.relative_to(root).with_suffix("").parts]
            if parts[-1] == "__init__":
                parts.pop()
                self.packages.add(".".join(parts))
            self.modules[".".join(parts)] = ast.parse(path.read_text(encoding="utf-8"))

    def part(self, module: str) -> str | None:
        """The package directly under the root that a module belongs to, None for the root."""
        parts = module.split(".")
        inside = len(parts) > 1 and f"{self.name}.{parts[1]}" in self.packages
        return parts[1] if inside else None

    def public_names(self) -> dict[str, str]:
        """The modules of the names that the root loads on first use, from its table `_HOME`."""
        for node in self.modules[self.name].body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
                return dict(ast.literal_eval(node.value))
        return {}

    def imports(self) -> Iterator[Use]:
        """What each module imports: modules of the tree by their names, others by their first."""
        homes = self.public_names()
        for module, tree in self.modules.items():
            for node in _nodes(tree):
                for target in self._targets(module, node):
                    if target == self.name and module != self.name:
                        # A plain `import trustream` can reach every public name.
                        yield from (Use(module, node.lineno, home) for home in homes.values())
                    name = target.removeprefix(f"{self.name}.")
                    yield Use(module, node.lineno, homes.get(name, target))

    def _targets(self, module: str, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                up = node.level - (module in self.packages)
                base = ".".join([*parents[: len(parents) - up], *filter(None, [base])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield full if full in self.modules or base == self.name else base
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield _literal(node.args[0])


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers read."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield other
                yield from _nodes(other)
        else:
            yield child
            yield from _nodes(child)


def _literal(argument: ast.expr) -> str:
    """The text of a string, up to what is computed; "?" where all of it is."""
    if isinstance(argument, ast.JoinedStr):
        argument = argument.values[0]
    return str(argument.value).rstrip("._") if isinstance(argument, ast.Constant) else "?"


def misplaced_imports(tree: Tree) -> list[str]:
    """Imports against the order, of packages by root modules, and exceptions without use."""
    found, used = [], set()
    for module, line, target in tree.imports():
        own, other = tree.part(module), tree.part(target)
        if target == "?":
            used.add((module, "?"))
            if module not in COMPUTED_IMPORTS:
                found.append(f"{module}:{line} imports a module by a computed name")
        elif other is None or other == own or not target.startswith(f"{tree.name}."):
            continue
        elif own is not None and ORDER.index(other) < ORDER.index(own):
            continue
        else:
            used.add((module, other))
            if (module, other) not in EXCEPTIONS:
                found.append(f"{module}:{line} imports {other}")
    for module, other in {*EXCEPTIONS, *((name, "?") for name in COMPUTED_IMPORTS)} - used:
        if module in tree.modules:
            found.append(f"{module} no longer needs its exception for {other}")
    return found


def foreign_imports(tree: Tree) -> list[str]:
    """Imports of libraries that a package must do without."""
    found = []
    for module, line, target in tree.imports():
        part, library = tree.part(module), target.split(".")[0]
        if part not in DEPENDENCIES or tree.part(target) == part:
            continue
        if library not in DEPENDENCIES[part] | sys.stdlib_module_names:
            found.append(f"{module}:{line} imports {target}")
    return found


def input_and_output(tree: Tree) -> list[str]:
    """Calls and imports for input, output and the clock in packages that must not have them."""
    found = []
    for module, syntax in tree.modules.items():
        if tree.part(module) in PURE and module not in INPUT_AND_OUTPUT:
            for node in _nodes(syntax):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func).split(".")[-1]
                    if name in IMPURE_CALLS:
                        found.append(f"{module}:{node.lineno} calls {name}")
    for module, line, target in tree.imports():
        pure = tree.part(module) in PURE and module not in INPUT_AND_OUTPUT
        if pure and target.split(".")[0] in IMPURE_MODULES:
            found.append(f"{module}:{line} imports {target}")
    return found


@pytest.fixture(scope="module")
def trustream_tree() -> Tree:
    return Tree(SOURCE)


def test_every_package_has_a_place_in_the_order(trustream_tree: Tree) -> None:
    packages = {trustream_tree.part(module) for module in trustream_tree.modules} - {None}
    assert packages <= {*ORDER}
    assert {"families", "kernels", "models", "estimators", "store", "cli"} <= packages


@pytest.mark.parametrize("rule", [misplaced_imports, foreign_imports, input_and_output])
def test_the_rules_hold(trustream_tree: Tree, rule: object) -> None:
    assert rule(trustream_tree) == []  # type: ignore[operator]


def test_trainers_do_not_know_their_models(trustream_tree: Tree) -> None:
    found = {
        module
        for module, _, target in trustream_tree.imports()
        if trustream_tree.part(module) == "streaming"
        and not module.startswith("trustream.streaming.lda")
        and f"{target}.".startswith(MODELS)
    }
    assert found == {*KNOW_MODELS}


def test_nobody_asks_for_an_algorithm_by_its_name(trustream_tree: Tree) -> None:
    """What differs between algorithms is an attribute of theirs: a new one is a file and a line."""
    known = {*algorithms.names()}
    found = {
        module
        for module, tree in trustream_tree.modules.items()
        for compared in ast.walk(tree)
        if isinstance(compared, ast.Compare)
        for side in ast.walk(compared)
        if isinstance(side, ast.Constant) and side.value in known
    }
    assert found == {*NAME_ALGORITHMS}


# A small tree that breaks every rule: files, and what must be found in them.
BROKEN = {
    "__init__.py": '_HOME = {"fit": "small.estimators.lda"}\n',
    "matrices.py": "import numpy\n\ndef late():\n    from small.store import rows\n",
    "plugins.py": "import importlib\nimportlib.import_module(name)\n",
    "families/__init__.py": "import pandas\nfrom small import matrices\nimport numpy\n",
    "families/beta.py": "from ..store.rows import x\nfrom . import gamma\n",
    "families/gamma.py": "def f():\n    import small\n",
    "models/__init__.py": "import time\nprint(1)\nopen('x')\nself.path.read_text()\n",
    "models/lda.py": "from small import fit, __version__\nfrom small.models import x\n",
    "estimators/__init__.py": "",
    "estimators/lda.py": "import importlib\nimportlib.import_module(f'small.store.{x}')\n",
    "store/__init__.py": "import time\nfrom typing import TYPE_CHECKING\nprint(time.time())\n"
    "if TYPE_CHECKING:\n    from small.cli import main\nelse:\n    import small.cli.main\n",
    "store/rows.py": "from small.estimators import lda\nfrom small import matrices\n",
    "cli/__init__.py": "import small\nfrom small.store.rows import x\n",
    "cli/main.py": "from small.cli import x\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            misplaced_imports,
            [
                "small.estimators.lda:2 imports store",
                "small.families.beta:1 imports store",
                "small.families.gamma:2 imports estimators",
                "small.matrices:4 imports store",
                "small.models.lda:1 imports estimators",
                "small.plugins:2 imports a module by a computed name",
                "small.store:7 imports cli",
            ],
        ),
        (
            foreign_imports,
            [
                "small.families.beta:1 imports small.store.rows",
                "small.families.gamma:2 imports small",
                "small.families.gamma:2 imports small.estimators.lda",
                "small.families:1 imports pandas",
                "small.families:2 imports small.matrices",
            ],
        ),
        (
            input_and_output,
            [
                "small.models:1 imports time",
                "small.models:2 calls print",
                "small.models:3 calls open",
                "small.models:4 calls read_text",
            ],
        ),
    ],
)
def test_broken_rules_are_found(tmp_path: Path, rule: object, expected: list[str]) -> None:
    for name, content in BROKEN.items():
        path = tmp_path / "small" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert sorted(rule(Tree(tmp_path / "small"))) == expected  # type: ignore[operator]


def test_exceptions_without_use_are_found(tmp_path: Path) -> None:
    root = tmp_path / "trustream"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "__main__.py").write_text("import numpy\n")
    (root / "_lazy_names.py").write_text("")
    assert sorted(misplaced_imports(Tree(root))) == [
        "trustream.__main__ no longer needs its exception for cli",
        "trustream._lazy_names no longer needs its exception for ?",
    ]
