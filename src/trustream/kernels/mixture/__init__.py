"""Kernels of mixtures: those that all kinds share, and those of mixtures of Bernoullis."""
