"""Constraint rows of joints, loops, tendons and contacts between bodies, and their active set."""
