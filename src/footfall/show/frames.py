"""What is drawn of a recording: poses of bodies, forces and special points, at as many samples as a screen shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RecordingError
from footfall.measure import cop, momentum, overall_cop, zmp
from footfall.record import COLUMNS, Record
from footfall.robot import Robot
from footfall.show.geometry import Mesh, body_meshes
from footfall.standing import at_home

#: Pictures per second: what a screen shows.
RATE = 60.0
#: Colour-blind safe (Okabe and Ito), by mode: open grey, stick green, slide orange. Feet take blue and vermilion.
MODE_COLORS = ((140, 140, 140), (0, 158, 115), (230, 159, 0))
COP_COLOR, ZMP_COLOR, COM_COLOR, PUSH_COLOR = (204, 121, 167), (86, 180, 233), (59, 69, 84), (194, 24, 91)


class Frame(NamedTuple):
    """One moment of a robot with B drawn bodies and P contact points; world frame, m and N. NaN where undefined."""

    time: Any  # s
    body_position: np.ndarray  # (B, 3)
    body_quaternion: np.ndarray  # (B, 4) w, x, y, z
    point: np.ndarray  # (P, 3)
    force: np.ndarray  # (P, 3)
    mode: np.ndarray  # (P,)
    normal: np.ndarray  # (P, 3)
    cop: np.ndarray  # (feet, 3)
    overall_cop: np.ndarray  # (3,)
    zmp: np.ndarray  # (3,)
    com: np.ndarray  # (3,)
    com_ground: np.ndarray  # (3,) below the centre of mass
    push: np.ndarray  # (pushes, 3) centres of mass of the bodies that are pushed


@dataclass(frozen=True, eq=False)
class Scene:
    """A recording made ready to be drawn: F frames.

    Attributes:
        recording: what it shows.
        samples: (F,) which samples of the recording the frames are.
        meshes: what is drawn of each body, by body id.
        frames: the arrays of :class:`Frame`, each with a leading axis F.
        size: m, the longest side of the robot in its home pose.
        girth: m, its longest horizontal side.
        height: m, its vertical side.
        reach: m, half the diagonal of its base.
    """

    recording: Record
    samples: np.ndarray
    meshes: dict[int, Mesh]
    frames: Frame
    size: float
    girth: float
    height: float
    reach: float

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def time(self) -> np.ndarray:
        """(F,) s."""
        return np.asarray(self.frames.time)

    def index(self, time: float) -> int:
        """The frame nearest to a time, s."""
        after = int(np.clip(np.searchsorted(self.time, time), 1, max(1, len(self) - 1)))
        before = after - 1
        if len(self) == 1:
            return 0
        return before if time - self.time[before] <= self.time[after] - time else after

    def frame(self, index: int) -> Frame:
        return Frame(*(array[index] for array in self.frames))


def make_scene(recording: Record, *, rate: float = RATE, most: int | None = None) -> Scene:
    """Choose the samples to show, ``rate`` per second (at most ``most``), and compute what is drawn of them."""
    samples = display_samples(recording.time, rate, most)
    # Each sample is taken with its successor, so that measures have true accelerations without evaluating all samples.
    follower = np.minimum(samples + 1, len(recording) - 1)
    pairs = np.stack([samples, follower], axis=1).ravel()
    columns: dict[str, Any] = {name: getattr(recording, name)[pairs] for name in COLUMNS}
    shown = replace(recording, **columns, signals={})
    with np.errstate(invalid="ignore", divide="ignore"):  # the last sample has no successor
        com, zero_moment = momentum(shown).com[::2], zmp(shown)[::2]
    if len(samples) > 1:
        zero_moment[-1] = zero_moment[-2]
    meshes = body_meshes(recording.robot.model)
    position, quaternion = body_poses(recording.robot.model, recording.qpos[samples], list(meshes))
    frames = Frame(
        time=recording.time[samples],
        body_position=position,
        body_quaternion=quaternion,
        point=recording.position[samples],
        force=recording.force[samples],
        mode=recording.mode[samples],
        normal=np.array(shown.normal[::2]),
        cop=cop(shown)[::2],
        overall_cop=overall_cop(shown)[::2],
        zmp=zero_moment,
        com=com,
        com_ground=np.column_stack([com[:, :2], recording.ground.height(com[:, 0], com[:, 1])]),
        push=_pushed_places(recording, samples),
    )
    return Scene(recording, samples, meshes, frames, *robot_sizes(recording.robot, meshes))


def display_samples(time: np.ndarray, rate: float, most: int | None = None) -> np.ndarray:
    """Indices of samples about ``1 / rate`` s apart, the first and the last among them."""
    if len(time) == 0:
        raise RecordingError("the recording has no samples, so there is nothing to show")
    count = int(np.ceil((time[-1] - time[0]) * rate)) + 1
    count = min(count, len(time), most or len(time))
    wanted = np.linspace(time[0], time[-1], max(count, 1))
    after = np.clip(np.searchsorted(time, wanted), 1, max(1, len(time) - 1))
    if len(time) == 1:
        return np.zeros(1, dtype=int)
    nearest = np.where(wanted - time[after - 1] <= time[after] - wanted, after - 1, after)
    return np.unique(nearest)


def body_poses(model: mujoco.MjModel, qpos: np.ndarray, bodies: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (F, B, 3) m and quaternions (F, B, 4) of ``bodies`` in the poses ``qpos`` (F, nq)."""
    data = mujoco.MjData(model)
    position, quaternion = np.empty((len(qpos), len(bodies), 3)), np.empty((len(qpos), len(bodies), 4))
    for k, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        position[k], quaternion[k] = data.xpos[bodies], data.xquat[bodies]
    return position, quaternion


def _pushed_places(recording: Record, samples: np.ndarray) -> np.ndarray:
    """(F, pushes, 3) m, where each push acts: at the centre of mass of its body."""
    model = recording.robot.model
    bodies = [model.body(push.body).id for push in recording.pushes]
    if not bodies:
        return np.zeros((len(samples), 0, 3))
    position, quaternion = body_poses(model, recording.qpos[samples], bodies)
    for k, body in enumerate(bodies):
        offset = np.empty(3)
        for i in range(len(samples)):
            mujoco.mju_rotVecQuat(offset, model.body_ipos[body], quaternion[i, k])
            position[i, k] += offset
    return position


def force_scale(scenes: Sequence[Scene]) -> float:
    """Length of arrows, m/N, the same for all that is shown together: the robot's weight is as long as the robot is
    high.

    Less where hard impacts would leave the picture.
    """
    scales = []
    for scene in scenes:
        forces = np.linalg.norm(scene.frames.force, axis=-1).max(axis=1, initial=0.0)
        long = max(scene.recording.robot.weight, float(np.quantile(forces, 0.99)) / 1.2)
        scales.append(scene.size / (long or 1.0))
    return float(min(scales))


def robot_sizes(robot: Robot, meshes: Mapping[int, Mesh]) -> tuple[float, float, float, float]:
    """m: longest, longest horizontal and vertical side of the box around a robot at home, half its base's diagonal."""
    model, data = robot.model, at_home(robot)
    corners = [np.zeros((0, 3))]
    for body, mesh in meshes.items():
        if model.body_weldid[body] != 0:
            corners.append(mesh.vertices @ data.xmat[body].reshape(3, 3).T + data.xpos[body])
    spread = np.ptp(np.concatenate(corners), axis=0) if len(corners) > 1 else np.zeros(3)
    least = 0.05 * float(spread.max()) or 0.05  # a robot without geoms still has arrows and markers
    spread = np.maximum(spread, least)
    return float(spread.max()), float(spread[:2].max()), float(spread[2]), 0.5 * float(np.hypot(*spread[:2]))


def extent(scenes: Sequence[Scene]) -> float:
    """m: side of the square of ground around the origin that holds all that happens, and some more."""
    reach = max(float(np.nanmax(np.abs(s.frames.com[:, :2]), initial=0.0)) for s in scenes)
    size = max(s.size for s in scenes)
    return 2 * (reach + 4 * size)


def labels_of(recordings: Sequence[Record]) -> list[str]:
    """A short name for each recording that sets it apart from the others: its law if the laws differ."""
    laws = [rec.law.name for rec in recordings]
    if len(set(laws)) == len(laws):
        return laws
    names = [f"{rec.robot.name}, {rec.law.name}" for rec in recordings]
    if len(set(names)) == len(names):
        return names
    return [f"{i + 1}: {name}" for i, name in enumerate(laws)]
