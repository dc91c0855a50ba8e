"""Run benchmarks with `scripts/bench NAME`: ratios within one run, so that speed cancels out."""
