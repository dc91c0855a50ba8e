"""Benchmarks: `scripts/bench NAME`. Ratios within one run; the machine's speed cancels out."""
