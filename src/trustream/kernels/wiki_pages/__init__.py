"""Kernels that read pages of MediaWiki dumps."""
