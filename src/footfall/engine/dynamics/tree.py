"""A robot's kinematic tree as arrays, and what changes with time in one world."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.engine.stages import damping_servos
from footfall.errors import SimulationError
from footfall.kinds import Ints, Matrix, Vector
from footfall.robot.model import AT_JOINT, BALL, HINGE, SLIDE


class Tree(NamedTuple):
    """What does not change: n bodies with the world as the first, joints, dofs, actuators. Names are MuJoCo's."""

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
    """What changes: one world. T trees; world frame; spatial vectors about the tree's centre of mass."""

    body_mass: Vector  # (nbody,) kg; not the tree's, for worlds may differ in it
    body_inertia: Matrix  # (nbody, 3) kg m2
    qpos: Vector  # (nq,)
    qvel: Vector  # (nv,)
    ctrl: Vector  # (nu,)
    xpos: Matrix  # (nbody, 3) m
    xquat: Matrix  # (nbody, 4)
    xmat: Matrix  # (nbody, 9)
    xipos: Matrix  # (nbody, 3) m
    xanchor: Matrix  # (njnt, 3) m
    xaxis: Matrix  # (njnt, 3)
    subtree_com: Matrix  # (T, 3) m
    cinert: Matrix  # (nbody, 10) inertia about the centre of mass of the tree: 6, mass times offset: 3, mass
    cdof: Matrix  # (nv, 6)
    cdof_dot: Matrix  # (nv, 6)
    cvel: Matrix  # (nbody, 6)
    cacc: Matrix  # (nbody, 6)
    cfrc: Matrix  # (nbody, 6)
    qLD: Vector  # (nM,) the inertia, then its factors
    qLDiagInv: Vector  # (nv,)
    qfrc_smooth: Vector  # (nv,) N or N m, all generalised forces but those of contacts
    qacc: Vector  # (nv,) m/s2 or rad/s2


def bodies_shapes(model: mujoco.MjModel, trees: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of :class:`Bodies`."""
    nbody, nv, joints = model.nbody, model.nv, model.njnt
    return dict(
        body_mass=(nbody,),
        body_inertia=(nbody, 3),
        qpos=(model.nq,),
        qvel=(nv,),
        ctrl=(model.nu,),
        xpos=(nbody, 3),
        xquat=(nbody, 4),
        xmat=(nbody, 9),
        xipos=(nbody, 3),
        xanchor=(joints, 3),
        xaxis=(joints, 3),
        subtree_com=(trees, 3),
        cinert=(nbody, 10),
        cdof=(nv, 6),
        cdof_dot=(nv, 6),
        cvel=(nbody, 6),
        cacc=(nbody, 6),
        cfrc=(nbody, 6),
        qLD=(len(model.M_colind),),
        qLDiagInv=(nv,),
        qfrc_smooth=(nv,),
        qacc=(nv,),
    )


def make_tree(model: mujoco.MjModel) -> Tree:
    """The arrays of a model, or an error that names what of it these kernels do not compute."""
    refused = unsupported(model)
    if refused:
        raise SimulationError(f"many worlds at once do not compute {refused}")
    roots = np.unique(model.body_rootid)
    joint = model.actuator_trnid[:, 0]
    unlimited = np.array([-np.inf, np.inf])
    of_joint = np.where(model.jnt_actfrclimited[:, None], model.jnt_actfrcrange, unlimited)
    controls = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, unlimited)
    forces = np.where(model.actuator_forcelimited[:, None], model.actuator_forcerange, unlimited)
    # A constant gain or bias uses the first number only, whatever the others are.
    gain, bias = model.actuator_gainprm[:, :3].copy(), model.actuator_biasprm[:, :3].copy()
    gain[model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
    bias[model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_NONE)] = 0.0
    principal = np.zeros((model.nbody, 9))
    for row, quaternion in zip(principal, model.body_iquat, strict=True):
        mujoco.mju_quat2Mat(row, quaternion)

    servos = damping_servos(model)

    def integers(array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(array, dtype=np.int64)

    return Tree(
        gravity=np.array(model.opt.gravity),
        body_parentid=integers(model.body_parentid),
        body_tree=integers(np.searchsorted(roots, model.body_rootid)),
        body_pos=model.body_pos.copy(),
        body_quat=model.body_quat.copy(),
        body_ipos=model.body_ipos.copy(),
        body_imat=principal,
        body_jntnum=integers(model.body_jntnum),
        jnt_type=integers(model.jnt_type),
        jnt_bodyid=integers(model.jnt_bodyid),
        jnt_pos=model.jnt_pos.copy(),
        jnt_axis=model.jnt_axis.copy(),
        jnt_qposadr=integers(model.jnt_qposadr),
        jnt_dofadr=integers(model.jnt_dofadr),
        jnt_stiffness=model.jnt_stiffness.reshape(model.njnt, -1)[:, 0].copy(),
        qpos0=model.qpos0.copy(),
        qpos_spring=model.qpos_spring.copy(),
        dof_bodyid=integers(model.dof_bodyid),
        dof_armature=model.dof_armature.copy(),
        dof_damping=model.dof_damping.reshape(model.nv, -1)[:, 0].copy(),
        dof_force=np.ascontiguousarray(of_joint[model.dof_jntid]),
        M_rowadr=integers(model.M_rowadr),
        M_rownnz=integers(model.M_rownnz),
        M_colind=integers(model.M_colind),
        actuator_qpos=integers(model.jnt_qposadr[joint]),
        actuator_dof=integers(model.jnt_dofadr[joint]),
        actuator_gear=model.actuator_gear[:, 0].copy(),
        actuator_gain=gain,
        actuator_bias=bias,
        actuator_range=np.concatenate([controls, forces], axis=1),
        servo=servos.actuator,
        servo_damping=servos.damping,
        servo_limit=servos.limit,
    )


def tree_count(tree: Tree) -> int:
    """Rows of ``subtree_com``."""
    return int(tree.body_tree.max()) + 1


def unsupported(model: mujoco.MjModel) -> str:
    """What of a model these kernels do not compute, in words; "" if they compute all of it."""
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
