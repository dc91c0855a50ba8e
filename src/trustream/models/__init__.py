"""The models: latent Dirichlet allocation and two mixtures, behind one protocol."""
