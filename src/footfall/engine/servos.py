"""Servos with implicit damping, like that of joints.

Models whose integrator is MuJoCo's implicit or implicitfast ask for it: damping that would end a motion within a step
is then stable. At the limits of its force a servo does not damp. Where the control sets the damping (a gain that
depends on velocity), or a tendon or site transmits it, damping is explicit.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.robot.model import AT_JOINT, HINGE, IMPLICIT, SLIDE


class Servos(NamedTuple):
    """S servos with damping, on hinges and slides."""

    actuator: np.ndarray  # (S,)
    dof: np.ndarray  # (S,)
    damping: np.ndarray  # (S,) N s/m or N m s/rad, at the joint
    limit: np.ndarray  # (S, 4) N or N m, least and most force of the servo, and of all actuators at its joint


def damping_servos(model: mujoco.MjModel) -> Servos:
    """Servos of a model that wants their damping in the implicit part of a step; none of any other."""
    affine = model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    at_joint = np.isin(model.actuator_trntype, AT_JOINT)
    kind = model.jnt_type[np.where(at_joint, model.actuator_trnid[:, 0], 0)] if model.njnt else np.zeros(model.nu)
    wanted = affine & at_joint & np.isin(kind, (HINGE, SLIDE)) & (model.actuator_biasprm[:, 2] != 0.0)
    if int(model.opt.integrator) not in IMPLICIT or (model.actuator_outnum != 1).any():  # so forces go by actuator
        wanted[:] = False
    joint, gear = model.actuator_trnid[wanted, 0], model.actuator_gear[wanted, 0]
    unlimited = np.array([-np.inf, np.inf])
    force = np.where(model.actuator_forcelimited[wanted, None], model.actuator_forcerange[wanted], unlimited)
    of_joint = np.where(model.jnt_actfrclimited[joint, None], model.jnt_actfrcrange[joint], unlimited)
    return Servos(
        actuator=np.flatnonzero(wanted),
        dof=model.jnt_dofadr[joint].astype(np.int64),
        damping=-model.actuator_biasprm[wanted, 2] * gear**2,
        limit=np.concatenate([force, of_joint], axis=1),
    )


@inlined
def damps(limit, force, of_joint):
    """Whether a servo that gives such a force, with all actuators at its joint such another, is within its limits."""
    return limit[0] < force < limit[1] and limit[2] < of_joint < limit[3]
