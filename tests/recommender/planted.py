"""Ratings with groups of users who like the same group of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from trustream import TopicRecommender

N_BLOCKS, USERS, ITEMS, N_HELD_OUT = 4, 40, 15, 3


def blocks(seed: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(training, held out): each user likes 10 of the block's 15 items, 3 of them held out."""
    rng = np.random.default_rng(seed)
    shape = (N_BLOCKS * USERS, N_BLOCKS * ITEMS)
    train, held_out = np.zeros(shape), np.zeros(shape)
    for user in range(shape[0]):
        items = user // USERS * ITEMS + rng.permutation(ITEMS)[:10]
        held_out[user, items[:N_HELD_OUT]] = 1
        train[user, items[N_HELD_OUT:]] = 1
    return sparse.csr_array(train), sparse.csr_array(held_out)


def block_of_user(user: int) -> int:
    return user // USERS


def block_of_item(item: int) -> int:
    return item // ITEMS


def popular_blocks(seed: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(training, held out) of users of a block who like items of others as well.

    Items have popularities that fall like 1 / rank, so a list of popular items is not bad.
    """
    rng = np.random.default_rng(seed)
    n_users, n_items, n_blocks = 600, 120, 4
    popularity = 1 / np.arange(1, n_items + 1)
    block = np.arange(n_items) % n_blocks
    train, held_out = np.zeros((n_users, n_items)), np.zeros((n_users, n_items))
    for user in range(n_users):
        p = popularity * np.where(block == user % n_blocks, 8.0, 1.0)
        items = rng.choice(n_items, 15, replace=False, p=p / p.sum())
        held_out[user, rng.permutation(items)[:3]] = 1
        train[user, items] = 1 - held_out[user, items]
    return sparse.csr_array(train), sparse.csr_array(held_out)


def columns_of(matrix: sparse.csr_array, rating: float = 5) -> dict[str, Any]:
    """A matrix as columns, with string ids whose order is not that of the numbers."""
    coo = matrix.tocoo()
    user, item = coo.coords
    return {
        "user": [user_name(u) for u in user],
        "item": [item_name(i) for i in item],
        "rating": [rating] * len(user),
    }


def user_name(user: int) -> str:
    return f"user {user}"


def item_name(item: int) -> str:
    return f"żółw {item}"


def recommender(**options: Any) -> TopicRecommender:
    return TopicRecommender(**{"n_components": 4, "random_state": 0, "max_iter": 20, **options})


TRAIN, HELD_OUT = blocks()
N_USERS, N_ITEMS = TRAIN.shape
