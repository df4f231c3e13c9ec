"""File formats of others, and atomic writing."""
