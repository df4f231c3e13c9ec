"""Constraint rows of joints, loops, tendons and contacts between bodies, and which of them hold."""
