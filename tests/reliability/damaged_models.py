"""A process that loads damaged model files, in little memory, and says what came of each.

    python -m tests.reliability.damaged_models FOLDER SEED '{"damage": 100, "craft": 50}'

The kinds are "damage", "craft", "generate" and "by_hand", with how many of each. What a file is
stands in a line before it is tried, so that the last line tells where a crash was.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np

import trustream
from tests.data.models import make
from tests.reliability import crafted, damage
from tests.reliability.fuzz_child import bound_time
from trustream import persist
from trustream.estimators import saving
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import as_estimator

# Bytes that loading may take beyond what the process has already.
ROOM = 512 * 2**20
# And seconds for one file, of which a hundredth should do.
SECONDS = 100
_ADVICE = re.compile("restore|upgrade trustream|give one that|Use trustream.persist.read")


def load(name: str, content: bytes, place: Path) -> Any:
    """An estimator, or the checkpoint of a stream."""
    if name in make.CHECKPOINTS:
        return Checkpoint.from_bytes(content, "the checkpoint of the test")
    place.write_bytes(content)
    return trustream.load(place)


def taken_apart(loaded: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and header of what would be saved now."""
    if isinstance(loaded, Checkpoint):
        return persist.from_bytes(loaded.to_bytes(), "itself")
    if isinstance(loaded, FittedRecommender):
        return loaded._to_arrays()
    return saving.to_arrays(loaded)


def said(loaded: Any) -> list[list[float]]:
    """What a model says of data, as one vector."""
    return make.numbers(as_estimator(loaded) if isinstance(loaded, Checkpoint) else loaded)


def outcome(name: str, content: bytes, whole: bytes, place: Path) -> dict[str, Any]:
    """What came of a file: "refused", "same", "as written", "plausible", or something bad."""
    try:
        loaded = load(name, content, place)
    except ValueError as error:
        message = str(error)
        if "more memory" in message:
            return {"outcome": "took memory", "message": message}
        good = "\n" not in message and message.isprintable() and _ADVICE.search(message)
        return {"outcome": "refused" if good else "badly refused", "message": message}
    except Exception as error:
        return {"outcome": type(error).__name__, "message": str(error)}
    try:
        numbers = said(loaded)
        same = _same(loaded, whole)
        equal = not same or numbers == said(load(name, whole, place))
        written = same or _same(loaded, content)
        go_on(loaded)
    except FloatingPointError as error:  # the library's own: numbers that data would overflow with
        return {"outcome": "refused data", "message": str(error)}
    except Exception as error:
        return {"outcome": f"unusable: {type(error).__name__}", "message": str(error)}
    flat = np.concatenate([np.ravel(row) for row in numbers])
    if not np.isfinite(flat).all() or (flat < 0).any() or (flat > 1 + 1e-6).any():
        return {"outcome": "implausible", "message": str(flat[:8])}
    if not equal:
        return {"outcome": "differs", "message": ""}
    return {"outcome": "same" if same else "as written" if written else "plausible", "message": ""}


def go_on(loaded: Any) -> None:
    """Learn from a few more data; numbers may be refused, nothing may crash."""
    if isinstance(loaded, FittedRecommender):
        return
    estimator = as_estimator(loaded) if isinstance(loaded, Checkpoint) else loaded
    if estimator.learning_method == "memoized":
        return
    # A file may ask for more iterations than there is time for.
    few = {"inner_iter": 3, "max_doc_update_iter": 10}
    estimator.set_params(**{name: n for name, n in few.items() if hasattr(estimator, name)})
    try:
        make.learn(estimator, slice(0, 5))
    except (FloatingPointError, ValueError) as error:
        if "not finite" not in str(error):
            raise


def _same(loaded: Any, content: bytes) -> bool:
    """Whether a model holds just what a file says; what a file may lack does not count."""
    arrays, header = taken_apart(loaded)
    written, wrote = persist.from_bytes(content, "the file")
    more = arrays.keys() - written.keys()
    if written.keys() - arrays.keys() or not all("param." in name for name in more):
        return False
    return _holds(header, wrote) and all(
        array.dtype == arrays[name].dtype and _content(array) == _content(arrays[name])
        for name, array in written.items()
    )


def _content(array: np.ndarray) -> Any:
    """The bytes of an array; strings as such, since JSON has several ways to write them."""
    content = array.tobytes()
    if array.dtype == np.uint8:
        with suppress(ValueError):
            return json.loads(content)
    return content


def _holds(header: Any, wrote: Any) -> bool:
    if isinstance(wrote, dict):
        return isinstance(header, dict) and all(
            key in header and _holds(header[key], value) for key, value in wrote.items()
        )
    if isinstance(header, int | float) and isinstance(wrote, int | float):
        # A whole number that a file has for a real one is read as the nearest of those.
        if type(header) is float and abs(wrote) < sys.float_info.max:
            wrote = float(wrote)
        return header == wrote or (header != header and wrote != wrote)
    return json.dumps(header) == json.dumps(wrote)


def cases(folder: Path, kind: str, n: int, seed: int) -> Iterator[tuple[str, str, bytes, bytes]]:
    """(name, what was done, damaged content, whole content), the files in turn."""
    rng = np.random.default_rng(seed)
    files = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))}
    if kind == "by_hand":
        for name, whole in files.items():
            for what, content in crafted.by_hand(whole).items():
                yield name, what, content, whole
        return
    if kind == "generate":
        yield from _generated(files, n)
        return
    wrong = {"damage": damage.damage, "craft": crafted.craft}[kind]
    for i in range(n):
        name = list(files)[i % len(files)]
        what, content = wrong(files[name], rng)
        yield name, what, content, files[name]


def _generated(files: dict[str, bytes], n: int) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Any JSON at any place of a header, by hypothesis."""
    found: list[tuple[str, str, bytes, bytes]] = []
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    values = st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=5,
    )

    @hypothesis.settings(
        max_examples=n, database=None, derandomize=True, deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(st.data(), st.sampled_from(sorted(files)), values)
    def collect(data: Any, name: str, value: Any) -> None:
        outer = damage.header_of(files[name])
        path = data.draw(st.sampled_from(crafted.places(outer)))
        changed = crafted.changed_at(outer, path, "set", value)
        content = damage.with_header(files[name], changed)
        if content != files[name]:
            found.append((name, f"{path} {value!r}", content, files[name]))

    collect()
    yield from found


def main(folder: Path, seed: int, kinds: dict[str, int]) -> None:
    import resource  # Unix has it; others skip the tests

    warnings.simplefilter("ignore")
    place = folder / "damaged"
    # Whole files first: kernels are compiled, modules loaded, before memory is limited.
    for path in sorted(folder.glob("*.safetensors")):
        loaded = load(path.stem, path.read_bytes(), place)
        said(loaded)
        go_on(loaded)
    prepared = [(kind, *case) for kind, n in kinds.items() for case in cases(folder, kind, n, seed)]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    for kind, name, what, content, whole in prepared:
        print(json.dumps({"kind": kind, "file": name, "what": what[:200]}), end="\t", flush=True)
        bound_time(SECONDS)  # of the processor; ends the process
        print(json.dumps(outcome(name, content, whole, place)), flush=True)
    # What the compiler does at the end of a process is not what is tested here.
    resource.setrlimit(resource.RLIMIT_AS, before)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
