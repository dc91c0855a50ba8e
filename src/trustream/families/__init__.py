"""Exponential families: natural parameters, expectations, divergences, log-normalisers."""
