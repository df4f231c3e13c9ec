"""Ott, Roa and Hirzinger 2011: posture and balance control by contact-force optimisation."""

from footfall.papers.base import Paper

PAPER = Paper.read(__name__)
