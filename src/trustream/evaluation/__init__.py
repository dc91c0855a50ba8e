"""How good a model is: held-out likelihood, coherence, stability, ranking.

Every function takes plain arrays, so that models of other libraries can be scored as well.
"""
