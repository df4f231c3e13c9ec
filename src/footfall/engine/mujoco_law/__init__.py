"""Law mujoco: soft contacts with the ground, solved together with all constraint rows."""
