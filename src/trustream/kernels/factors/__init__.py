"""Kernels of Poisson factorisation: what users believe, given beliefs about items.

What belongs to items, rows of shapes and exponentials of expected logarithms, is computed by the
kernels of `lda`: an item is there a word and a user a document. As there, `table` (W, K) and
`theta` (B, K) have their components padded with zeros to a multiple of `kernels.LANES`.
"""
