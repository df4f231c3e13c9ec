"""A guest of the arena that tests and examples bring along."""

from __future__ import annotations

#: A guest in plain Python that knows one thing: a ball that falls on a plane, and bounces there.
BALL = '''
"""A ball that falls and bounces, in plain Python."""
import os
import time

import numpy as np

PACKAGES = []
SETTINGS = {"": {}, "crash": {"fault": "crash"}, "hang": {"fault": "hang"}, "spin": {"fault": "spin"},
            "light": {"fault": "light"}, "strong": {"fault": "strong"}, "wild": {"fault": "wild"},
            "away": {"fault": "away"}}
TUNED = {"loss": (0.0, 0.5, "linear", 0.25)}


class World:
    def __init__(self, task):
        if "block" in task.bodies:
            raise NotImplementedError("a ball is no block")
        self.fault, self.task, self.dt = task.settings.get("fault"), task, task.dt
        self.mass = 0.9 if self.fault == "light" else 1.0
        self.qpos, self.qvel, self.force = task.qpos.copy(), task.qvel.copy(), np.zeros(3)

    def step(self, torque, pull):
        if self.fault == "crash":
            os._exit(3)
        if self.fault == "hang":
            time.sleep(1e6)
        while self.fault == "spin":
            pass
        before = self.qvel[2]
        self.qvel[2] += self.dt * self.task.gravity[2]
        if self.qpos[2] + self.dt * self.qvel[2] < 0.1 and self.qvel[2] < 0:
            e = self.task.restitution * (1.0 - self.task.settings.get("loss", 0.0))
            self.qvel[2] = -e * before if before < -0.01 else 0.0
        self.force = np.array([0.0, 0.0, (self.qvel[2] - before) / self.dt - self.task.gravity[2]])
        if self.fault == "strong":
            self.force *= 2.0
        self.qpos[2] += self.dt * self.qvel[2] * (1e12 if self.fault == "wild" else 1.0)

    def state(self):
        return self.qpos, self.qvel

    def contacts(self):
        x = 0.5 if self.fault == "away" else 0.0
        return [(0, self.qpos[:3] - [x, 0, 0.1], self.force)] if abs(self.force[2]) > 1e-9 else []
'''
