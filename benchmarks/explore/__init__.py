"""Measure what it costs to explore the topics of a store, as in `benchmarks.stream`."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "store": "store",
}
