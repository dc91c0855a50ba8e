"""Measure the service: against the library called directly, and under load."""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "calls": "calls",
    "idle": "idle",
    "events": "events",
    "load": "load",
}
