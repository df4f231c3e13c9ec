"""Pulls that a law is fitted to: a sled of the same load is pulled with a growing force until it slides.

While a load sticks, friction balances the pull, so the measured force is the pull; once it slides, the measured force
is friction, however it moves. The sled is pulled along the line through the measured forces before they break away,
extrapolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.control.base import control_pointer
from footfall.ground import Ground
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.study.identify import rise_of
from footfall.study.pull_data import Pull

#: What ``follow_pull`` measures, with its weight in the loss.
PULL_WEIGHTS = {"friction_weights": 1.0}
#: Steps between two changes of the force that draws the sled, and the size of the sled, m.
CONTROL_STEPS, SIZE = 5, (0.2, 0.1, 0.05)
GRAVITY = 9.81


def sled(mass: float = 1.0) -> Robot:
    """A block (kg) on rails along x and z that touches with four corners, and a motor that draws it along x."""
    x, y, z = (0.5 * side for side in SIZE)
    spec = mujoco.MjSpec()
    spec.modelname = "sled"
    body = spec.worldbody.add_body(name="sled", pos=[0.0, 0.0, z])
    for name, axis in (("along", [1, 0, 0]), ("up", [0, 0, 1])):
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_geom(name="sled", type=mujoco.mjtGeom.mjGEOM_BOX, size=[x, y, z], mass=mass)
    rope = spec.add_actuator(name="rope", target="along", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    rope.gainprm[0] = 1.0
    corners = np.array([(a, b, -z) for a in (-x, x) for b in (-y, y)])
    return load_robot(spec, feet={"sled": ("sled", corners)})


def _draw(time, qpos, qvel, ctrl, gains):
    ctrl[0] = gains[0] * time
    return 0


@dataclass(frozen=True)
class Rope:
    """Pulls a sled with a force that grows at a constant rate, N/s; compiled, since a fit pulls thousands of times."""

    rate: float

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_draw)

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The one number that the compiled controller needs."""
        return np.array([self.rate])


def mean_mass(pulls: Sequence[Pull]) -> float:
    """kg, of a sled as heavy as the loads are in the mean."""
    return float(np.mean([pull.normal[pull.normal > 0.5 * pull.normal.max()].mean() for pull in pulls])) / GRAVITY


def follow_pull(sim: Simulation, pull: Pull) -> dict[str, float]:
    """Root mean square of the difference of the tangential forces in weights of the load, while it is drawn."""
    rise = rise_of(pull)
    weight, duration = sim.robot.weight, rise.end - rise.begin
    rec = sim.run(
        duration,
        controller=Rope(weight * rise.rate),
        control_dt=CONTROL_STEPS * sim.dt,
        record_dt=CONTROL_STEPS * sim.dt,
    )
    seen = (pull.time >= rise.begin) & (pull.time <= rise.end)
    measured = pull.tangential[seen] / np.maximum(pull.normal[seen], 1e-9)
    simulated = np.linalg.norm(rec.total_force[:, :2], axis=1) / weight
    miss = np.interp(pull.time[seen] - rise.begin, rec.time, simulated) - measured
    return {"friction_weights": float(np.sqrt(np.mean(miss**2)))}
