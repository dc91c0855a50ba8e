"""Kernels that estimate the likelihood of held-out documents under given topics.

Conventions: a kernel works on documents start..stop and writes only their rows of its outputs.
indptr (B+1,), ids and counts (nnz,) are the documents, counts whole numbers; table (W, padded K)
holds beta_kw, row by row times any positive number; alpha is (K,). All real arrays are float64.
keys (B,) seed a stream of random numbers for each document, so that threads change nothing.
"""
