"""
Kinds of handwritten digits
===========================

Find out which kinds of images there are in a collection, without labels, and which images are
unusual. The images are the 1,797 digits that come with scikit-learn, 8 by 8 pixels each, as black
and white.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import trustream

digits = load_digits()
images = (digits.data > 7).astype(float)  # (1797, 64) of 0 and 1

# %%
# A mixture of Bernoulli vectors has, for each component, the probability that a pixel is black.

mixture = trustream.BernoulliMixture(n_components=20, random_state=0).fit(images)

figure, axes = plt.subplots(2, 10, figsize=(9, 2.2), layout="constrained")
for ax, mean, weight in zip(axes.flat, mixture.means_, mixture.weights_, strict=True):
    ax.imshow(mean.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    ax.set_title(f"{weight:.1%}", fontsize=8)
    ax.axis("off")

# %%
# Each component is a way of writing a digit. How pure are they? The labels were not used so far.

component = mixture.predict(images)
pure = sum(np.bincount(digits.target[component == k]).max() for k in np.unique(component))
print(f"{pure / len(images):.0%} of the images have the most frequent digit of their component")

# %%
# The model also knows which images are unusual: those to which it gives the least probability.

surprise = -mixture.score_samples(images)
odd = np.argsort(-surprise)[:10]

figure, axes = plt.subplots(1, 10, figsize=(9, 1.3), layout="constrained")
for ax, image in zip(axes, odd, strict=True):
    ax.imshow(images[image].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"a {digits.target[image]}", fontsize=8)
    ax.axis("off")
plt.show()
