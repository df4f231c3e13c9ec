"""What controllers compute about a robot: legs and soles, size, motion, and what carries it at rest."""
