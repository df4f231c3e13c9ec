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
from footfall.robot import Robot
from footfall.robot.model import FREE, HINGE, SLIDE


class Seen(NamedTuple):
    """What there is to observe, a row for each world; ``action`` and what follows is of the policy itself."""

    qpos: Any  # (W, nq)
    qvel: Any  # (W, nv)
    touch: Any  # (W, feet) 1 where a foot touches, else 0
    force: Any  # (W, 3 feet) N, world frame
    action: Any  # (W, actions) the last
    target: Any  # (W, actions) rad or m, of the last
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
    if contract.joints == "model":
        order = driven
    else:
        order = [joint for joint in joints if joint in driven]
    missing = [robot.joint_names[joint] for joint in order if joint not in joints]
    if missing:
        raise ControllerError(f"{where}: its joints leave out {missing[0]}, which actions drive")
    names = tuple(robot.joint_names[joint] for joint in order)
    observed = [robot.joint_names[joint] for joint in joints]
    counts = {
        "joint": len(joints),
        "action": len(order),
        "command": len(contract.command.default),
        "phase": 0 if contract.clock is None else len(contract.clock.phases),
        "foot": len(robot.feet),
        "foot force": 3 * len(robot.feet),
    }
    sizes = tuple(_size(part, counts) for part in contract.parts)
    return Layout(
        contract=contract,
        robot=robot,
        joints=np.array(joints),
        actuators=np.array([driven.index(joint) for joint in order]),
        driven=np.array([joints.index(joint) for joint in order]),
        names=names,
        pose=_pose(contract, robot, joints, observed, where),
        sizes=sizes,
    )


def _joints(contract: Contract, robot: Robot, driven: Sequence[int], where: str) -> list[int]:
    """The joints in the order of the contract."""
    model, names = robot.model, list(robot.joint_names)
    moving = [j for j in range(model.njnt) if model.jnt_type[j] in (SLIDE, HINGE)]
    if contract.joints == "actuators":
        return list(driven)
    if contract.joints == "model":
        return moving
    if contract.joints == "breadth-first":
        return [joint for joint in _breadth_first(robot) if joint in driven]
    if isinstance(contract.joints, str):
        raise ControllerError(f"{where}: joints = '{contract.joints}', but it must be actuators, model, breadth-first")
    numbers = [one for one in contract.joints if isinstance(one, int)]
    if numbers and len(numbers) == len(contract.joints):
        return _by_number(numbers, driven, where)
    for name in map(str, contract.joints):
        if name not in names:
            raise ControllerError(f"{where}: no joint is called '{name}': {did_you_mean(name, names)}")
    return [names.index(str(name)) for name in contract.joints]


def _breadth_first(robot: Robot) -> list[int]:
    """All joints, link by link from the base outward, links of one parent by their joints' names, as Isaac Sim does."""
    model, names = robot.model, robot.joint_names

    def own(body: int) -> list[int]:
        first = int(model.body_jntadr[body])
        return list(range(first, first + int(model.body_jntnum[body])))

    def name(body: int) -> str:
        return names[own(body)[0]] if own(body) else model.body(body).name

    found, links = [], [int(model.jnt_bodyid[0])]
    while links:
        children = [[b for b in range(1, model.nbody) if model.body_parentid[b] == link] for link in links]
        links = [body for some in children for body in sorted(some, key=name)]
        found += [joint for body in links for joint in own(body)]
    return found


def _by_number(numbers: Sequence[int], driven: Sequence[int], where: str) -> list[int]:
    """The joints of actuators by their numbers; of a robot with fewer actuators, by the order of the numbers."""
    order = sorted(numbers)
    places = [order.index(one) for one in numbers] if len(numbers) == len(driven) else list(numbers)
    if len(order) != len(set(order)) or order[0] < 0 or max(places) >= len(driven):
        raise ControllerError(f"{where}: its joints are those of actuators up to {order[-1]}, of {len(driven)}")
    return [driven[place] for place in places]


def _pose(contract: Contract, robot: Robot, joints: list[int], names: Sequence[str], where: str) -> np.ndarray:
    """(n,) angles of the joints in the contract's pose; home where it names none that the model has."""
    model, pose = robot.model, contract.pose
    keys = [model.key(k).name for k in range(model.nkey)]
    qpos = robot.home
    if isinstance(pose, str) or (isinstance(pose, tuple) and pose and all(isinstance(one, str) for one in pose)):
        wanted = (pose,) if isinstance(pose, str) else pose
        found = next((key for key in wanted if key in keys), None)
        if found is not None:
            qpos = model.key(found).qpos
    elif pose:
        return per_joint(pose, names, f"{where}: pose")
    return qpos[model.jnt_qposadr[joints]].copy()


def _size(part: Part, counts: dict[str, int]) -> int:
    kind = PARTS[part.part]
    if part.take:
        return len(part.take)
    if kind == "height":
        return len(_grid(part))
    if kind == "value":
        return len(part.value)
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


class _Link(NamedTuple):
    """A body between the base and a frame: its place in its parent, and its joint."""

    place: Any  # (3,) m
    turn: Any  # (4,)
    joint: (
        tuple[int, int, float, Any, Any, bool] | None
    )  # addresses in qpos and qvel, qpos0, axis, anchor, if it slides


class Frame:
    """A body or site: its velocity, angular velocity and attitude, by the joints between it and the base."""

    def __init__(self, robot: Robot, wanted: Sequence[str], like: Any, where: str) -> None:
        model, xp = robot.model, namespace(like)
        sites = {model.site(i).name: i for i in range(model.nsite)}
        bodies = {model.body(i).name: i for i in range(1, model.nbody)}
        bases = ("base", "base-com")
        found = next((name for name in wanted if name in bases or name in sites or name in bodies), None)
        if found is None:
            raise ControllerError(f"{where}: {robot.name} has no site or body called {' or '.join(wanted)}")

        def constant(values: Any) -> Any:
            return xp.asarray(np.array(values, dtype=float), dtype=like.dtype, device=like.device)

        base = int(model.jnt_bodyid[0])
        self.links: list[_Link] = []
        body = base
        if found in sites:
            site = sites[found]
            body = int(model.site_bodyid[site])
            self.links.append(_Link(constant(model.site_pos[site]), constant(model.site_quat[site]), None))
        elif found == "base-com":
            self.links.append(_Link(constant(model.body_ipos[base]), constant((1.0, 0.0, 0.0, 0.0)), None))
        elif found != "base":
            body = bodies[found]
        while body != base:
            if body == 0:
                raise ControllerError(f"{where}: '{found}' is not on the robot's base, nor carried by it")
            kinds = model.jnt_type[model.jnt_bodyid == body]
            if len(kinds) > 1 or not np.isin(kinds, (SLIDE, HINGE)).all():
                raise ControllerError(f"{where}: between the base and '{found}' there is more than a hinge per body")
            joint = None
            if len(kinds):
                j = int(model.body_jntadr[body])
                address, speed = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
                slides = bool(kinds[0] == SLIDE)
                zero, axis, anchor = float(model.qpos0[address]), model.jnt_axis[j], model.jnt_pos[j]
                joint = (address, speed, zero, constant(axis), constant(anchor), slides)
            self.links.append(_Link(constant(model.body_pos[body]), constant(model.body_quat[body]), joint))
            body = int(model.body_parentid[body])
        self.links.reverse()

    def motion(self, qpos: Any, qvel: Any) -> tuple[Any, Any, Any]:
        """(W, 3) each: velocity m/s, angular velocity rad/s and the direction of gravity, in the frame."""
        xp = namespace(qpos)
        attitude = qpos[:, 3:7]
        down = xp.zeros_like(qpos[:, :3])
        down[:, 2] = -1.0
        v, w, g = turned_back(attitude, qvel[:, :3]), qvel[:, 3:6], turned_back(attitude, down)
        for link in self.links:
            v = v + xp.linalg.cross(w, link.place + xp.zeros_like(v))
            v, w, g = (turned_back(link.turn, one) for one in (v, w, g))
            if link.joint is None:
                continue
            address, speed, zero, axis, anchor, slides = link.joint
            moved, rate = qpos[:, address : address + 1] - zero, qvel[:, speed : speed + 1] * axis
            if slides:
                v = v + xp.linalg.cross(w, moved * axis) + rate
                continue
            half = 0.5 * moved
            turn = xp.concatenate([xp.cos(half), xp.sin(half) * axis], -1)
            back = xp.concatenate([turn[:, :1], -turn[:, 1:]], -1)
            arm = -turned_back(back, anchor + xp.zeros_like(v))  # of the body's origin from the anchor
            v = v + xp.linalg.cross(w, anchor + arm) + xp.linalg.cross(rate, arm)
            w = w + rate
            v, w, g = (turned_back(turn, one) for one in (v, w, g))
        return v, w, g


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
        self.driven = robot.model.jnt_qposadr[joints[layout.driven]].tolist()
        frames = {part.frame: None for part in contract.parts}
        self.frames = {wanted: Frame(robot, wanted, like, where) for wanted in frames}
        self.constant: Callable[[Any], Any] = lambda values: xp.asarray(
            np.asarray(values, dtype=float), dtype=like.dtype, device=like.device
        )
        self.pose = self.constant(layout.pose)
        names = [robot.joint_names[joint] for joint in joints]
        self.scales = [
            self.constant(
                per_joint(part.scale, names if part.part.startswith("joint") else list(map(str, range(size))), "scale")
            )
            for part, size in zip(contract.parts, layout.sizes, strict=True)
        ]
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
            "last-target": lambda: seen.qpos[:, self.driven] - seen.target,
            "command": lambda: seen.command,
            "phase-cos": lambda: xp.cos(seen.phase),
            "phase-sin": lambda: xp.sin(seen.phase),
            "contacts": lambda: seen.touch,
            "forces": lambda: seen.force,
            "heights": lambda: self._scan(self.grids[part], seen.qpos),
            "constant": lambda: self.constant(part.value) + 0.0 * seen.qpos[:, :1],
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
