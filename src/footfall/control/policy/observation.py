"""The observations of many worlds at once, from their coordinates: rows are worlds.

Arrays are NumPy's, or PyTorch's on any device: the functions use only what both have under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.control.policy.contract import PARTS, Contract, Part, per_joint
from footfall.errors import ControllerError, did_you_mean
from footfall.ground import Ground
from footfall.logs.meaning import scalar_joints
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.standing import at_home


class Seen(NamedTuple):
    """What there is to observe, a row for each world; ``action`` and what follows is of the policy itself."""

    qpos: Any  # (W, nq)
    qvel: Any  # (W, nv)
    touch: Any  # (W, feet) 1 where a foot touches, else 0
    force: Any  # (W, 3 feet) N, world frame
    action: Any  # (W, actions) the last
    command: Any  # (W, commands)
    phase: Any  # (W, phases) rad


@dataclass(frozen=True, eq=False)
class Layout:
    """A contract put on a robot: which joints and actuators it means, and how large its observations are.

    Attributes:
        contract, robot: these.
        joints: (n,) numbers of the joints that are observed.
        actuators: (m,) numbers of the actuators, in the order of actions.
        driven: (m,) which of ``joints`` each of them drives.
        names: of the joints that actions drive.
        pose: (n,) rad or m, of ``joints``.
        sizes: numbers of each part, before histories.
    """

    contract: Contract
    robot: Robot
    joints: np.ndarray
    actuators: np.ndarray
    driven: np.ndarray
    names: tuple[str, ...]
    pose: np.ndarray
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """Numbers of an observation."""
        each = sum(size * part.history for size, part in zip(self.sizes, self.contract.parts, strict=True))
        return each * self.contract.history

    def __str__(self) -> str:
        parts = zip(self.contract.parts, self.sizes, strict=True)
        listed = ", ".join(f"{part.part} {size * part.history}" for part, size in parts)
        times = f", {self.contract.history} times" if self.contract.history > 1 else ""
        return f"{self.size} ({listed}{times})"


def lay_out(contract: Contract, robot: Robot) -> Layout:
    """A contract on a robot; what does not fit is refused."""
    model, where = robot.model, f"contract '{contract.name}' on {robot.name}"
    if contract.by_part and contract.history > 1:
        contract = replace(contract, history=1).stacked(contract.history)
    if model.nq < 7 or model.jnt_type[0] != FREE:
        raise ControllerError(f"{where}: a policy needs a robot whose base is free, with a free joint first")
    if not model.nu or (model.actuator_trntype != int(mujoco.mjtTrn.mjTRN_JOINT)).any():
        raise ControllerError(f"{where}: a policy needs actuators that act on joints, and on nothing else")
    driven = [int(joint) for joint in model.actuator_trnid[:, 0]]
    joints = _joints(contract, robot, driven, where)
    order = driven if contract.joints == "model" else [joint for joint in joints if joint in driven]
    if missing := [robot.joint_names[joint] for joint in order if joint not in joints]:
        raise ControllerError(f"{where}: its joints leave out {missing[0]}, which actions drive")
    counts = {
        "joint": len(joints),
        "action": len(order),
        "command": len(contract.command.default),
        "phase": 0 if contract.clock is None else len(contract.clock.phases),
        "foot": len(robot.feet),
        "foot force": 3 * len(robot.feet),
    }
    return Layout(
        contract=contract,
        robot=robot,
        joints=np.array(joints),
        actuators=np.array([driven.index(joint) for joint in order]),
        driven=np.array([joints.index(joint) for joint in order]),
        names=tuple(robot.joint_names[joint] for joint in order),
        pose=_pose(contract, robot, joints, where),
        sizes=tuple(_size(part, counts) for part in contract.parts),
    )


def _joints(contract: Contract, robot: Robot, driven: Sequence[int], where: str) -> list[int]:
    """The joints in the order of the contract."""
    names = list(robot.joint_names)
    if contract.joints == "actuators":
        return list(driven)
    if contract.joints == "model":
        return scalar_joints(robot)
    if contract.joints == "breadth-first":
        return [joint for joint in _breadth_first(robot) if joint in driven]
    if isinstance(contract.joints, str):
        raise ControllerError(f"{where}: joints = '{contract.joints}', but it must be actuators, model, breadth-first")
    for name in map(str, contract.joints):
        if name not in names:
            raise ControllerError(f"{where}: no joint is called '{name}': {did_you_mean(name, names)}")
    return [names.index(str(name)) for name in contract.joints]


def _breadth_first(robot: Robot) -> list[int]:
    """All joints, link by link from the base outward, links of one parent by their joints' names, as Isaac Sim does."""
    model, names = robot.model, robot.joint_names

    def own(body: int) -> list[int]:
        return [int(joint) for joint in np.flatnonzero(model.jnt_bodyid == body)]

    def name(body: int) -> str:
        return names[own(body)[0]] if own(body) else model.body(body).name

    found, links = [], [int(model.jnt_bodyid[0])]
    while links:
        children = [[b for b in range(1, model.nbody) if model.body_parentid[b] == link] for link in links]
        links = [body for some in children for body in sorted(some, key=name)]
        found += [joint for body in links for joint in own(body)]
    return found


def _pose(contract: Contract, robot: Robot, joints: list[int], where: str) -> np.ndarray:
    """(n,) angles of the joints in the contract's pose; home where it names none that the model has."""
    model = robot.model
    pose = (contract.pose,) if isinstance(contract.pose, str) else contract.pose
    if pose and not (isinstance(pose, tuple) and all(isinstance(one, str) for one in pose)):
        return per_joint(pose, [robot.joint_names[joint] for joint in joints], f"{where}: pose")
    keys = {model.key(k).name: model.key(k).qpos for k in range(model.nkey)}
    qpos = next((keys[name] for name in pose if name in keys), robot.home)
    return qpos[model.jnt_qposadr[joints]].copy()


def _size(part: Part, counts: dict[str, int]) -> int:
    kind = PARTS[part.part]
    if part.take:
        return len(part.take)
    if kind == "height":
        return len(_grid(part))
    return kind if isinstance(kind, int) else counts[kind]


def _grid(part: Part) -> np.ndarray:
    """(n, 2) m, places of a scan around the base, x first as the scanners of Isaac Lab and mjlab count."""
    length, width, apart = part.grid
    along, across = (np.arange(-0.5 * one, 0.5 * one + 1e-9, apart) for one in (length, width))
    y, x = np.meshgrid(across, along, indexing="ij")
    return np.column_stack([x.ravel(), y.ravel()])


def namespace(array: Any) -> Any:
    """The module whose functions take this array: NumPy or PyTorch."""
    if isinstance(array, np.ndarray):
        return np
    import torch

    return torch


def turned_back(quaternion: Any, vector: Any) -> Any:
    """Vectors (W, 3) in the frames that quaternions (W, 4) turn into the world, or (4,) one for all."""
    xp = namespace(vector)
    w, axis = quaternion[..., :1], quaternion[..., 1:]
    axis = axis + xp.zeros_like(vector)
    twice = 2.0 * xp.linalg.cross(vector, axis)
    return vector + w * twice + xp.linalg.cross(twice, axis)


class Frame:
    """A site or body that does not move on the base: its velocity, angular velocity and attitude."""

    def __init__(self, robot: Robot, wanted: Sequence[str], like: Any, where: str) -> None:
        model, data = robot.model, at_home(robot)
        base = int(model.jnt_bodyid[0])
        xpos, xmat = data.xpos[base], data.xmat[base].reshape(3, 3)
        places = {model.body(i).name: (i, data.xpos[i], data.xmat[i]) for i in range(1, model.nbody)}
        sites = [(model.site(i).name, int(model.site_bodyid[i]), i) for i in range(model.nsite)]
        places |= {name: (body, data.site_xpos[i], data.site_xmat[i]) for name, body, i in sites}
        places |= {"base": (base, xpos, data.xmat[base]), "base-com": (base, data.xipos[base], data.xmat[base])}
        found = next((name for name in wanted if name in places), None)
        if found is None:
            raise ControllerError(f"{where}: {robot.name} has no site or body called {' or '.join(wanted)}")
        body, place, axes = places[found]
        if model.body_weldid[body] != model.body_weldid[base]:
            raise ControllerError(f"{where}: '{found}' is not fixed to the base of {robot.name}")
        turn, xp = np.zeros(4), namespace(like)
        mujoco.mju_mat2Quat(turn, (xmat.T @ axes.reshape(3, 3)).ravel())
        self.place, self.turn = (
            xp.asarray(values, dtype=like.dtype, device=like.device) for values in (xmat.T @ (place - xpos), turn)
        )

    def motion(self, qpos: Any, qvel: Any) -> tuple[Any, Any, Any]:
        """(W, 3) each: velocity m/s, angular velocity rad/s and the direction of gravity, in the frame."""
        xp = namespace(qpos)
        attitude, w = qpos[:, 3:7], qvel[:, 3:6]
        down = xp.zeros_like(w)
        down[:, 2] = -1.0
        v = turned_back(attitude, qvel[:, :3]) + xp.linalg.cross(w, self.place + xp.zeros_like(w))
        return turned_back(self.turn, v), turned_back(self.turn, w), turned_back(self.turn, turned_back(attitude, down))


class Observer:
    """Observations of a layout, for arrays that are as ``like`` is (its kind, type and device)."""

    def __init__(self, layout: Layout, grounds: Sequence[Ground], like: Any) -> None:
        robot, contract = layout.robot, layout.contract
        where = f"contract '{contract.name}'"
        self.layout, self.grounds = layout, grounds
        self.level = all(ground.kind == "plane" for ground in grounds)
        xp = namespace(like)
        joints = layout.joints
        self.angles, self.speeds = robot.model.jnt_qposadr[joints].tolist(), robot.model.jnt_dofadr[joints].tolist()
        frames = {part.frame: None for part in contract.parts}
        self.frames = {wanted: Frame(robot, wanted, like, where) for wanted in frames}
        self.constant: Callable[[Any], Any] = lambda values: xp.asarray(
            np.asarray(values, dtype=float), dtype=like.dtype, device=like.device
        )
        self.pose, self.scales = self.constant(layout.pose), []
        for part, size in zip(contract.parts, layout.sizes, strict=True):
            of_joints = part.part.startswith("joint")
            names = [robot.joint_names[j] for j in joints] if of_joints else [str(k) for k in range(size)]
            self.scales.append(self.constant(per_joint(part.scale, names, "scale")))
        self.grids = {part: self.constant(_grid(part)) for part in contract.parts if part.part == "heights"}

    def raw(self, seen: Seen) -> list[Any]:
        """The parts in the units of their sensors, before scales and histories, (W, size) each."""
        motions = {name: frame.motion(seen.qpos, seen.qvel) for name, frame in self.frames.items()}
        found = []
        for part in self.layout.contract.parts:
            values = self._values(part, motions[part.frame], seen)
            found.append(values[:, list(part.take)] if part.take else values)
        return found

    def _values(self, part: Part, motion: tuple[Any, Any, Any], seen: Seen) -> Any:
        xp = namespace(seen.qpos)
        known: dict[str, Callable[[], Any]] = {
            "velocity": lambda: motion[0],
            "gyro": lambda: motion[1],
            "gravity": lambda: motion[2],
            "orientation": lambda: seen.qpos[:, 3:7],
            "height": lambda: self._height(seen.qpos[:, :1], seen.qpos[:, 1:2], seen.qpos[:, 2:3]),
            "joints": lambda: seen.qpos[:, self.angles] - self.pose,
            "joint-speeds": lambda: seen.qvel[:, self.speeds],
            "last-action": lambda: seen.action,
            "command": lambda: seen.command,
            "phase-cos": lambda: xp.cos(seen.phase),
            "phase-sin": lambda: xp.sin(seen.phase),
            "contacts": lambda: seen.touch,
            "forces": lambda: seen.force,
            "heights": lambda: self._scan(self.grids[part], seen.qpos),
        }
        return known[part.part]()

    def scaled(self, raw: Sequence[Any]) -> list[Any]:
        """The parts as the policy sees them."""
        parts = zip(raw, self.layout.contract.parts, self.scales, strict=True)
        scaled = [((values - part.offset) * scale, part.clip) for values, part, scale in parts]
        return [values if clip == np.inf else values.clip(-clip, clip) for values, clip in scaled]

    def _height(self, x: Any, y: Any, z: Any) -> Any:
        """(W, n) m, of the base over the ground at places x and y."""
        if self.level:
            return z + 0.0 * x
        if not isinstance(z, np.ndarray):
            raise ControllerError("heights over uneven ground are not observed on a GPU")
        return z - np.stack([ground.height(x[w], y[w]) for w, ground in enumerate(self.grounds)])

    def _scan(self, grid: Any, qpos: Any) -> Any:
        """(W, n) m, of the base over places around it, which turn with its heading."""
        xp = namespace(qpos)
        w, x, y, z = (qpos[:, i : i + 1] for i in range(3, 7))
        yaw = xp.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        along, across = grid[:, 0], grid[:, 1]
        there_x = qpos[:, :1] + xp.cos(yaw) * along - xp.sin(yaw) * across
        there_y = qpos[:, 1:2] + xp.sin(yaw) * along + xp.cos(yaw) * across
        return self._height(there_x, there_y, qpos[:, 2:3])
