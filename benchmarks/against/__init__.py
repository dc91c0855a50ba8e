"""Compare the speed of this version with that of another revision, piece of work by piece of work.

The speed of a shared machine drifts by half within minutes, so that two runs of a benchmark, one
after the other, say little. Here two processes, one for each version, do the same piece of work in
turn, and the ratio is taken round by round. They are started anew several times, since processes of
the same code differ as well. `scripts/bench against HEAD` shows how much is noise.

Versions differ in what they learn, too: since they have a population, topics stay alive, which
takes time. Pieces called "same-..." learn without one, as the first versions did, so that what is
left is the speed of the code.
"""

# Name, and what it is called in the table.
PIECES = {
    "step": "ten natural-gradient steps, K=100, 500 articles",
    "small-steps": "twenty trust-region steps, K=100, 50 articles",
    "pass": "fit, one pass over 20,000 articles, K=100",
    "small-fit": "fit, two passes over 3,000 articles, K=20",
    "same-step": "ten natural-gradient steps, without a population",
    "same-small-steps": "twenty trust-region steps, without a population",
    "same-pass": "fit, one pass over 20,000 articles, without a population",
    "same-small-fit": "fit, two passes over 3,000 articles, without a population",
    "transform": "transform 3,000 articles, K=100",
    "bernoulli": "fit of a Bernoulli mixture",
    "gaussian": "fit of a Gaussian mixture",
    "train": "a hundred steps of a trainer, K=100, batches of 100",
    "append": "200 appends of a single word",
    "bulk": "ten appends of 500 documents",
    "draw": "twenty draws of 100 documents",
}
