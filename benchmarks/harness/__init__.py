"""What every benchmark uses: rows of a table, timing, the command, the machine's facts.

A benchmark is a package with MEASUREMENTS, its modules by name; each of these has `FILES`, the data
that it reads, and `measure(setup)`, which yields rows.
"""
