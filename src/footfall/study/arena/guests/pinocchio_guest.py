"""Pinocchio: its rigid-body algorithms and its ADMM solver of contact problems, in a time stepping of this file.

Pinocchio has no simulator of its own. A step of semi-implicit Euler finds impulses in the exact cone of friction for
which no sphere moves farther than its gap (Stewart and Trinkle 1996), to the solver's default tolerances.
"""

import numpy as np
import pinocchio as pin
from guest_side import to_matrix

PACKAGES = ["pin"]
SETTINGS = {"": {}, "pgs": {"solver": "PGS"}}
TUNED = {"tolerance": (1e-10, 1e-4, "log", 1e-6)}


class World:
    def __init__(self, task):
        if task.restitution:
            raise NotImplementedError(
                "Pinocchio solves contact problems; restitution is left to the user's time stepping"
            )
        self.task, self.dt = task, task.dt
        self.model = model = pin.buildModelFromUrdf(task.urdf, pin.JointModelFreeFlyer())
        model.gravity.linear = task.gravity
        self.data = model.createData()
        self.q_at = [model.joints[model.getJointId(name)].idx_q for name in task.joints]
        self.v_at = [model.joints[model.getJointId(name)].idx_v for name in task.joints]
        self.joint, self.at = [], []
        for body, place in zip(task.sphere_body, task.at, strict=True):
            frame = model.frames[model.getFrameId(body)]
            self.joint.append(frame.parentJoint)
            self.at.append(frame.placement.act(place))
        self.q, self.v = pin.neutral(model), np.zeros(model.nv)
        self.q[:7] = task.qpos[[0, 1, 2, 4, 5, 6, 3]]
        self.v[:6] = [*(to_matrix(task.qpos[3:7]).T @ task.qvel[:3]), *task.qvel[3:6]]
        self.q[self.q_at], self.v[self.v_at] = task.qpos[7:], task.qvel[6:]
        self.mass = pin.computeTotalMass(model)
        kind = task.settings.get("solver", "ADMM")
        self.solver = getattr(pin, f"{kind}ConstraintSolver")()
        self.new_result, self.settings = getattr(pin, f"{kind}SolverResult"), getattr(pin, f"{kind}SolverSettings")()
        if "tolerance" in task.settings:
            for name in ("absolute", "relative"):
                setattr(self.settings, f"{name}_feasibility_tol", task.settings["tolerance"])
                setattr(self.settings, f"{name}_complementarity_tol", task.settings["tolerance"])
        self.found, self.near, self.result = [], None, None

    def step(self, torque, pull):
        model, data, dt = self.model, self.data, self.dt
        pin.computeAllTerms(model, data, self.q, self.v)
        inertia = np.triu(data.M) + np.triu(data.M, 1).T
        force = -data.nle
        force[self.v_at] += torque
        if pull.any():
            inside = data.oMi[1].rotation.T @ pull
            force[:6] += [*inside, *np.cross(model.inertias[1].lever, inside)]
        # The base's velocity is in its own turning frame; it goes on along the world's.
        free = self.v + dt * np.linalg.solve(inertia, force)
        free[:3] += dt * np.cross(self.v[3:6], self.v[:3])
        centres = [data.oMi[j].act(at) for j, at in zip(self.joint, self.at, strict=True)]
        gaps = np.array(centres)[:, 2] - self.task.radius
        near = [i for i, gap in enumerate(gaps) if gap < 0.01]
        self.found = []
        if near:
            rows = []
            for i in near:
                jacobian = pin.getJointJacobian(model, data, self.joint[i], pin.LOCAL_WORLD_ALIGNED)
                arm = centres[i] - [0.0, 0.0, self.task.radius[i]] - data.oMi[self.joint[i]].translation
                rows.append(jacobian[:3] - pin.skew(arm) @ jacobian[3:])
            together = np.vstack(rows)
            spread = np.linalg.solve(inertia, together.T)
            drift = together @ free
            drift[2::3] += gaps[near] / dt
            if near != self.near:
                self.cones, self.inner = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
                for _ in near:
                    cone = pin.PointContactConstraintModel(model, 0)
                    cone.setFriction(self.task.friction)
                    self.cones.append(pin.ConstraintModel(cone))
                    self.inner.append(pin.ConstraintData(cone.createData()))
                self.near, self.result = near, self.new_result()
            delassus = pin.DelassusOperatorDense(together @ spread)
            self.solver.solve(delassus, drift, self.cones, self.inner, self.settings, self.result)
            impulse = np.array(self.result.retrieveConstraintImpulses())
            free = free + spread @ impulse
            for k, i in enumerate(near):
                if impulse[3 * k : 3 * k + 3].any():
                    place = centres[i] - [0.0, 0.0, self.task.radius[i]]
                    self.found.append((i, place, impulse[3 * k : 3 * k + 3] / dt))
        turned, moved = data.oMi[1].rotation, data.oMi[1].rotation @ free[:3]
        place = self.q[:3] + dt * moved
        self.q = pin.integrate(model, self.q, dt * free)
        self.q[:3] = place
        self.v = free
        self.v[:3] = pin.exp3(dt * free[3:6]).T @ turned.T @ moved

    def state(self):
        turn = self.q[[6, 3, 4, 5]]
        return (
            np.array([*self.q[:3], *turn, *self.q[self.q_at]]),
            np.array([*(to_matrix(turn) @ self.v[:3]), *self.v[3:6], *self.v[self.v_at]]),
        )

    def contacts(self):
        return self.found
