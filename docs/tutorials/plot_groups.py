"""
What people write about, product by product
===========================================

Find out what a pile of texts is about, where its subjects differ from group to group, and read the
texts that say it best. That is what one does with reviews of products or answers to a survey. No
machine has reviews to try it with, but every machine has docstrings: here the libraries stand for
products, and what their docstrings say for what reviewers write.
"""

import matplotlib.pyplot as plt
import numpy as np

import trustream
from trustream.demo import docstrings
from trustream.topics import plot_top_words

site = next(root for root in docstrings.default_roots() if root.joinpath("sklearn").is_dir())
groups = ["numpy", "scipy", "sklearn", "rich", "click"]
texts, group = [], []
for name in groups:
    found = [each for some in docstrings.stream([site / name]) for each in some]
    # As many of each, so that the large libraries do not drown the small ones.
    chosen = np.random.default_rng(0).permutation(len(found))[:500]
    texts += [found[i].text for i in chosen]
    group += [name] * len(chosen)
print(len(texts), "texts of", len(groups), "groups")

# %%
# A topic model makes topics of the texts. It is not told the groups.

model = trustream.TopicModel(n_topics=12, phrases=True, random_state=0).fit(texts)
for topic in model.topic_info():
    print(f"{topic.share:5.1%}", *(entry.word for entry in topic.relevant[:7]))

# %%
# How much of each group is about which topic? A row of the picture adds up to 1. A column that is
# dark in one row only is a subject of this group alone; of reviews, what only one product is
# praised or blamed for.

theta = model.transform(texts)
group = np.array(group)
share = np.array([theta[group == name].mean(axis=0) for name in groups])

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
image = ax.imshow(share, cmap="Blues", vmin=0, aspect="auto")
labels = [topic.relevant[0].word for topic in sorted(model.topic_info(), key=lambda t: t.topic)]
ax.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
ax.set_yticks(range(len(groups)), groups)
figure.colorbar(image, label="mean share of a text")
plt.show()

# %%
# Which topic sets each group apart most from all others, and which text says it best?

for row, name in enumerate(groups):
    others = np.delete(share, row, axis=0).mean(axis=0)
    topic = int(np.argmax(share[row] - others))
    rows = np.flatnonzero(group == name)
    best = texts[rows[np.argmax(theta[rows, topic])]]
    print(f"{name}: {labels[topic]} ({share[row, topic]:.0%}, elsewhere {others[topic]:.0%})")
    print("   ", best.strip().splitlines()[0][:90])

# %%
# The words of the largest topics.

largest = [topic.topic for topic in list(model.topic_info())[:6]]
axes = plot_top_words(model, topics=largest)
plt.show()
