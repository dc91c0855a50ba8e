"""Choose the number of topics by how well documents are predicted that were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from trustream.estimators import LatentDirichletAllocation
from trustream.evaluation import validation
from trustream.learning.defaults import PASSES
from trustream.topics import frames
from trustream.topics.reduction import reducing

# The default grid: from the least to the most topics, each about so many times as many.
_LEAST, _MOST, _RATIO = 2, 128, 1.25
# Numbers that are tried between the one that the grid suggests and the next smaller one.
_FINER = 4
# Passes over the documents after each reduction; for the largest number of topics there are those
# of any fit.
_PASSES_AFTER = 2
# So many documents are needed, to learn from and to predict.
FEWEST = 20
# Documents that are predicted, at most.
_MOST_HELD_OUT = 2000


@dataclass(frozen=True, slots=True)
class ComponentsScore:
    """How good a number of topics is.

    Attributes:
        n_components: the number of topics.
        held_out: log-likelihood of half of each left-out document given the other half, in nats
            per word (`trustream.evaluation.completion`); higher is better.
        standard_error: of `held_out`, over documents.
        coherence: mean npmi of the topics' ten most probable words in the documents that were
            learned from.
        coherence_error: standard error of `coherence`, over topics.
    """

    n_components: int
    held_out: float
    standard_error: float
    coherence: float
    coherence_error: float


@dataclass(frozen=True, slots=True)
class ComponentsChoice:
    """A number of topics, and why.

    Attributes:
        n_components: the recommendation: the fewest topics whose held-out score is within one
            standard error of the best.
        best: the number of topics with the highest held-out score.
        scores: of all candidates, by their number of topics.
        flat: the fewest and the most topics, in a row with the best, whose scores are within one
            standard error of the best. Where this range is wide, the data do not decide.
        at_edge: whether the best is the largest candidate, so that more topics may be better still.
        reason: all this in words.
    """

    n_components: int
    best: int
    scores: list[ComponentsScore]
    flat: tuple[int, int]
    at_edge: bool
    reason: str

    def frame(self) -> Any:
        """Return a pandas DataFrame, a row for each candidate."""
        names = ComponentsScore.__dataclass_fields__
        return frames.frame({name: [getattr(s, name) for s in self.scores] for name in names})


def choose_n_components(
    X: Any,
    candidates: Iterable[int] | None = None,
    *,
    held_out: float = 0.2,
    max_documents: int = 10_000,
    random_state: Any = 0,
    progress: Callable[[ComponentsScore], object] | None = None,
    **options: Any,
) -> ComponentsChoice:
    """Recommend a number of topics for documents, by how well others are predicted.

    A part of the documents is left out. The largest candidate is learned from the rest. Then topics
    are merged, those first that tell least apart (`trustream.topics.reduction.reducing`), until
    the next candidate is reached, and two more passes follow; and so on down to the smallest. So
    each number of topics starts from what was found with more, which is fast and seldom misses a
    topic. The recommendation follows the one-standard-error rule: the fewest topics that predict
    as well as the best number, up to one standard error of its score over documents.

    Parameters
    ----------
    X : matrix of shape (n_documents, n_words)
        Counts, whole numbers; at least 20 documents.
    candidates : iterable of int, default=None
        Numbers of topics; None is a geometric grid from 2 to 128, each about a quarter more than
        the one before, as far as there are ten documents for each topic; and then four more below
        the one that the grid suggests.
    held_out : float, default=0.2
        The part of the documents that is left out; at most 2,000 of them are predicted.
    max_documents : int, default=10000
        Of more documents a random sample is used.
    random_state : int, RandomState, Generator or None, default=0
    progress : callable, default=None
        Called with each ComponentsScore when it is there, the largest number of topics first.
    **options
        Of `LatentDirichletAllocation`.

    Returns
    -------
    ComponentsChoice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> topics = rng.dirichlet(np.full(40, 0.05), 3)
    >>> counts = rng.multinomial(40, rng.dirichlet(np.full(3, 0.2), 300) @ topics)
    >>> choice = choose_n_components(counts, [2, 3, 4, 6])
    >>> choice.n_components
    3
    """
    counts = validation.as_counts(X, "X")
    rng = np.random.default_rng(validation.seed_of(random_state))
    train, test = _parts(counts, held_out, max_documents, rng)
    numbers = _candidates(candidates, train.shape[0])
    seed = int(rng.integers(2**31))
    lda = LatentDirichletAllocation(numbers[-1], **_options(options, seed))
    scores: dict[int, ComponentsScore] = {}
    fewest = lda

    def reach(number: int, model: LatentDirichletAllocation) -> LatentDirichletAllocation:
        if scores:
            model = reducing(model, number).of_estimator(model)
            model.set_params(warm_start=True, max_iter=min(model.max_iter, _PASSES_AFTER))
        model.fit(train)
        scores[number] = _score(model, train, test, seed)
        if progress is not None:
            progress(scores[number])
        return model

    for number in reversed(numbers):
        lda = reach(number, lda)
        # What was good with more topics stays so unless fewer are better, which then are good.
        if choice_of(_rising(scores)).n_components == number:
            fewest = lda
    if candidates is None:
        for number in reversed(_between(numbers, fewest.n_components)):
            fewest = reach(number, fewest)
    return choice_of(_rising(scores))


def choice_of(scores: list[ComponentsScore]) -> ComponentsChoice:
    """Return the recommendation for scores, given by rising numbers of topics.

    Examples
    --------
    >>> values = {2: -6.5, 4: -6.1, 8: -6.02, 16: -6.0, 32: -6.01}
    >>> scores = [ComponentsScore(k, value, 0.03, 0.1, 0.02) for k, value in values.items()]
    >>> choice = choice_of(scores)
    >>> choice.n_components, choice.best, choice.flat
    (8, 16, (8, 32))
    """
    values = np.array([score.held_out for score in scores])
    top = int(values.argmax())
    best = scores[top]
    # NaN, of a standard error that is not known, compares as false: then only the best is good.
    good = values >= best.held_out - best.standard_error
    good[top] = True
    first = int(good.argmax())
    low = high = top
    while low > 0 and good[low - 1]:
        low -= 1
    while high + 1 < len(scores) and good[high + 1]:
        high += 1
    flat = scores[low].n_components, scores[high].n_components
    at_edge = len(scores) > 1 and top == len(scores) - 1
    return ComponentsChoice(
        scores[first].n_components,
        best.n_components,
        scores,
        flat,
        at_edge,
        _reason(scores, first, top, flat, at_edge),
    )


def _reason(
    scores: list[ComponentsScore], first: int, top: int, flat: tuple[int, int], at_edge: bool
) -> str:
    best, chosen = scores[top], scores[first]
    coherent = max(scores, key=lambda score: score.coherence)
    text = (
        f"{chosen.n_components} topics are the fewest that predict documents as well as "
        f"{best.n_components}, the best of {len(scores)} candidates, up to one standard error: "
        f"{chosen.held_out:.4f} against {best.held_out:.4f} ± {best.standard_error:.4f} nats per "
        "word. "
    )
    if first == top:
        text = (
            f"{best.n_components} topics predict documents best of {len(scores)} candidates, "
            f"{best.held_out:.4f} ± {best.standard_error:.4f} nats per word, and no smaller number "
            "comes within one standard error. "
        )
    span = f"from {flat[0]} to {flat[1]} topics all candidates are within one standard error"
    if flat[1] >= 2 * flat[0]:
        text += f"The curve is flat: {span} of the best, and the data hardly decide between them. "
    elif flat[1] > flat[0]:
        text += f"The curve has a broad peak: {span} of the best. "
    elif at_edge:
        text += "The curve still rises. "
    else:
        text += "The curve has a clear peak. "
    half = min(scores[: first + 1], key=lambda s: abs(s.n_components - chosen.n_components / 2))
    if half is not chosen:
        loss = best.held_out - half.held_out
        text += f"With {half.n_components} topics the score is {loss:.4f} below the best. "
    text += f"Topics are most coherent with {coherent.n_components} of them."
    if at_edge:
        text += " The best is the largest candidate: try larger ones too."
    elif flat[1] == scores[-1].n_components:
        text += " The range ends with the largest candidate: larger ones may do as well."
    return text


def _score(
    lda: LatentDirichletAllocation, train: sparse.csr_array, test: sparse.csr_array, seed: int
) -> ComponentsScore:
    # The same halves of the same documents for all candidates.
    found = lda.completion(test, random_state=seed)
    error = found.standard_error_documents
    coherence = lda.coherence(train, n_words=min(10, train.shape[1]))
    return ComponentsScore(
        lda.n_components,
        found.per_word,
        float("nan") if error is None else error,
        coherence.mean,
        coherence.standard_error,
    )


def _options(options: dict[str, Any], seed: int) -> dict[str, Any]:
    taken = {"n_components", "warm_start", "random_state"} & set(options)
    if taken:
        raise ValueError(f"{sorted(taken)} cannot be given: they are decided here")
    return {"max_iter": PASSES, **options, "random_state": seed}


def _parts(
    counts: sparse.csr_array, held_out: float, max_documents: int, rng: np.random.Generator
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Documents to learn from and documents to predict, with two words or more."""
    if not 0 < held_out < 1:
        raise ValueError(f"held_out is {held_out}, expected a part between 0 and 1")
    most = validation.whole_number("max_documents", max_documents, FEWEST)
    filled = np.flatnonzero(counts.sum(axis=1) > 1)
    if filled.size < FEWEST or counts.shape[1] < 2:
        raise ValueError(
            f"X has {filled.size} documents with two words or more and {counts.shape[1]} columns, "
            f"expected at least {FEWEST} documents and 2 columns"
        )
    rows = rng.permutation(filled)[:most]
    n_test = max(1, round(held_out * rows.size))
    return counts[np.sort(rows[n_test:])], counts[np.sort(rows[:n_test][:_MOST_HELD_OUT])]


def _candidates(candidates: Iterable[int] | None, n_documents: int) -> list[int]:
    """Numbers of topics, rising."""
    if candidates is None:
        numbers = grid(_LEAST, max(_LEAST + 1, min(_MOST, n_documents // 10)))
    else:
        given = list(candidates)
        numbers = sorted({validation.whole_number("a candidate", number) for number in given})
        if not numbers:
            raise ValueError("candidates are empty, expected numbers of topics")
    return numbers


def _between(numbers: list[int], chosen: int) -> list[int]:
    """Some numbers of topics between the chosen one and the next smaller one of the grid.

    >>> _between([10, 19, 24], 24), _between([30, 47, 58], 58), _between([5, 6], 6)
    ([20, 21, 22, 23], [49, 51, 53, 56], [])
    """
    place = numbers.index(chosen)
    if place == 0:
        return []
    found = np.geomspace(numbers[place - 1], chosen, _FINER + 2)[1:-1].round().astype(int)
    return sorted({*found.tolist()} - {*numbers})


def _rising(scores: dict[int, ComponentsScore]) -> list[ComponentsScore]:
    return [scores[number] for number in sorted(scores)]


def grid(least: int, most: int, ratio: float = _RATIO) -> list[int]:
    """Return whole numbers from `least` to `most`, each about `ratio` times the one before.

    >>> grid(2, 30)
    [2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30]
    """
    numbers, value = [least], float(least)
    while (value := max(value * ratio, numbers[-1] + 1.0)) < most:
        numbers.append(round(value))
    return [*numbers, most] if most > numbers[-1] else numbers
