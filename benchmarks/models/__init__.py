"""Measure the models beside topics and mixtures next to other libraries: one file per model.

Every file of this package is a measurement, by its name on the command line: a module with `FILES`,
the data sets that it reads, and `measure(setup)`, which yields rows (`benchmarks.harness.rows`).
Files whose names begin with an underscore are helpers.
"""

import pkgutil

# Name on the command line and module of this package.
MEASUREMENTS = {
    module.name: module.name
    for module in pkgutil.iter_modules(__path__)
    if not module.name.startswith("_")
}
