"""What controllers compute of a robot: its legs and soles, its size, its motion, and what carries it at rest."""
