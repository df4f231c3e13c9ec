"""Walking on four legs."""
