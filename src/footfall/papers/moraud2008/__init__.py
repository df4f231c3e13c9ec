"""Moraud, Hale and Cheng 2008: constraint-based ground contact in humanoid simulation."""

from footfall.papers.base import Paper

PAPER = Paper.read(__name__)
