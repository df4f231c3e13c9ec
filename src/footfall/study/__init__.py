"""Studies: many simulations with one question."""
