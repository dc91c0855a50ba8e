"""Kernels that read lines of JSON of the simplest shape, from bytes to words."""
