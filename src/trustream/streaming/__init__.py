"""Learning from a document store that grows (section 3.1 of the paper)."""
