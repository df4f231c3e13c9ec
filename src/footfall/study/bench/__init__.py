"""Measurements of Footfall itself: its speed, and its behaviour from random states."""
