"""Use the paper's hyperparameters by name: `wikipedia-1`, ..., `wikipedia-6` and `netflix-1` to 3.

They are the rows of Tables 1 and 2 (circled in Figure 3), each for trust-region and for
natural-gradient steps. The number of topics is not part of a preset.

>>> from trustream import LatentDirichletAllocation, presets
>>> lda = LatentDirichletAllocation(100, **presets.estimator("wikipedia-4"))
>>> lda.batch_size, lda.inner_iter, lda.max_doc_update_iter, lda.max_iter
(50, 20, 10, 3)

With natural-gradient steps the same preset has m M / 2 local iterations and twice the passes,
which takes about as long:

>>> lda = LatentDirichletAllocation(100, **presets.estimator("wikipedia-4", "natural-gradient"))
>>> lda.max_doc_update_iter, lda.max_iter
(100, 6)

`trainer` returns arguments for `StreamTrainer`, with the slower decay of the paper's streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

METHODS = ("trust-region", "natural-gradient")
# Passes over the data in the paper's search, by method.
_PASSES = {"trust-region": 3, "natural-gradient": 6}


@dataclass(frozen=True)
class Preset:
    """A row of Table 1 or 2.

    Attributes:
        batch_size: B.
        alpha, eta: initial priors, which empirical Bayes changes.
        kappa, tau: parameters of the learning rate (tau + t)^-kappa.
        n_inner, n_local: m and M, inner iterations of a trust-region step and iterations of a
            local step.
    """

    batch_size: int
    alpha: float
    eta: float
    kappa: float
    tau: float
    n_inner: int
    n_local: int

    def local_iterations(self, method: str) -> int:
        """Return M for trust-region steps, m M / 2 for natural-gradient steps (section 4.3).

        >>> get("netflix-1").local_iterations("natural-gradient")
        100
        """
        _check_method(method)
        return self.n_local if method == "trust-region" else self.n_inner * self.n_local // 2

    def estimator(self, method: str) -> dict[str, Any]:
        """Return arguments for `LatentDirichletAllocation`; see the function `estimator`."""
        options = self._options(method, self.kappa)
        return {
            "learning_method": method,
            **options,
            "local": "mean-field",
            "max_doc_topics": None,
            "cooldown": 0.0,
            "max_iter": _PASSES[method],
        }

    def trainer(self, method: str, kappa: float) -> dict[str, Any]:
        """Return arguments for `StreamTrainer`, with another kappa."""
        return {
            "method": method,
            **self._options(method, kappa),
            "max_doc_topics": None,
        }

    def _options(self, method: str, kappa: float) -> dict[str, Any]:
        """Arguments with the same names in both."""
        options = {
            "batch_size": self.batch_size,
            "doc_topic_prior": self.alpha,
            "topic_word_prior": self.eta,
            "learning_decay": kappa,
            "learning_offset": self.tau,
            "max_doc_update_iter": self.local_iterations(method),
            "mean_change_tol": 0.0,
            "population": None,
        }
        return {**options, "inner_iter": self.n_inner} if method == "trust-region" else options


_PRESETS = {
    "wikipedia-1": Preset(500, 0.1, 0.2, 0.6, 10.0, 10, 20),
    "wikipedia-2": Preset(1000, 0.1, 0.05, 0.7, 100.0, 20, 10),
    "wikipedia-3": Preset(500, 0.1, 0.2, 0.7, 100.0, 10, 20),
    "wikipedia-4": Preset(50, 0.1, 0.2, 0.7, 10.0, 20, 10),
    "wikipedia-5": Preset(50, 0.1, 0.2, 0.7, 1.0, 20, 10),
    "wikipedia-6": Preset(10, 0.1, 0.01, 0.5, 100.0, 10, 20),
    "netflix-1": Preset(10, 0.1, 0.05, 1.0, 1.0, 5, 40),
    "netflix-2": Preset(100, 0.05, 0.3, 0.5, 100.0, 5, 40),
    "netflix-3": Preset(500, 0.1, 0.3, 0.5, 10.0, 10, 20),
}


def names() -> tuple[str, ...]:
    """Return the names of all presets.

    >>> len(names())
    9
    """
    return tuple(_PRESETS)


def get(name: str) -> Preset:
    """Return a preset as printed in its table.

    >>> get("netflix-2").eta
    0.3

    Raises:
        ValueError: there is no preset of that name.
    """
    if name not in _PRESETS:
        raise ValueError(f"no preset {name!r}: there are {', '.join(_PRESETS)}")
    return _PRESETS[name]


def estimator(name: str, method: str = "trust-region") -> dict[str, Any]:
    """Return arguments for `LatentDirichletAllocation`, as in the paper's search.

    As in the paper, local steps run all their iterations with all topics, and the learning rate
    follows its schedule to the end, without early stopping or cooling.

    Args:
        name: one of `names()`.
        method: "trust-region" or "natural-gradient".

    >>> estimator("netflix-2")["doc_topic_prior"]
    0.05

    Raises:
        ValueError: there is no such preset or method.
    """
    return get(name).estimator(method)


def trainer(
    name: str, method: str = "trust-region", n_components: int | None = None
) -> dict[str, Any]:
    """Return arguments for `StreamTrainer`, as in the paper's streams.

    kappa is 0.5 for Wikipedia and 100 topics, 0.4 for Wikipedia and 400 topics and for Netflix
    (sections 4.3 and 4.4). The paper used these presets:

    ======================= ============ ================
    stream                  trust region natural gradient
    ======================= ============ ================
    Wikipedia, 100 topics   wikipedia-4  wikipedia-3
    Wikipedia, 400 topics   wikipedia-1  wikipedia-2
    Netflix, 100 topics     netflix-2    netflix-3
    ======================= ============ ================

    Args:
        name: one of `names()`.
        method: "trust-region" or "natural-gradient".
        n_components: number of topics, on which kappa depends and which becomes an argument; None
            uses the kappa of 100 topics and adds no argument.

    >>> trainer("wikipedia-1", n_components=400)["learning_decay"]
    0.4
    >>> trainer("wikipedia-4")["learning_decay"]
    0.5

    Raises:
        ValueError: there is no such preset or method.
    """
    slow = name.startswith("netflix") or (n_components or 100) >= 400
    options = get(name).trainer(method, 0.4 if slow else 0.5)
    return options if n_components is None else {"n_components": n_components, **options}


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
