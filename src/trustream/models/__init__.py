"""The models that algorithms learn, all behind the contract of `protocol`.

`lda` (latent Dirichlet allocation), `factorization` (Poisson factorisation), `mixture` (of
Gaussians and of Bernoullis), `hmm` (hidden Markov models) and `regression` (linear and probit, with
and without groups). `capabilities` has what only some algorithms ask of a model.
"""
