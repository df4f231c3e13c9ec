"""Moraud, Hale and Cheng 2008: constraint-based ground contact in humanoid simulation."""
