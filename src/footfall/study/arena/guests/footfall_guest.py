"""Footfall itself, under each of its laws with default options, stepped from Python like every other guest."""

import json

import numpy as np

from footfall.contact import law as make_law
from footfall.ground import Ground
from footfall.record import Push
from footfall.robot import Robot
from footfall.simulation import Simulation

PACKAGES = []
SETTINGS = {
    "": {},
    "linearizing-penalty": {"law": "linearizing-penalty"},
    "acceleration-complementarity": {"law": "acceleration-complementarity"},
    "constraint-selection": {"law": "constraint-selection"},
    "spring-damper": {"law": "spring-damper"},
    "hunt-crossley": {"law": "hunt-crossley"},
    "distributed": {"law": "distributed"},
    "mujoco": {"law": "mujoco"},
}
TUNED = {}
RESTITUTION = True
#: Laws with Newton's restitution between any two speeds; of springs it holds at one speed.
WITH_RESTITUTION = ("time-stepping", "acceleration-complementarity")


class World:
    def __init__(self, task):
        name = task.settings.get("law", "time-stepping")
        if task.restitution and name not in WITH_RESTITUTION:
            raise NotImplementedError(f"{name} has no coefficient of restitution")
        law = make_law(name, **({"restitution": task.restitution} if task.restitution else {}))
        with open(task.footfall, encoding="utf-8") as file:
            robot = Robot.from_dict(json.load(file))
        pushes = [
            Push(task.bodies[0], tuple(force), start=first * task.dt, duration=(last - first) * task.dt)
            for first, last, *force in task.pulls
            if last > first
        ]
        ground = Ground.plane(friction=task.friction)
        sim = Simulation(robot, ground=ground, law=law, dt=task.dt, body_contacts=False)
        self.world = sim.start(qpos=task.qpos, qvel=task.qvel, pushes=pushes, recorded=False)
        self.mass, self.dt = robot.mass, sim.dt

    def step(self, torque, pull):
        self.world.step(torque)  # pushes are known to the world
        if self.world.failure is not None:
            raise RuntimeError(self.world.failure.message)

    def state(self):
        return self.world.qpos, self.world.qvel

    def contacts(self):
        force, place = self.world.force, self.world.position
        return [(i, place[i].copy(), force[i].copy()) for i in np.flatnonzero(np.abs(force).max(axis=1))]
