"""Bruneau and Ouezdou 1999: distributed ground and walking robot interaction."""

from footfall.papers.base import Paper

PAPER = Paper.read(__name__)
