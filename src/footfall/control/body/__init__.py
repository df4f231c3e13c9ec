"""Properties of robots that controllers need: legs and soles, size, linkages, and the forces at rest."""
