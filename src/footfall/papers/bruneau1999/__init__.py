"""Bruneau and Ouezdou 1999: distributed ground and walking robot interaction."""
