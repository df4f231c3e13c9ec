"""Follow a motion: whole-body control along joint trajectories, with forces that the ground can give.

At every call a quadratic program (:mod:`footfall.control.whole_body.on_points`) finds the torques that come nearest to
the accelerations of the motion, corrected by the errors of the state. Points that stand in the motion and touch the
ground bear forces inside the friction cone; the others follow the motion. The centre of mass has a larger weight than
the posture, because it decides whether the robot falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from footfall.control.contact_places import ContactPlaces, compiled_places
from footfall.control.episode_log import KIND, MORE, WORST, LoggedWarnings, empty_log
from footfall.control.follow.reference import COM_HEIGHT, MotionReference
from footfall.control.follow.state import Follower, Sizes
from footfall.control.follow.steps import KINDS, UNSOLVED, follow_tick
from footfall.control.inside import Inside, signals_in
from footfall.control.options import check_numbers
from footfall.control.senses import no_senses
from footfall.control.whole_body.on_points import COM, POINTS, TURN, body_on_points
from footfall.errors import ControllerError
from footfall.files.joint_motion import JointMotion, load_joint_motion
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.robot.motors import drives
from footfall.standing import place

#: Share of the ground's friction that is used.
FRICTION_USED = 0.8
#: Weights of accelerations: 1/(m/s2)^2, rotations with the square of the robot's size.
COM_WEIGHT, TRUNK_WEIGHT, JOINT_WEIGHT = 30.0, 10.0, 0.3
#: Of forces, per (body weight)^2: those of the ground, and of motors on the root, whose moments act at this arm (m).
FORCE_WEIGHT, HELP_WEIGHT, HELP_ARM = 0.01, 1000.0, 0.3
#: Most episodes of warnings that are kept.
ROOM = 1024


@dataclass(frozen=True)
class Follow:
    """Follow a motion of root and joints by whole-body control.

    A run starts in the first sample and lasts as long as the motion. It is for robots with a motor or servo at every
    joint, on any number of feet. Motors between the world and the root (``footfall.assisted``), if there are any, help
    the less the larger ``help_weight`` is; :func:`footfall.measure.assistance` measures how much.

    Records ``joint_error`` (rad), ``root_error`` (m), ``tilt_error`` (rad), ``com_error`` (m) and ``commanded_force``.
    Warnings: ``unsolved``, ``fallen``, after which the motors only brake.

    Limitations: made for level ground; it steps where the motion steps, not where a step could prevent a fall.

    Attributes:
        motion: a file (see :mod:`footfall.files.joint_motion`) or a ``JointMotion``.
        speed: factor on the speed of the motion: 0.5 takes twice as long.
        cutoff: Hz, of the low-pass filter on the samples.
        friction: coefficient that limits the forces, 0.8 of the ground's if left out.
        help_weight: cost of help on the root.
    """

    motion: str | Path | JointMotion
    speed: float = 1.0
    cutoff: float = 6.0
    friction: float | None = None
    help_weight: float = HELP_WEIGHT

    #: s between two calls, where a run does not say otherwise.
    control_dt = 0.002

    def __post_init__(self) -> None:
        check_numbers("follow", self, positive=("speed", "cutoff", "help_weight"))

    def __str__(self) -> str:
        return f"follow({self._samples.source}, speed={self.speed:g})"

    @property
    def duration(self) -> float:
        """s, of the motion."""
        return self._samples.duration / self.speed

    @property
    def _samples(self) -> JointMotion:
        if isinstance(self.motion, JointMotion):
            return self.motion
        path = Path(self.motion)
        state = path.stat() if path.is_file() else None
        return _loaded(str(path), state and (state.st_mtime_ns, state.st_size))

    def reference(self, robot: Robot) -> MotionReference:
        """The motion fitted to a robot."""
        motion = self._samples
        return MotionReference(robot, replace(motion, time=motion.time / self.speed), self.cutoff)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """The first sample of the motion, on the ground."""
        return _start(self.reference(robot), robot, ground)[:2]

    def start(self, robot: Robot, ground: Ground, dt: float) -> Following:
        return Following(self, robot, ground)


@lru_cache(maxsize=4)
def _loaded(path: str, state: tuple[int, int] | None) -> JointMotion:
    """The motion of a file, read again when its ``state`` (time of its last change, size) is another."""
    return load_joint_motion(path)


def _start(reference: MotionReference, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray, float]:
    """The initial qpos and qvel on this ground, and the height of the ground there (m).

    A robot that stands in the motion is put on the ground, even if its feet hover in the motion.
    """
    moment = reference.at(0.0)
    placed = place(replace(robot, home=moment.qpos), ground, (0.0, 0.0), align=False)
    lowest = float((moment.points[0, :, 2] - robot.point_radius).min())
    moved = np.flatnonzero(placed - moment.qpos)
    lift = float((placed - moment.qpos).sum()) + lowest
    if not reference.stances.stands[0].any():
        placed[moved] += lowest
    return placed, moment.qvel.copy(), lift


class Following(Inside):
    """A running controller that follows a motion, inside the compiled loop."""

    def __init__(self, options: Follow, robot: Robot, ground: Ground) -> None:
        model = robot.model
        if not model.nu:
            raise ControllerError(f"follow needs motors, and {robot.name} has none")
        self._reference = options.reference(robot)  # whose data the table refers to
        friction = FRICTION_USED * ground.dynamic_friction if options.friction is None else options.friction
        driving = drives(robot, "follow")
        body = body_on_points(robot, driving, friction, "follow")
        places = ContactPlaces(robot, ground, ())
        sizes = self._sizes(robot, ground)
        helping = np.array([1.0, 1.0, 1.0, *[HELP_ARM**-2 / sizes.size**2] * 3])
        body.size[0], body.help_size[:] = (
            FORCE_WEIGHT / sizes.weight**2,
            options.help_weight / sizes.weight**2 * helping,
        )
        body.weight[COM:TURN] = COM_WEIGHT
        body.weight[TURN:POINTS] = TRUNK_WEIGHT * sizes.size**2 if sizes.free_root else 0.0
        body.joint_weight[:] = JOINT_WEIGHT * sizes.size**2
        P, joints = robot.point_count, len(body.driven)
        shapes = {
            "joint_error": ((joints,), "rad"),
            "root_error": ((3,), "m"),
            "tilt_error": ((1,), "rad"),
            "com_error": ((3,), "m"),
            "commanded_force": ((P, 3), "N"),
        }
        memory = Follower(
            senses=no_senses(),
            signals=np.zeros(joints + 7 + 3 * P),
            body=body,
            contacts=compiled_places(places, ground),
            table=self._reference.table,
            stances=self._reference.stances,
            sizes=sizes,
            drives=driving,
            own=np.flatnonzero(~robot.root_motors),
            helping=np.flatnonzero(robot.root_motors),
            foot=np.array(robot.point_foot, dtype=np.int64),
            point_radius=np.array(robot.point_radius, dtype=float),
            begun=np.zeros(1, dtype=np.int64),
            fallen=np.zeros(1, dtype=np.int64),
            standing=np.zeros(P, dtype=np.int64),
            touching=np.zeros(P, dtype=np.int64),
            foot_touches=np.zeros(len(robot.feet), dtype=np.int64),
            axes=np.zeros((3, 3)),
            motor_torque=np.zeros(model.nu),
            log=empty_log(KINDS, ROOM),
        )
        super().__init__(follow_tick, memory)
        self.signals = signals_in(memory.signals, shapes)
        self.warnings = LoggedWarnings(memory.log, _describe)

    def _sizes(self, robot: Robot, ground: Ground) -> Sizes:
        model, reference = robot.model, self._reference
        height = float(reference.at(0.0).com[0, 2])
        size = max(height / COM_HEIGHT, 1e-3)
        g = max(float(np.linalg.norm(robot.gravity)), 1e-9)
        return Sizes(
            size=size,
            pace=math.sqrt(size),
            omega=math.sqrt(g / height),
            weight=max(float(robot.weight), 1e-9),
            lift=float(_start(reference, robot, ground)[2]),
            free_root=int(bool(model.njnt and model.jnt_type[0] == FREE)),
        )


def _describe(row: np.ndarray, before: np.ndarray) -> tuple[str, str]:
    """Kind and sentence of an episode."""
    if int(row[KIND]) == UNSOLVED:
        return "unsolved", "no torques solve the whole-body problem, those before stay"
    return "fallen", f"the trunk is {row[WORST]:.2f} rad off the motion, the mass {row[MORE]:.2f} m too low"
