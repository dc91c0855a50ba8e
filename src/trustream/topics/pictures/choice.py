"""Draw how good numbers of topics are."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.topics.choosing import ComponentsChoice
from trustream.topics.pictures import drawing


def plot_choice(choice: ComponentsChoice, ax: Any = None) -> Any:
    """Draw held-out score and coherence for each number of topics, and which one is recommended.

    Bars are one standard error on each side. The grey band is what is within one standard error of
    the best score; the recommendation is the first number of topics in it.

    Parameters
    ----------
    choice : ComponentsChoice
        From `trustream.topics.choose_n_components`.
    ax : Axes or two Axes, default=None
        With a single one, only the held-out score is drawn; None makes a new figure for both.

    Returns
    -------
    array of Axes
        For the score and, if there are two, the coherence.

    Examples
    --------
    >>> from trustream.topics.choosing import ComponentsScore, choice_of
    >>> values = {2: -6.5, 4: -6.1, 8: -6.02, 16: -6.0}
    >>> found = choice_of([ComponentsScore(k, v, 0.03, 0.1, 0.02) for k, v in values.items()])
    >>> [ax.get_ylabel() for ax in plot_choice(found)]
    ['held-out score\\n(nats per word)', 'coherence (npmi)']
    """
    if not isinstance(choice, ComponentsChoice):
        raise ValueError(
            f"choice is of type {type(choice).__name__}, expected the result of choose_n_components"
        )
    if ax is None:
        sizes: dict[str, Any] = {"height_ratios": [3, 2]}
        grid = {"sharex": True, "figsize": (6.4, 4.8), "layout": "constrained"}
        axes = list(drawing.pyplot().subplots(2, 1, gridspec_kw=sizes, **grid)[1])
    else:
        axes = drawing.several_axes(ax, 1 if np.size(ax) == 1 else 2)
    scores = choice.scores
    numbers = [score.n_components for score in scores]
    _score(axes[0], choice, numbers)
    if len(axes) > 1:
        colour = drawing.COLOURS[2]
        values = [score.coherence for score in scores]
        errors = [score.coherence_error for score in scores]
        axes[1].errorbar(numbers, values, errors, color=colour, **_LINE)
        axes[1].set_ylabel("coherence (npmi)")
    for found in axes:
        found.set_xscale("log", base=2)
        drawing.tidy(found)
    _name_numbers(axes[-1], numbers)
    axes[-1].set_xlabel("number of topics")
    return np.array(axes)


_LINE: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.4, "capsize": 2}


def _score(ax: Any, choice: ComponentsChoice, numbers: list[int]) -> None:
    scores = {score.n_components: score for score in choice.scores}
    best, chosen = scores[choice.best], scores[choice.n_components]
    values = [score.held_out for score in choice.scores]
    errors = [score.standard_error for score in choice.scores]
    if np.isfinite(best.standard_error):
        band = best.held_out - best.standard_error, best.held_out
        ax.axhspan(*band, color="0.9", label="within one standard error of the best")
    ax.errorbar(numbers, values, errors, color=drawing.COLOURS[0], **_LINE)
    ring = {"facecolors": "none", "edgecolors": drawing.COLOURS[1], "linewidths": 2, "zorder": 5}
    text = f"recommended: {choice.n_components} topics"
    ax.scatter([chosen.n_components], [chosen.held_out], s=130, label=text, **ring)
    if best is not chosen:
        text = f"best score: {choice.best} topics"
        star = {"marker": "*", "color": drawing.COLOURS[6], "zorder": 6}
        ax.scatter([best.n_components], [best.held_out], s=80, label=text, **star)
    ax.set_ylabel("held-out score\n(nats per word)")
    ax.legend(loc="lower right", frameon=False, fontsize="small")


def _name_numbers(ax: Any, numbers: list[int]) -> None:
    """Ticks at candidates, as many as there is room for."""
    named = [numbers[0]]
    for number in numbers[1:]:
        if number >= 1.24 * named[-1]:
            named.append(number)
    ax.set_xticks(named, labels=[str(number) for number in named])
    ax.minorticks_off()
