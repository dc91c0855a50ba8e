"""Kernels of latent Dirichlet allocation, and the constants that tune its local step.

`table` (W, K) and `theta` (B, K), exponentials of expected logarithms, have their topics padded
with zeros to a multiple of `kernels.LANES`.
"""

# What exp(psi) is raised to, relative to the largest of its row, so that no sum over topics is 0.
FLOOR = {"float32": 1e-30, "float64": 1e-200}

# In place of the largest number of topics that a document may keep: it keeps all to the end.
ALL_TOPICS = 0
# Where there is such a number, it holds after this many iterations: before, it is not yet clear
# what a document is about.
ALL_TOPICS_FIRST = 3
# A topic with fewer tokens than this, times an even share of the document's tokens, is not used.
UNUSED = 0.05
# With so many topics left or fewer, a document's part of the table is copied topic by topic, as
# long as the copy has at most COLUMNS_ROOM numbers: that needs no sums across a vector, and topics
# that are left out later need no further copy. With more topics the table itself is read.
NARROW = 512
COLUMNS_ROOM = 1 << 20
# From such a copy, unused topics are left out if at most this share of the topics remains; from
# the table itself, if at most half remains.
WORTH_LEAVING = 0.75
# With strides, every second move of gamma after so many iterations is extrapolated, by at most
# LONGEST_STRIDE times itself.
STRIDES_FROM = 3
LONGEST_STRIDE = 30.0
# With a smaller alpha, exp(psi(alpha)) is below 1e-4 (a topic with n tokens has about n): a topic
# without tokens explains next to nothing.
NEGLIGIBLE_ALPHA = 0.11
