"""Identify a sole: how stiff and how damped feet are, from a recorded walk, by Gauss-Newton on exact derivatives."""

import numpy as np
from matplotlib.figure import Figure

import footfall as ff

robot, names, true = ff.load_robot("quadruped"), ("law.k", "law.c"), np.array([3e4, 300.0])  # N/m, N s/m


def simulation(k, c):
    law = ff.law("spring-damper", k=k, c=c, friction="regularised")
    return ff.Simulation(robot, law=law, dt=0.001, body_contacts=False)


walk = simulation(*true).run(0.5, controller=ff.control.walker(robot))  # in place of a robot's log
noise, chance = 1e-3, np.random.default_rng(1)  # m/s and rad/s, of measured velocities
measured = walk.qvel + noise * chance.normal(size=walk.qvel.shape)


def compare(values):
    """What steps from samples miss of the velocities after them, and its derivatives by logarithms, over the noise."""
    world, missed, slopes = simulation(*values).start(recorded=False), [], []
    for i in range(5, len(walk) - 1, 5):
        world.qpos[:], world.qvel[:] = walk.qpos[i], walk.qvel[i]
        slopes.append(world.linearize(walk.ctrl[i], to=names).P[len(world.qvel) :] * values)
        world.step(walk.ctrl[i])
        missed.append(measured[i + 1] - world.qvel)
    return np.concatenate(missed) / noise, np.concatenate(slopes) / noise


path = [np.array([1e4, 100.0])]  # a guess that is off by three
for _ in range(6):
    missed, slopes = compare(path[-1])
    path.append(path[-1] * np.exp(np.clip(np.linalg.lstsq(slopes, missed)[0], -1.0, 1.0)))
spread = 1.96 * path[-1] * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))  # 95 %, from the same matrix
print(*(f"{name} = {value:.0f} ± {more:.0f}" for name, value, more in zip(names, path[-1], spread, strict=True)))
figure = Figure()
figure.add_subplot(xlabel="iteration", ylabel="k and c, found / true").plot(path / true, marker="o")
figure.savefig("sole.png")
