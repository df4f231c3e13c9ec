"""A robot's kinematic tree as constant arrays, and the variables of one world."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import mujoco
import numpy as np

from footfall.engine.stages import damping_servos
from footfall.errors import SimulationError
from footfall.kinds import Ints, Matrix, Vector
from footfall.robot.model import AT_JOINT, BALL, HINGE, SLIDE


class Tree(NamedTuple):
    """The constant arrays of bodies (the world is the first), joints, dofs and actuators. Names are MuJoCo's."""

    gravity: Vector  # (3,) m/s2
    body_parentid: Ints  # (nbody,)
    body_tree: Ints  # (nbody,) row of the body's tree in ``subtree_com``
    body_pos: Matrix  # (nbody, 3) m
    body_quat: Matrix  # (nbody, 4)
    body_ipos: Matrix  # (nbody, 3) m
    body_imat: Matrix  # (nbody, 9) body frame from the frame of principal axes
    body_jntnum: Ints  # (nbody,)
    jnt_type: Ints  # (njnt,)
    jnt_bodyid: Ints  # (njnt,)
    jnt_pos: Matrix  # (njnt, 3) m
    jnt_axis: Matrix  # (njnt, 3)
    jnt_qposadr: Ints  # (njnt,)
    jnt_dofadr: Ints  # (njnt,)
    jnt_stiffness: Vector  # (njnt,) N/m or N m/rad
    qpos0: Vector  # (nq,)
    qpos_spring: Vector  # (nq,)
    dof_bodyid: Ints  # (nv,)
    dof_armature: Vector  # (nv,) kg or kg m2
    dof_M0: Vector  # (nv,) kg or kg m2, diagonal of the inertia at home
    dof_damping: Vector  # (nv,) N s/m or N m s/rad
    dof_force: Matrix  # (nv, 2) N or N m, least and most that all actuators together may give
    M_rowadr: Ints  # (nv,)
    M_rownnz: Ints  # (nv,)
    M_colind: Ints  # (nM,)
    actuator_qpos: Ints  # (nu,) address of the joint's coordinate
    actuator_dof: Ints  # (nu,)
    actuator_gear: Vector  # (nu,)
    actuator_gain: Matrix  # (nu, 3) force per control: constant, per length, per velocity
    actuator_bias: Matrix  # (nu, 3) force without control: constant, per length, per velocity
    actuator_range: Matrix  # (nu, 4) least and most control, least and most force
    servo: Ints  # (S,) actuators whose damping acts on the velocity at the end of a step
    servo_damping: Vector  # (S,) N s/m or N m s/rad, at the joint
    servo_limit: Matrix  # (S, 4), see :class:`footfall.engine.stages.Servos`


class Bodies(NamedTuple):
    """The variables of one world with T trees; world frame; spatial vectors about the tree's centre of mass."""

    body_mass: Annotated[Vector, "nbody"]  # kg; not in ``Tree``, since worlds may differ in it
    body_inertia: Annotated[Matrix, "nbody", 3]  # kg m2
    qpos: Annotated[Vector, "nq"]
    qvel: Annotated[Vector, "nv"]
    ctrl: Annotated[Vector, "nu"]
    xpos: Annotated[Matrix, "nbody", 3]  # m
    xquat: Annotated[Matrix, "nbody", 4]
    xmat: Annotated[Matrix, "nbody", 9]
    xipos: Annotated[Matrix, "nbody", 3]  # m
    xanchor: Annotated[Matrix, "njnt", 3]  # m
    xaxis: Annotated[Matrix, "njnt", 3]
    subtree_com: Annotated[Matrix, "T", 3]  # m
    cinert: Annotated[Matrix, "nbody", 10]  # inertia about the tree's centre of mass: 6, mass times offset: 3, mass
    cdof: Annotated[Matrix, "nv", 6]
    cdof_dot: Annotated[Matrix, "nv", 6]
    cvel: Annotated[Matrix, "nbody", 6]
    cacc: Annotated[Matrix, "nbody", 6]
    cfrc: Annotated[Matrix, "nbody", 6]
    qLD: Annotated[Vector, "nM"]  # the inertia, then its factors
    qLDiagInv: Annotated[Vector, "nv"]
    qfrc_smooth: Annotated[Vector, "nv"]  # N or N m, all generalised forces but those of contacts
    qacc: Annotated[Vector, "nv"]  # m/s2 or rad/s2


def body_lengths(model: mujoco.MjModel, tree: Tree) -> dict[str, int]:
    """The lengths of the arrays of :class:`Bodies` by name."""
    sizes = {name: getattr(model, name) for name in ("nbody", "nq", "nv", "nu", "njnt")}
    return sizes | {"T": int(tree.body_tree.max()) + 1, "nM": len(model.M_colind)}


def make_tree(model: mujoco.MjModel) -> Tree:
    """The arrays of a model, or an error that names a feature that these kernels do not support."""
    refused = unsupported(model)
    if refused:
        raise SimulationError(f"many worlds at once do not compute {refused}")
    roots = np.unique(model.body_rootid)
    joint = model.actuator_trnid[:, 0]
    unlimited = np.array([-np.inf, np.inf])
    of_joint = np.where(model.jnt_actfrclimited[:, None], model.jnt_actfrcrange, unlimited)
    controls = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, unlimited)
    forces = np.where(model.actuator_forcelimited[:, None], model.actuator_forcerange, unlimited)
    # A constant gain or bias uses its first number only.
    gain, bias = model.actuator_gainprm[:, :3].copy(), model.actuator_biasprm[:, :3].copy()
    gain[model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
    bias[model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_NONE)] = 0.0
    principal = np.zeros((model.nbody, 9))
    for row, quaternion in zip(principal, model.body_iquat, strict=True):
        mujoco.mju_quat2Mat(row, quaternion)
    servos = damping_servos(model)
    own = {
        "gravity": model.opt.gravity,
        "body_tree": np.searchsorted(roots, model.body_rootid),
        "body_imat": principal,
        "jnt_stiffness": model.jnt_stiffness.reshape(model.njnt, -1)[:, 0],
        "dof_damping": model.dof_damping.reshape(model.nv, -1)[:, 0],
        "dof_force": of_joint[model.dof_jntid],
        "actuator_qpos": model.jnt_qposadr[joint],
        "actuator_dof": model.jnt_dofadr[joint],
        "actuator_gear": model.actuator_gear[:, 0],
        "actuator_gain": gain,
        "actuator_bias": bias,
        "actuator_range": np.concatenate([controls, forces], axis=1),
        "servo": servos.actuator,
        "servo_damping": servos.damping,
        "servo_limit": servos.limit,
    }
    arrays = (own[name] if name in own else getattr(model, name) for name in Tree._fields)
    return Tree(*(np.array(one, dtype=np.int64 if one.dtype.kind == "i" else float, order="C") for one in arrays))


def unsupported(model: mujoco.MjModel) -> str:
    """A feature of a model that these kernels do not support, in words; "" if they support all."""
    at_joint = np.isin(model.actuator_trntype, AT_JOINT)
    joint = model.actuator_trnid[at_joint, 0]
    plain_gain = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))
    plain_bias = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
    bits = mujoco.mjtDisableBit
    switches = [bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER, bits.mjDSBL_GRAVITY, bits.mjDSBL_CLAMPCTRL]
    switches.append(bits.mjDSBL_ACTUATION)  # damping of joints is implicit in any case
    features = {
        "tendons": model.ntendon,
        "equality constraints and loops": model.eq_active0.any(),
        "limits of ball joints": model.jnt_limited[model.jnt_type == BALL].any(),
        "flexes": model.nflex,
        "plugins": model.nplugin,
        "mocap bodies": model.nmocap,
        "actuators that are not on a joint": not at_joint.all(),
        "actuators on ball or free joints": not np.isin(model.jnt_type[joint], (SLIDE, HINGE)).all(),
        "actuators with dynamics of their own": model.na or model.nhistory,
        "actuators that are neither motors nor servos": not (
            np.isin(model.actuator_gaintype, plain_gain).all() and np.isin(model.actuator_biastype, plain_bias).all()
        ),
        "actuators of several controls": (model.actuator_ctrlnum != 1).any() or (model.actuator_outnum != 1).any(),
        "armature or damping of actuators": model.actuator_armature.any() or model.actuator_damping.any(),
        "springs or dampers that are not linear": (
            model.jnt_stiffnesspoly.any() or model.dof_dampingpoly.any() or (model.jnt_plasticadr >= 0).any()
        ),
        "compensation of gravity in bodies": model.body_gravcomp.any(),
        "air or water around the robot": model.opt.density or model.opt.viscosity,
        "models that switch off a part of the dynamics": model.opt.disableflags & sum(int(bit) for bit in switches),
    }
    return next((words for words, present in features.items() if present), "")
