"""Rengifo, Aoustin, Chevallereau and Plestan 2009: penalty contact by input-output feedback linearisation."""

from footfall.papers.base import Paper

PAPER = Paper.read(__name__)
