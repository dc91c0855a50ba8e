"""Kernels that learn the parameters of a Dirichlet prior (empirical Bayes, section 3.1)."""
