"""Measure the cost of streaming: one file per measurement, as in `benchmarks.core`."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "ingest": "ingest",
    "store": "store",
    "training": "training",
    "memory": "memory",
}
