"""Constraint selection (Moraud 2008): a search over which vertices of each foot are clamped."""
