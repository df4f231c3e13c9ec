"""A loop of one's own: step a world, keep its state, try two futures from there, and return bit for bit."""

import numpy as np

import footfall as ff

sim = ff.Simulation("brick", law="time-stepping", ground=ff.Ground.slope(0.3, friction=0.6))
world = sim.start(qpos=sim.place(align=True), qvel=(0.5, 0, 0, 0, 0, 0))
while world.time < 0.2:
    world.step(n=10)
kept = world.state()
world.step(n=100)
first = world.qpos.copy()
world.restore(kept)
world.step(n=100)
again = world.qpos.copy()
print("the same future twice:", np.array_equal(first, again))
print(f"after {world.time:.2f} s: modes {world.mode}, force {world.force.sum(axis=0).round(3)} N")
