"""Kernels that find the words of texts and number them."""
