"""How to learn: recipes, the registry of algorithms, and the learner that everything else calls."""
