"""Kernels that check the arrays of a sparse matrix."""
