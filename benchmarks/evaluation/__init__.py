"""What evaluation costs and how exact it is: one file a measurement, as in `benchmarks.core`."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "likelihood": "likelihood",
    "coherence": "coherence",
}
