"""Sixty-four worlds at once, each with its own push: how hard, and from where, does a biped take it?"""

import numpy as np

import footfall as ff

sim = ff.Simulation("spatial-biped", law="spring-damper")
sizes, angles = np.linspace(20.0, 300.0, 8), np.linspace(0.0, 2 * np.pi, 8, endpoint=False)  # N, rad
pushes = [
    [ff.Push("trunk", force=(size * np.cos(a), size * np.sin(a), 0.0), start=0.2, duration=0.1)]
    for size in sizes
    for a in angles
]
worlds = ff.Worlds(sim, len(pushes), pushes=pushes)
worlds.run(1.5, controller="posture")
height = worlds.qpos[:, 2]
up = (height > 0.7 * sim.robot.home[2]).reshape(len(sizes), len(angles))
for size, row in zip(sizes, up, strict=True):
    print(f"{size:4.0f} N  " + " ".join("stands" if one else "  -   " for one in row))
print("columns: pushed towards " + ", ".join(f"{np.degrees(a):.0f}" for a in angles) + " degrees")
