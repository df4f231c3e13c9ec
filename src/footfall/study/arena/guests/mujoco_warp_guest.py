"""MuJoCo Warp: MuJoCo's contacts and solver in Warp's kernels, in single precision, here on the processor.

It is made for thousands of worlds on a GPU: the time of one world on a processor says nothing of that.
"""

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp
from mujoco_guest import compiled, touching

warp.config.quiet = True
warp.set_device("cpu")

PACKAGES = ["mujoco-warp"]
SETTINGS = {"": {}, "elliptic": {"cone": "elliptic"}}
TUNED = {
    "time_constant": (0.002, 0.1, "log", 0.02),
    "damping_ratio": (0.3, 3.0, "log", 1.0),
    "impratio": (1.0, 100.0, "log", 1.0),
}


class World:
    def __init__(self, task):
        self.host, self.sphere = compiled(task)
        self.data = mujoco.MjData(self.host)
        self.data.qpos, self.data.qvel = task.qpos, task.qvel
        mujoco.mj_forward(self.host, self.data)
        self.model, self.world = mjw.put_model(self.host), mjw.put_data(self.host, self.data)
        self.mass, self.dt = float(self.host.body_mass.sum()), float(self.model.opt.timestep.numpy()[0])
        self.pull = np.zeros((1, self.host.nbody, 6), dtype=np.float32)

    def step(self, torque, pull):
        if len(torque):
            self.world.ctrl.assign(np.asarray(torque, dtype=np.float32)[None])
        self.pull[0, 1, :3] = pull
        self.world.xfrc_applied.assign(self.pull)
        mjw.step(self.model, self.world)

    def state(self):
        return self.world.qpos.numpy()[0].astype(float), self.world.qvel.numpy()[0].astype(float)

    def contacts(self):
        mjw.get_data_into(self.data, self.host, self.world)
        return touching(self.host, self.data, self.sphere)
