"""Answer requests for lists of items with a fitted recommender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trustream import persist
from trustream.recommender import Recommendations
from trustream.recommender.fitted_recommender import FittedRecommender

# Users whose lists are computed before the first of them is returned.
USERS_AT_A_TIME = 4096

# Called with the number of users; entering it gives a function of how many are done.
Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """An item of a list.

    Attributes:
        item: id of the item.
        score: the higher, the better.
    """

    item: str | int
    score: float


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of items, and what it is for.

    Attributes:
        kind: "user" for a list for a known user, "likes" for somebody who likes some items, or
            "similar_to" for items that are similar to one.
        subject: id of the user, ids of the liked items, or id of the item.
        title: the same as a text.
        items: the best first.
    """

    kind: str
    subject: Any
    title: str
    items: list[ScoredItem]


def load_recommender(path: str | Path, n_jobs: int | None = None) -> FittedRecommender:
    """Load a recommender from a file.

    Parameters
    ----------
    path : str or Path
        A file that `save` of a recommender wrote.
    n_jobs : int, default=None
        Threads; None is all cores.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    ValueError
        If the file holds another model, or none.

    Examples
    --------
    >>> import tempfile
    >>> from trustream import TopicRecommender
    >>> model = TopicRecommender(2, random_state=0).fit([[1, 1, 0], [0, 1, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/movies.safetensors")
    ...     load_recommender(f"{folder}/movies.safetensors").item_ids_.tolist()
    [0, 1, 2]
    """
    model = persist.load(path)
    if not isinstance(model, FittedRecommender):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, expected a recommender: "
            "make one with trustream recommend RATINGS --save"
        )
    model.n_jobs = n_jobs
    return model


def item_lists(
    model: FittedRecommender,
    *,
    users: Sequence[str] | None = (),
    likes: Sequence[str] = (),
    similar_to: Sequence[str] = (),
    n: int = 20,
    exclude_seen: bool = True,
    progress: Progress | None = None,
) -> Iterator[ItemList]:
    """Yield lists of items for known users, for somebody's likes, and for items.

    Ids are given as texts, as somebody types them, also where the ids of the ratings are integers.

    Parameters
    ----------
    model : TopicRecommender, PoissonRecommender or TrendingRecommender
        Fitted.
    users : sequence of str, or None
        A list for each of these users; None is a list for every known user.
    likes : sequence of str
        One list for somebody who likes all of these items; no list if there are none.
    similar_to : sequence of str
        A list of similar items for each of these items.
    n : int, default=20
        Items of a list.
    exclude_seen : bool, default=True
        Whether to leave out what a user has rated, or `likes`.
    progress : callable, default=None
        ``progress(n_users)`` is a context that gives a function of how many users are done.

    Raises
    ------
    ValueError
        If a user or an item is not known.

    Examples
    --------
    >>> from trustream import TopicRecommender
    >>> likes = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]] * 5
    >>> model = TopicRecommender(2, random_state=0).fit(likes)
    >>> for found in item_lists(model, users=["0"], likes=["1"], similar_to=["3"], n=1):
    ...     print(found.title, found.kind, found.subject, len(found.items))
    0 user 0 1
    likes 1 likes [1] 1
    similar to 3 similar_to 3 1
    """
    known: list[Any] = (
        model.user_ids_.tolist() if users is None else [model.parse_user(text) for text in users]
    )
    with nullcontext(lambda done: None) if progress is None else progress(len(known)) as advance:
        for start in range(0, len(known), USERS_AT_A_TIME):
            chunk = known[start : start + USERS_AT_A_TIME]
            for user, items in model.recommend_all(n, users=chunk, exclude_seen=exclude_seen):
                yield ItemList("user", user, str(user), _scored(items))
            advance(start + len(chunk))
    if likes:
        liked = [model.parse_item(text) for text in likes]
        items = model.recommend_for(liked, n, exclude_seen=exclude_seen)
        yield ItemList("likes", liked, "likes " + ", ".join(likes), _scored(items))
    for text in similar_to:
        item = model.parse_item(text)
        items = model.similar_items(item, n)
        yield ItemList("similar_to", item, f"similar to {text}", _scored(items))


def _scored(items: Recommendations) -> list[ScoredItem]:
    return [ScoredItem(item, score) for item, score in items]
