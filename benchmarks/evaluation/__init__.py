"""Measure time and precision of evaluation: one file per measurement, as in `benchmarks.core`."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "likelihood": "likelihood",
    "coherence": "coherence",
}
