"""The models: latent Dirichlet allocation and two mixtures, behind the contract of `protocol`."""
