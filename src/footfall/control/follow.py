"""Follow a motion: whole-body control along joint trajectories, with forces that the ground can give.

At every call a quadratic program (:mod:`footfall.control.whole_body_points`) finds the torques that come nearest to the
accelerations of the motion, corrected by what the state is off. Points that stand in the motion and touch the ground
bear forces inside the friction cone; the others follow the motion. The centre of mass weighs more than the posture: it
decides whether the robot falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from footfall.control.base import State
from footfall.control.contact_places import ContactPlaces
from footfall.control.episodes import Watch
from footfall.control.motion_reference import COM_HEIGHT, Moment, MotionReference
from footfall.control.rotations import rotation_vector
from footfall.control.senses import Senses, senses_of
from footfall.control.whole_body_points import COM, POINTS, TURN, WholeBodyPoints
from footfall.errors import ControllerError
from footfall.files.joint_motion import JointMotion, load_joint_motion
from footfall.ground import Ground
from footfall.record import Signal
from footfall.robot import Robot
from footfall.robot.model import FREE
from footfall.standing import place

#: Share of the ground's friction that is used.
FRICTION_USED = 0.8
#: Weights of accelerations: 1/(m/s2)^2, rotations with the square of the robot's size.
COM_WEIGHT, TRUNK_WEIGHT, STANCE_WEIGHT, SWING_WEIGHT, JOINT_WEIGHT = 30.0, 10.0, 1000.0, 30.0, 0.3
#: Of forces, per (body weight)^2: those of the ground, and of motors on the root, whose moments act at this arm (m).
FORCE_WEIGHT, HELP_WEIGHT, HELP_ARM = 0.01, 1000.0, 0.3
#: Stiffness (1/s2) and damping (1/s) of trunk, joints and swinging points; 1/s, how fast the divergent component of
#: motion comes back; damping of points that stand. All for a centre of mass at ``COM_HEIGHT``, as what is in m and s.
TRUNK_GAINS, JOINT_GAINS, POINT_GAINS, HEIGHT_GAINS = (200.0, 28.0), (150.0, 24.0), (600.0, 49.0), (100.0, 20.0)
DCM_DECAY, STANCE_DAMPING = 4.0, 20.0
#: s in which load comes on a point, and goes before it is lifted; s before its time from which a point may land.
LOADING, EARLY = 0.06, 0.1
#: Body weights that the points together may bear at any time.
LEAST_SUM = 1.5
#: m over the ground at which a point touches it, before the first step of a run.
TOUCHES = 2e-3
#: m/s at which a point that should stand comes down to find the ground.
DESCENT = 0.1
#: rad that the trunk, and part of its height that the centre of mass, may be off before the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.4


@dataclass(frozen=True)
class Follow:
    """Follow a motion of root and joints: a file (see :mod:`footfall.files.joint_motion`) or a ``JointMotion``.

    A run starts in the first sample and lasts as long as the motion. For robots whose every joint has a motor or a
    servo, on any number of feet. Motors between the world and the root (``footfall.assisted``), if there are any, help
    as little as ``help_weight`` makes them; :func:`footfall.measure.assistance` measures how much.

    Records ``joint_error`` (rad), ``root_error`` (m), ``tilt_error`` (rad), ``com_error`` (m) and ``commanded_force``.
    Warnings: ``unsolved``, ``fallen``, after which the motors only brake.

    Limitations: made for level ground; steps are taken where the motion has them and not where a fall could be stopped.
    """

    motion: str | Path | JointMotion
    speed: float = 1.0  # of the motion: 0.5 takes twice as long
    cutoff: float = 6.0  # Hz, of the filter that smooths the samples
    friction: float | None = None  # coefficient the forces keep to, 0.8 of the ground's if left out
    help_weight: float = HELP_WEIGHT  # what help on the root costs

    #: s between two calls, where a run does not say otherwise.
    control_dt = 0.002

    def __post_init__(self) -> None:
        for name in ("speed", "cutoff", "help_weight"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ControllerError(f"follow: {name} = {value} but it must be positive")

    def __str__(self) -> str:
        return f"follow({self._samples.source}, speed={self.speed:g})"

    @property
    def duration(self) -> float:
        """s, of the motion."""
        return self._samples.duration / self.speed

    @property
    def _samples(self) -> JointMotion:
        return self.motion if isinstance(self.motion, JointMotion) else _loaded(str(self.motion))

    def reference(self, robot: Robot) -> MotionReference:
        """The motion fitted to a robot."""
        motion = self._samples
        return MotionReference(robot, replace(motion, time=motion.time / self.speed), self.cutoff)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """The first sample of the motion, on the ground."""
        return _start(self.reference(robot), robot, ground)[:2]

    def start(self, robot: Robot, ground: Ground, dt: float) -> Following:
        return Following(self, robot, ground, dt)


@lru_cache(maxsize=4)
def _loaded(path: str) -> JointMotion:
    return load_joint_motion(path)


def _start(reference: MotionReference, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray, float]:
    """The first moment on this ground, qpos and qvel, and how high the ground is there (m).

    A robot that stands in the motion stands on the ground, though its feet hover over that of the motion.
    """
    moment = reference.at(0.0)
    placed = place(replace(robot, home=moment.qpos), ground, (0.0, 0.0), align=False)
    lowest = float((moment.points[0, :, 2] - robot.point_radius).min())
    moved = np.flatnonzero(placed - moment.qpos)
    lift = float((placed - moment.qpos).sum()) + lowest
    if not reference.stances(0.0).stands.any():
        placed[moved] += lowest
    return placed, moment.qvel.copy(), lift


class Following:
    """A motion under way."""

    def __init__(self, options: Follow, robot: Robot, ground: Ground, dt: float) -> None:
        self.robot, self.dt = robot, dt
        self.reference = options.reference(robot)
        friction = FRICTION_USED * ground.dynamic_friction if options.friction is None else options.friction
        self.body = WholeBodyPoints(robot, friction, "follow")
        self.places = ContactPlaces(robot, ground, ())
        model, body = robot.model, self.body
        self.height = float(self.reference.at(0.0).com[0, 2])
        self.size = max(self.height / COM_HEIGHT, 1e-3)
        self.pace = math.sqrt(self.size)
        g = max(float(np.linalg.norm(robot.gravity)), 1e-9)
        self.omega = math.sqrt(g / self.height)
        self.lift = np.zeros(3)
        self.lift[2] = _start(self.reference, robot, ground)[2]  # m, of the ground where it starts
        self.free_root = bool(model.njnt and model.jnt_type[0] == FREE)
        self.angle_place = body.drives.place[body.own]
        helping = np.array([1.0, 1.0, 1.0, *[HELP_ARM**-2 / self.size**2] * 3])
        weight = max(robot.weight, 1e-9)
        body.now.size[0], body.now.help_size[:] = FORCE_WEIGHT / weight**2, options.help_weight / weight**2 * helping
        body.now.weight[COM:TURN] = COM_WEIGHT
        body.now.weight[TURN:POINTS] = TRUNK_WEIGHT * self.size**2 if self.free_root else 0.0
        body.now.joint_weight[:] = JOINT_WEIGHT * self.size**2
        self.weight = weight
        self.senses: Senses | None = None
        self.first, self.fallen = True, False
        self.watch = Watch()
        self.warnings = self.watch.warnings
        self.signals = {
            "joint_error": Signal(np.zeros(len(body.driven)), "rad"),
            "root_error": Signal(np.zeros(3), "m"),
            "tilt_error": Signal(np.zeros(1), "rad"),
            "com_error": Signal(np.zeros(3), "m"),
            "commanded_force": Signal(body.now.force, "N"),
        }

    def __call__(self, time: float, state: State) -> np.ndarray:
        body = self.body
        if self.senses is None:
            self.senses = senses_of(state.data, state._points, state._contacts)
        body.see(self.senses, *self.places.now(state))
        moment = self.reference.at(time)
        standing, bearing = self._stances(time, state)
        self._lead_com(moment)
        self._lead_joints(moment, state)
        if self.free_root:
            self._lead_trunk(moment, state)
        self._lead_points(moment, standing, bearing)
        torque = body.solve(bearing)
        if not body.solved:
            self.watch.see(time, "unsolved", 1.0, lambda: "no torques solve the whole-body problem, those before stay")
        self._report(moment, state)
        if not self.fallen:
            self._look_for_fall(time, moment)
        if self.fallen:
            torque = -0.01 * self.weight * state.qvel[body.driven]
            body.now.help[:] = 0.0
        return body.controls(torque, state.qpos, state.qvel)

    def _stances(self, time: float, state: State) -> tuple[np.ndarray, np.ndarray]:
        """(P,) which points shall rest on the ground or come down to it, and which of these touch and bear load."""
        now = self.reference.stances(time)
        foot = self.robot.point_foot
        # What the law found is of the step before; before the first one, what lies on the ground touches it.
        touching = state.gap < TOUCHES * self.size if self.first else state.mode > 0
        self.first = False
        touches = np.bincount(foot[touching], minlength=len(self.robot.feet))[foot] > 0
        early = (now.wait < EARLY * self.pace) & touching
        bearing = (now.stands & touches) | early
        since, left = now.since / (LOADING * self.pace), now.left / (LOADING * self.pace)
        share = np.minimum(0.05 + since, np.where(now.stands, left, 0.05))
        load = 2.0 * self.weight * np.clip(share, 0.0, 1.0)
        # Where feet come as others go, as in a trot, someone must carry the robot all the same.
        load *= max(1.0, LEAST_SUM * self.weight / max(float(load[bearing].sum()), 1e-9))
        self.body.now.load[:] = np.where(share < 1.0, load, 1e30)
        return now.stands | early, bearing

    # ---- what is wanted: accelerations, and weights that change -----------------------------------------------------

    def _lead_com(self, moment: Moment) -> None:
        """The centre of mass: the error of its divergent component decays, and its height is led by a spring."""
        body, w = self.body.now, self.omega
        k = DCM_DECAY / self.pace
        off, rate = moment.com[0] + self.lift - body.com, moment.com[1] - body.com_velocity
        wanted = moment.com[2] + w * k * off + (w + k) * rate
        stiff, damp = self._gains(HEIGHT_GAINS)
        wanted[2] = moment.com[2, 2] + stiff * off[2] + damp * rate[2]
        body.wanted[COM:TURN] = wanted - body.com_drift

    def _lead_joints(self, moment: Moment, state: State) -> None:
        d = self.body.driven
        stiff, damp = self._gains(JOINT_GAINS)
        off = moment.qpos[self.angle_place] - state.qpos[self.angle_place]
        self.body.now.joint_wanted[:] = moment.qacc[d] + stiff * off + damp * (moment.qvel[d] - state.qvel[d])

    def _lead_trunk(self, moment: Moment, state: State) -> None:
        R = state.data.xmat[self.body.root].reshape(3, 3)
        stiff, damp = self._gains(TRUNK_GAINS)
        off = R.T @ rotation_vector(moment.trunk @ R.T)
        # Velocity and acceleration of the motion are in its trunk's frame, which is nearly this one.
        turn = R.T @ moment.trunk
        wanted = turn @ moment.qacc[3:6] + stiff * off + damp * (turn @ moment.qvel[3:6] - state.qvel[3:6])
        self.body.now.wanted[TURN:POINTS] = wanted

    def _lead_points(self, moment: Moment, standing: np.ndarray, bearing: np.ndarray) -> None:
        body = self.body.now
        stiff, damp = self._gains(POINT_GAINS)
        touch = moment.points[0] - self.robot.point_radius[:, None] * np.array([0.0, 0.0, 1.0])
        wanted = moment.points[2] + stiff * (touch + self.lift - body.place) + damp * (moment.points[1] - body.velocity)
        rest = STANCE_DAMPING / self.pace
        wanted[standing] = -rest * body.velocity[standing]
        wanted[standing & ~bearing, 2] -= rest * DESCENT * self.pace
        body.wanted[POINTS:] = (wanted - body.drift).ravel()
        body.weight[POINTS:] = np.repeat(np.where(standing, STANCE_WEIGHT, SWING_WEIGHT), 3)

    def _gains(self, gains: tuple[float, float]) -> tuple[float, float]:
        """Stiffness and damping for a robot of this size."""
        return gains[0] / self.size, gains[1] / self.pace

    # ---- what is reported -------------------------------------------------------------------------------------------

    def _report(self, moment: Moment, state: State) -> None:
        signals, body = self.signals, self.body
        signals["joint_error"].values[:] = state.qpos[self.angle_place] - moment.qpos[self.angle_place]
        signals["com_error"].values[:] = body.now.com - moment.com[0] - self.lift
        if self.free_root:
            signals["root_error"].values[:] = state.qpos[:3] - moment.qpos[:3] - self.lift
            R = state.data.xmat[body.root].reshape(3, 3)
            signals["tilt_error"].values[0] = np.linalg.norm(rotation_vector(moment.trunk @ R.T))

    def _look_for_fall(self, time: float, moment: Moment) -> None:
        tilt = float(self.signals["tilt_error"].values[0])
        low = -float(self.signals["com_error"].values[2])
        if tilt > FALLEN_TILT or low > FALLEN_HEIGHT * float(moment.com[0, 2]):
            self.fallen = True
            self.watch.note(time, "fallen", f"the trunk is {tilt:.2f} rad off the motion, the mass {low:.2f} m too low")
