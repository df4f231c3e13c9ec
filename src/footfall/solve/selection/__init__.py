"""Constraint selection (Moraud 2008): which vertices of each foot are clamped, found by trial and error."""
