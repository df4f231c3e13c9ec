"""Whole-body control: torques that come nearest to wanted accelerations, by a quadratic program."""
