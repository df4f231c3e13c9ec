"""Points of bodies other than feet: which are near the ground, where they touch it, and what is recorded of them."""
