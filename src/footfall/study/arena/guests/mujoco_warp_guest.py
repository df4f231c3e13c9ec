"""MuJoCo Warp on the processor: MuJoCo's contacts and solver in single precision, written for NVIDIA's GPUs.

Its manual offers the processor for development and debugging: its cost here says nothing of many worlds on a GPU. All
else is as for MuJoCo.
"""

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp
from mujoco_guest import compiled, touching

PACKAGES = ["mujoco-warp"]
SETTINGS = {"": {}, "elliptic": {"cone": "elliptic"}}
TUNED = {
    "time_constant": (0.002, 0.1, "log", 0.02),
    "damping_ratio": (0.3, 3.0, "log", 1.0),
    "impratio": (1.0, 100.0, "log", 1.0),
}
wp.config.quiet = True


class World:
    def __init__(self, task):
        self.host, self.sphere = compiled(task)
        self.seen = mujoco.MjData(self.host)
        self.seen.qpos, self.seen.qvel = task.qpos, task.qvel
        mujoco.mj_forward(self.host, self.seen)
        spheres = len(task.at)  # each touches in one place, with four rows of a pyramid or three of a cone
        with wp.ScopedDevice("cpu"):
            self.model = mjw.put_model(self.host)
            self.data = mjw.put_data(self.host, self.seen, nconmax=spheres, njmax=4 * spheres)
        self.mass, self.dt = float(self.model.body_mass.numpy().sum()), float(self.model.opt.timestep.numpy()[0])

    def step(self, torque, pull):
        if len(torque):
            self.data.ctrl.assign(torque[None].astype(np.float32))
        outside = np.zeros((1, self.host.nbody, 6), dtype=np.float32)
        outside[0, 1, :3] = pull
        self.data.xfrc_applied.assign(outside)
        with wp.ScopedDevice("cpu"):
            mjw.step(self.model, self.data)

    def state(self):
        return self.data.qpos.numpy()[0].astype(float), self.data.qvel.numpy()[0].astype(float)

    def contacts(self):
        mjw.get_data_into(self.seen, self.host, self.data)
        return touching(self.host, self.seen, self.sphere)
