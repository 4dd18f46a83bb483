"""The machinery of one-to-one matching: what is within reach, the graph, the solver, following changes."""
