"""Ott, Roa and Hirzinger 2011: posture and balance control by contact-force optimisation."""
