"""Measure steps on a cluster next to one process, fit a model to them, and compare with Spark."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "steps": "steps",
    "fits": "fits",
    "prediction": "prediction",
    "spark": "spark",
    "page": "page",
}
