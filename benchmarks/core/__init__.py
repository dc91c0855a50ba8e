"""Compare the time of a step with a lower limit: one file per measurement.

Every measurement is a module with `FILES`, the data that it reads, and `measure(setup)`, which
yields rows.
"""

# Name on the command line and module of this package.
MEASUREMENTS = {
    "natural-gradient": "natural_gradient",
    "local-kernel": "local_kernel",
    "trust-region": "trust_region",
    "vocabulary": "vocabulary",
    "bernoulli": "bernoulli",
    "gaussian": "gaussian",
    "memory": "memory",
    "startup": "startup",
    "one-pass": "one_pass",
    "validation": "validation",
}
