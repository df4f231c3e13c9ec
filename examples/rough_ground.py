"""Heights from an array and friction from a function: a quadruped stands on bumps, half of them icy."""

import numpy as np

import footfall as ff


def icy(x, y):
    """Friction coefficient at a place (m)."""
    return 0.3 if y > 0.0 else 0.9


bumps = 0.02 * np.random.default_rng(1).random((40, 40))  # m
ground = ff.Ground.heightfield(bumps, size=(4.0, 4.0), friction=icy)
rec = ff.Simulation("quadruped", ground=ground, law="time-stepping").run(1.0, controller="posture")
late = rec.time > 0.8
for f, foot in enumerate(rec.robot.feet):
    force = rec.foot_force[late, f].mean(axis=0)
    height = ground.height(*rec.position[-1, rec.foot(foot.name)][0, :2])
    print(f"{foot.name:12} stands {1e3 * height:5.1f} mm high and carries {force[2]:6.1f} N")
carried = rec.total_force[late, 2].mean() / rec.robot.weight
print(f"together {carried:.4f} of the weight, fell: {rec.summary()['fell']}")
