"""MuJoCo, stepped by ``mj_step``: Newton's method, pyramidal cones, soft contacts.

Contacts are tuned by the two numbers of ``solref``; its manual lets the time constant be no shorter than two steps, and
MuJoCo itself sees to that. It has no coefficient of restitution.
"""

import mujoco
import numpy as np

PACKAGES = ["mujoco"]
SETTINGS = {"": {}, "elliptic": {"cone": "elliptic"}}
TUNED = {
    "time_constant": (0.002, 0.1, "log", 0.02),
    "damping_ratio": (0.3, 3.0, "log", 1.0),
    "impratio": (1.0, 100.0, "log", 1.0),
}


def compiled(task):
    """The model with a ground, and the ids of the spheres by geom."""
    if task.restitution:
        raise NotImplementedError("MuJoCo has no coefficient of restitution")
    spec = mujoco.MjSpec.from_file(task.mjcf)
    solref = [task.settings.get("time_constant", 0.02), task.settings.get("damping_ratio", 1.0)]
    for geom in spec.geoms:
        geom.solref = solref
    spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[task.friction, 0, 0],
        solref=solref, contype=0, conaffinity=1,
    )  # fmt: skip
    model = spec.compile()
    model.opt.timestep = task.dt
    model.opt.impratio = task.settings.get("impratio", 1.0)
    if task.settings.get("cone") == "elliptic":
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    counted, sphere = {}, {}
    for i, body in enumerate(task.sphere_body):
        sphere[model.geom(f"{body}.{counted.get(body, 0)}").id] = i
        counted[body] = counted.get(body, 0) + 1
    return model, sphere


def touching(model, data, sphere):
    """The contacts of the last step."""
    found, wrench = [], np.zeros(6)
    for i, contact in enumerate(data.contact[: data.ncon]):
        mujoco.mj_contactForce(model, data, i, wrench)
        force = contact.frame.reshape(3, 3).T @ wrench[:3]  # of the first geom on the second
        if contact.geom[1] in sphere:
            found.append((sphere[contact.geom[1]], contact.pos.copy(), force))
        else:
            found.append((sphere[contact.geom[0]], contact.pos.copy(), -force))
    return found


class World:
    def __init__(self, task):
        self.model, self.sphere = compiled(task)
        self.data = mujoco.MjData(self.model)
        self.data.qpos, self.data.qvel = task.qpos, task.qvel
        self.mass, self.dt = float(self.model.body_mass.sum()), self.model.opt.timestep

    def step(self, torque, pull):
        self.data.ctrl = torque
        self.data.xfrc_applied[1, :3] = pull
        mujoco.mj_step(self.model, self.data)

    def state(self):
        return self.data.qpos, self.data.qvel

    def contacts(self):
        return touching(self.model, self.data, self.sphere)
