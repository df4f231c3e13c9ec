"""Measurements of Footfall itself: its speed, and what it does from random states."""
