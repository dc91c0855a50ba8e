"""
Who likes what will also like ...
=================================

Recommend items to users from what users have chosen before. The data are choices that every
machine has: the source files of installed Python packages are the users, and the modules that they
import are the items. In their place could be customers and purchases, or people and the movies that
they rate.
"""

import re
from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import trustream
from trustream.demo import docstrings

line = re.compile(r"^\s*(?:import|from) ([a-z]\w+)", re.MULTILINE)
users, items = [], []
for root in docstrings.default_roots():
    for path in islice(docstrings.source_files(root), 2500):
        used = set(line.findall(path.read_text(encoding="utf-8", errors="replace")))
        if len(used) >= 5:
            users += [f"{root.name}/{path.relative_to(root)}"] * len(used)
            items += sorted(used)
users, items = np.array(users), np.array(items)

# Items that ten or more have chosen.
_, kind, chosen_by = np.unique(items, return_inverse=True, return_counts=True)
users, items = users[chosen_by[kind] >= 10], items[chosen_by[kind] >= 10]
print(len(users), "choices of", len(set(users)), "users among", len(set(items)), "items")

# %%
# One choice of each user is held out, to see whether the others foretell it.

rng = np.random.default_rng(0)
order = rng.permutation(len(users))
_, first = np.unique(users[order], return_index=True)
held_out = np.zeros(len(users), bool)
held_out[order[first]] = True
known = {"user": users[~held_out], "item": items[~held_out]}
asked = {"user": users[held_out], "item": items[held_out]}

recommender = trustream.TopicRecommender(rating_column=None, random_state=0).fit(known)

# %%
# What else does a file need that imports these? Nothing is learned from the question.

print(recommender.recommend_for(["socket", "ssl"], n=5))
print(recommender.recommend_for(["numpy", "warnings"], n=5))

# %%
# Items are similar if the same users choose them.

for item in ("pathlib", "threading", "json"):
    print(item, "is like", *recommender.similar_items(item, n=4).items)

# %%
# Is it better than the same list of popular items for everybody? Recall is the share of users whose
# held-out choice is on the list.

lengths = (1, 2, 5, 10, 20)
found = recommender.evaluate(asked, m=lengths, unknown="ignore")
names, counts = np.unique(known["item"], return_counts=True)
popular = names[np.argsort(-counts)]
seen = {user: set() for user in set(users)}
for user, item in zip(known["user"], known["item"], strict=True):
    seen[user].add(item)
rank = [
    [item for item in popular if item not in seen[user]].index(wanted)
    for user, wanted in zip(asked["user"], asked["item"], strict=True)
    if wanted in names
]

figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.plot(lengths, found.recall.mean, marker="o", label="by topics")
ax.plot(lengths, [np.mean(np.array(rank) < m) for m in lengths], marker="o", label="popular items")
ax.set(xlabel="length of the list", ylabel="users whose choice is on it", ylim=0, xticks=lengths)
ax.legend()
plt.show()

# %%
# New choices of known users, and new users, are learned from as they come.

recommender.partial_fit({"user": ["mine.py"] * 2, "item": ["asyncio", "socket"]})
print(recommender.recommend("mine.py", n=5))
