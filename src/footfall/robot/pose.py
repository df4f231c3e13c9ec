"""The standing pose: chosen, moved into the joints' limits, and set down on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from footfall.errors import RobotError, did_you_mean, warn
from footfall.given_numbers import is_number
from footfall.robot.feet import Foot
from footfall.robot.model import AT_JOINT, FREE, HINGE, SLIDE, TOLD, height_of_root, some

STANDING_KEYS = ("home", "stand", "standing")
BEYOND = 1e-6  # rad or m, largest distance of a pose outside a joint's range that is a rounding error


def standing_pose(model: mujoco.MjModel, pose: Any = None, name: str = "") -> tuple[np.ndarray, np.ndarray]:
    """The pose to stand in, (nq,), inside the joints' limits, and the controls that go with it, (nu,).

    ``pose`` is a keyframe's name, (nq,) numbers, {joint: rad or m} on top of the default pose, or None for the default:
    the keyframe 'home' or 'stand', else the first one, else the model's zero pose.
    """
    keys = [model.key(k).name for k in range(model.nkey)]
    qpos, ctrl, key = model.qpos0.copy(), np.zeros(model.nu), None
    if isinstance(pose, str):
        if pose not in keys:
            known = did_you_mean(pose, [key for key in keys if key]) if any(keys) else "the model has no keyframe"
            raise RobotError(f"robot '{name}' has no keyframe '{pose}': {known}")
        key = keys.index(pose)
    elif model.nkey and (pose is None or isinstance(pose, Mapping)):
        key = next((keys.index(wanted) for wanted in STANDING_KEYS if wanted in keys), 0)
        if keys[key] not in STANDING_KEYS and model.nkey > 1:
            first = f"'{keys[0]}'" if keys[0] else "which has no name"
            others = some([f"'{one}'" for one in keys[1:] if one])
            warn(
                f"robot '{name}' begins in the first of its {model.nkey} keyframes, {first}, as none is called "
                f"{', '.join(map(repr, STANDING_KEYS))}: pose= or --pose sets another{f' ({others})' if others else ''}"
            )
    if key is not None:
        qpos, ctrl = model.key_qpos[key].copy(), model.key_ctrl[key].copy()
    if isinstance(pose, Mapping):
        _set_joints(model, qpos, pose, name)
        ctrl[:] = 0.0
    elif pose is not None and not isinstance(pose, str):
        qpos = _numbers(model, pose, name)
    moved = _into_limits(model, qpos, name)
    given = ctrl.any()
    for i in range(model.nu):
        joint = int(model.actuator_trnid[i, 0])
        servo = model.actuator_biasprm[i, 1] != 0 and model.actuator_trntype[i] in AT_JOINT
        if servo and model.jnt_type[joint] in (HINGE, SLIDE) and (joint in moved or not given):
            ctrl[i] = qpos[model.jnt_qposadr[joint]] * model.actuator_gear[i, 0]
    return qpos, ctrl


def _set_joints(model: mujoco.MjModel, qpos: np.ndarray, pose: Mapping[str, Any], name: str) -> None:
    single = [model.joint(j).name for j in range(model.njnt) if model.jnt_type[j] in (HINGE, SLIDE)]
    for joint, value in pose.items():
        if joint not in single:
            raise RobotError(f"robot '{name}' has no hinge or slide '{joint}': {did_you_mean(joint, single)}")
        if not is_number(value):
            raise RobotError(f"pose of joint '{joint}' must be a number, got {value!r}")
        qpos[model.jnt_qposadr[model.joint(joint).id]] = float(value)


def _numbers(model: mujoco.MjModel, pose: Any, name: str) -> np.ndarray:
    try:
        qpos = np.array(pose, dtype=float)
    except (TypeError, ValueError):
        qpos = np.empty(0)
    if qpos.shape != (model.nq,) or not np.isfinite(qpos).all():
        raise RobotError(
            f"pose of robot '{name}' must be a keyframe's name, {{joint: value}} or {model.nq} numbers "
            f"(qpos, m and rad), got {np.size(pose)}"
        )
    mujoco.mj_normalizeQuat(model, qpos)
    return qpos


def _into_limits(model: mujoco.MjModel, qpos: np.ndarray, name: str) -> set[int]:
    """Move hinges and slides outside their ranges to the nearest end, with a warning; returns their ids."""
    limited = np.flatnonzero(model.jnt_limited & np.isin(model.jnt_type, (HINGE, SLIDE)))
    at = model.jnt_qposadr[limited]
    inside = np.clip(qpos[at], *model.jnt_range[limited].T)
    off = np.abs(inside - qpos[at])
    far = [
        f"{model.joint(j).name or j} from {qpos[a]:.4g} to {new:.4g}"
        for j, a, new, d in zip(limited, at, inside, off, strict=True)
        if d > BEYOND
    ]
    if far:
        warn(
            f"the standing pose of robot '{name}' lies outside the limits of {len(far)} joint"
            f"{'s' if len(far) > 1 else ''} and was moved in: {some(far)} (rad or m)"
        )
    qpos[at] = np.where(off > BEYOND, inside, qpos[at])
    return {int(j) for j in limited[off > BEYOND]}


def set_down(
    model: mujoco.MjModel, pose: np.ndarray, feet: tuple[Foot, ...], space: mujoco.MjData | None = None
) -> np.ndarray:
    """The pose moved vertically, if its root can move so, until the lowest contact point of each robot in the model is
    at z = 0. ``space`` is scratch data of the model.
    """
    pose, data = np.array(pose), mujoco.MjData(model) if space is None else space
    roots = [int(model.body_rootid[model.body(foot.body).id]) for foot in feet]
    for root in dict.fromkeys(roots):
        own = [foot for foot, its in zip(feet, roots, strict=True) if its == root]
        height = height_of_root(model, root)
        if height is not None:
            _lower(data, pose, own, *height)
    return pose


def _lower(data: mujoco.MjData, pose: np.ndarray, feet: list[Foot], index: int, sign: float) -> None:
    """Move coordinate ``index`` of a pose, upwards by ``sign``, so that the lowest point of these feet is at z = 0."""
    bodies = [(foot, data.body(foot.body)) for foot in feet]
    for _ in range(2):  # the second pass removes the rounding error of the first
        data.qpos[:] = pose
        mujoco.mj_kinematics(data.model, data)
        pose[index] -= sign * min(
            float(np.min(foot.lowest(body.xmat.reshape(3, 3)))) + body.xpos[2] for foot, body in bodies
        )


def warn_of_fixed_root(model: mujoco.MjModel, home: np.ndarray, feet: tuple[Foot, ...], name: str) -> None:
    """Warn of a robot whose root has no free joint or slide, so that it can neither rise nor sink; and of one whose
    feet begin in the ground z = 0, from where nothing could lift them.
    """
    root = int(model.body_rootid[model.body(feet[0].body).id])
    joints = range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root])
    body, (deepest, depth) = model.body(root).name, _deepest(posed(model, home), feet)
    sunk = f"'{deepest}' begins {1e3 * depth:.3g} mm deep in the ground, and is pressed into it" if depth > TOLD else ""
    if not any(model.jnt_type[joint] in (FREE, SLIDE) for joint in joints):
        warn(
            f"body '{body}', which robot '{name}' hangs on, is held in the world: it can neither fall nor be set down; "
            f"{f'{sunk}; ' if sunk else ''}a <freejoint/> in '{body}', or in a URDF no link called world above it, "
            f"lets it stand"
        )
    elif sunk:
        warn(f"no joint of robot '{name}' can lift it: {sunk}; raise it in its model, or give '{body}' a <freejoint/>")


def _deepest(data: mujoco.MjData, feet: tuple[Foot, ...]) -> tuple[str, float]:
    """The foot that is deepest below z = 0, and how deep it is there, m."""
    depths = {}
    for foot in feet:
        body = data.body(foot.body)
        depths[foot.body] = -float(np.min(foot.lowest(body.xmat.reshape(3, 3)))) - float(body.xpos[2])
    deepest = max(depths, key=lambda body: depths[body])
    return deepest, depths[deepest]


def warn_of_dragged_root(model: mujoco.MjModel, feet: tuple[Foot, ...], name: str) -> None:
    """Warn of a free joint with damping, friction or armature, usually from a default meant for other joints."""
    root = int(model.body_rootid[model.body(feet[0].body).id])
    dofs = np.arange(model.body_dofadr[root], model.body_dofadr[root] + model.body_dofnum[root])
    free = dofs[model.jnt_type[model.dof_jntid[dofs]] == FREE]
    given = {"damping": model.dof_damping, "friction": model.dof_frictionloss, "armature": model.dof_armature}
    has = [what for what, values in given.items() if values[free].any()]
    if has:
        warn(
            f"the free joint of robot '{name}' has {' and '.join(has)}, and so the world drags at its base: "
            f"written as <freejoint/> it takes no defaults of other joints"
        )


def posed(model: mujoco.MjModel, pose: np.ndarray) -> mujoco.MjData:
    """The model in that pose, with its kinematics computed."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    return data
