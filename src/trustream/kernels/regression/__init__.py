"""Kernels of regressions: groups of rows, their weights, and the latent responses of probits."""
