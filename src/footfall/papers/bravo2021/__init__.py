"""Bravo and Rengifo 2021: a dynamic simulator for a planar biped, its control and its gait."""
