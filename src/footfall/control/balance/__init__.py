"""Balance: contact forces at the feet, and elsewhere, that keep a robot upright (Ott 2011)."""
