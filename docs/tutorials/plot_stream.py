"""
A stream of texts that does not end
===================================

Put texts into a store as they arrive, let a model follow, and see what it learns while it learns.
The texts are the docstrings of Python's standard library; in their place could be news, tickets or
reviews.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import trustream
from trustream.demo import docstrings
from trustream.store import Record
from trustream.streaming.published import load_model
from trustream.topics import plot_map, plot_top_words, topic_info

library = docstrings.default_roots()[:1]
found = [docstring for some in docstrings.stream(library) for docstring in some][:3000]
print(len(found), "docstrings, for example", found[0].name)

# %%
# A store is one file. One of ten documents is held out to score the model. Here 250 documents
# arrive at a time, and the trainer makes some steps after each arrival; as commands,
# ``trustream ingest`` and ``trustream train`` do both at the same time.

folder = tempfile.TemporaryDirectory()
store = trustream.open_store(Path(folder.name, "texts.db"), min_documents=5, held_out=0.1)
scores, arrivals = [], []


def note(info):
    """Called after each step."""
    if info.score is not None:
        scores.append((info.step.n_steps, info.score.gain))


with trustream.StreamTrainer(store, n_components=15, score_every=5, random_state=0) as trainer:
    for start in range(0, len(found), 250):
        arrivals.append(trainer.n_steps)
        store.append(Record(text.name, text.words) for text in found[start : start + 250])
        trainer.run(steps=25, callback=note)

# %%
# How much better than word frequencies the model predicts half of a held-out document from its
# other half. Documents arrive at the grey lines: what is held out of them is new to the model.
# It then learns from the others. So the line can fall there, and rises again.

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for step in arrivals:
    ax.axvline(step, color="0.85")
ax.plot(*zip(*scores, strict=True), marker=".")
ax.set(xlabel="steps of the trainer", ylabel="gain, nats per word")
plt.show()

# %%
# The model in the store is an estimator like any other.

model = load_model(store)
for topic in topic_info(model).topics[:5]:
    print(f"{topic.share:.1%}", *(entry.word for entry in topic.relevant[:8]))

axes = plot_top_words(model, topics=[topic.topic for topic in topic_info(model).topics[:6]])

# %%
# Topics that use similar words are close together on a map.

ax = plot_map(model)
plt.show()

store.close()
folder.cleanup()
