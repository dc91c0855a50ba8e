"""Add a file of newer ratings to a fitted recommender."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trustream.feeds import read_ratings
from trustream.recommender.ids import Ids, id_array
from trustream.recommender.ratings import rating_rows

# Number of ids in an error message.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AddedRatings:
    """What came with newer ratings.

    Attributes:
        ratings: number of ratings.
        users: number of users who were not known.
        items: number of items that were not known.
    """

    ratings: int
    users: int
    items: int


def add_ratings(model: Any, source: str | Path) -> AddedRatings:
    """Let a recommender learn from a file of newer ratings by its `partial_fit`.

    Parameters
    ----------
    model : TopicRecommender, PoissonRecommender or TrendingRecommender
        Fitted. The file has its columns, and ids that it knows are found whether or not all ids of
        the file look like integers.
    source : str or Path
        As for `trustream.feeds.read_ratings`.

    Raises
    ------
    ValueError
        If the file is wrong, or has new items for a `TopicRecommender`; nothing is learned then.

    Examples
    --------
    >>> import tempfile
    >>> from trustream import PoissonRecommender
    >>> ratings = {"user": ["ann", "bob"], "item": ["ham", "tea"], "rating": [5, 5]}
    >>> model = PoissonRecommender(2, random_state=0).fit(ratings)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("user,item,rating\\nann,jam,4\\neve,ham,5\\n")
    ...     file.flush()
    ...     add_ratings(model, file.name)
    AddedRatings(ratings=2, users=1, items=1)
    """
    ratings: dict[str, Any] = dict(read_ratings(source, model.columns))
    known = model._data
    rating_rows(ratings, model.columns)  # before anything is done with its columns
    for name, ids in ((model.user_column, known.users), (model.item_column, known.items)):
        ratings[name] = _like(ids, ratings[name])
    users, items = ratings[model.user_column], ratings[model.item_column]
    new_items = _new(known.items, items)
    if new_items and not model._grows:
        shown = ", ".join(repr(item) for item in new_items[:_SHOWN])
        raise ValueError(
            f"{source} has {len(new_items)} items that the model does not know ({shown}): fit a "
            "model to all ratings, or one that takes in new items, a TrendingRecommender or a "
            "PoissonRecommender"
        )
    added = AddedRatings(len(users), len(_new(known.users, users)), len(new_items))
    model.partial_fit(ratings)
    return added


def _like(known: Ids, values: Any) -> Any:
    """The ids of a column; as texts where the known ones are texts."""
    array = id_array(known.what, values)
    return [str(value) for value in array.tolist()] if known.strings else array


def _new(known: Ids, values: Any) -> list[Any]:
    """The distinct ones that are not known."""
    array = id_array(known.what, values)
    return list(dict.fromkeys(array[known.find(array) < 0].tolist()))
