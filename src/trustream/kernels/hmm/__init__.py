"""Kernels of hidden Markov models: recursions over the observations of a sequence."""
