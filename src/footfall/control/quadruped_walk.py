"""Walk on four legs: contact forces of the feet that stand carry and steer the trunk, the others swing.

The wrench that leads the centre of mass and the trunk along is shared out among the standing feet as in balance control
(Ott 2011, (18)-(22)); a schedule says which feet these are. A foot that swings goes to where the trunk will be, half a
stance ahead, and farther by what the speed is off (Raibert 1986).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import mujoco
import numpy as np

from footfall.control.balance import size_of
from footfall.control.base import State
from footfall.control.com_coordinates import carrying_torques, com_jacobian, tree_of
from footfall.control.contact_forces import ContactForces
from footfall.control.contact_places import ContactPlaces
from footfall.control.episodes import Watch
from footfall.control.quadruped_pose import check_shape, corner_points, leg_of, ready_to_walk
from footfall.control.rotations import about_z, rotation_vector
from footfall.errors import ControllerError, did_you_mean
from footfall.gait.schedule import SCHEDULES
from footfall.gait.swing import SwingFoot
from footfall.ground import Ground
from footfall.record import Signal
from footfall.robot import Robot
from footfall.robot.motors import drives
from footfall.standing import place

#: What is left out, for a centre of mass as high as that of the built-in quadruped: m, m/s, s and m.
HEIGHT, SPEED, STEP_DURATION, STEP_HEIGHT = 0.31, 0.3, 0.25, 0.06
#: Share of the ground's friction that is used, and of the weight that presses every standing foot.
FRICTION_USED, LEAST_LOAD = 0.8, 0.01
#: Stiffness in g/h and damping in sqrt(g/h): of the horizontal way, the height, the attitude.
ALONG, UPWARD, ATTITUDE = (0.5, 1.4), (4.0, 3.0), (4.0, 3.0)
#: The same of a swinging foot, as those of a biped's: 1/s2 and 1/s.
FOOT = (900.0, 60.0)
#: Weight of the torque that is missed, per height squared, and of the size of forces, beside that of the force.
TORQUE_WEIGHT, SIZE_WEIGHT = 4.0, 1e-4
#: Share of sqrt(h/g) by which a foot steps farther per speed that is off, and of the leg that it goes at most.
CAPTURE, FARTHEST = 0.5, 0.45
#: m, that the way's reference may be ahead of the robot, per height.
AHEAD = 0.15
#: Part of the swing after which the ground may be met, and m/s of descent.
SOONEST, DESCENT = 0.6, 0.15
#: Part of the step's height over which what a swinging foot meets is an obstacle, and by how much more it is lifted.
OBSTACLE, HIGHER = 0.3, 1.0
#: Cycles in which the speed is taken up and given back.
RAMP = 1.0
#: rad of the trunk, and part of the height, at which the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.6


@dataclass(frozen=True)
class QuadrupedWalk:
    """Walk on four legs, from standing to standing, by a ``gait`` of :data:`footfall.gait.schedule.SCHEDULES`.

    What is left out follows from the height of the centre of mass by Froude's number: speed and duration with its root,
    the step's height in proportion. For robots with a free base on four point feet, each on a leg of three motors or
    servos. The ground is felt and not seen.

    Records ``com``, ``com_velocity``, ``commanded_force`` and ``phase`` (cycles). Warnings: ``fallen``, after which the
    motors are off, and ``saturated``.
    """

    speed: float | None = None  # m/s, forward
    sideways: float = 0.0  # m/s, to the left
    turn: float = 0.0  # rad/s, to the left
    gait: str = "trot"
    steps: int = 20  # swings, one after the other
    step_duration: float | None = None  # s, from one swing's start to the next
    step_height: float | None = None  # m
    start_time: float = 0.5  # s, on all feet
    stop_time: float = 0.8  # s, on all feet

    def __post_init__(self) -> None:
        if self.gait not in SCHEDULES:
            raise ControllerError(
                f"quadruped-walk: no gait is called '{self.gait}': {did_you_mean(self.gait, SCHEDULES)}"
            )
        for name in ("speed", "sideways", "turn"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ControllerError(f"quadruped-walk: {name} = {value} is no number")
        for name in ("step_duration", "step_height", "start_time", "stop_time"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise ControllerError(f"quadruped-walk: {name} = {value} but it must be positive")
        if not (isinstance(self.steps, int) and self.steps >= 1):
            raise ControllerError(f"quadruped-walk: steps = {self.steps} but it must be a whole number, at least 1")

    def __str__(self) -> str:
        shown = [f"{one.name}={getattr(self, one.name)}" for one in fields(self) if self._is_given(one.name)]
        return f"quadruped-walk({', '.join(shown)})"

    def _is_given(self, name: str) -> bool:
        return name in ("gait", "steps") or getattr(self, name) != getattr(QuadrupedWalk, name)

    @property
    def duration(self) -> float:
        """s, until the robot stands again; where a step's is left out, that of the built-in quadruped."""
        step = STEP_DURATION if self.step_duration is None else self.step_duration
        return self.start_time + self.steps * step + self.stop_time

    def scaled(self, robot: Robot) -> QuadrupedWalk:
        """The same walk with a number for the speed, if that was left out, from the height of the robot."""
        if self.speed is not None:
            return self
        ready = ready_to_walk(robot) if len(robot.feet) == 4 else robot
        height = size_of(ready, robot.point_count).height
        return replace(self, speed=SPEED * math.sqrt(height / HEIGHT))

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray | None, None]:
        """Where a run starts: with bent knees and the feet under the mass, where those of the home pose are not."""
        ready = ready_to_walk(robot)
        same = bool((ready.home == robot.home).all())
        return (None if same else place(ready, ground, (0.0, 0.0), align=False)), None

    def start(self, robot: Robot, ground: Ground, dt: float) -> QuadrupedWalking:
        return QuadrupedWalking(self, ready_to_walk(robot), ground, dt)


class QuadrupedWalking:
    """A walk on four legs under way. Feet are counted front left, front right, rear left, rear right."""

    def __init__(self, options: QuadrupedWalk, robot: Robot, ground: Ground, dt: float) -> None:
        model = robot.model
        self.robot, self.dt = robot, dt
        self.drives = drives(robot, "quadruped-walk")
        self.places = ContactPlaces(robot, ground, ())
        check_shape(robot)
        self.tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), self.places.body)
        self.trunk = self.tree.root
        data = mujoco.MjData(model)
        data.qpos[:] = robot.home
        mujoco.mj_forward(model, data)
        points = np.array(
            [
                data.xpos[b] + data.xmat[b].reshape(3, 3) @ p
                for b, p in zip(robot.point_body, robot.point_position, strict=True)
            ]
        )
        com = data.subtree_com[self.trunk]
        self.feet = corner_points(robot, points - com)  # the point of each foot, in our order
        self.offset = (points - com)[self.feet]
        self.height = float(com[2] - (points[:, 2] - robot.point_radius).mean())
        self.legs = [leg_of(robot, self.drives.dof, self.tree, point) for point in self.feet]
        size = size_of(robot, robot.point_count)
        scale = size.height / HEIGHT
        self.rate = size.rate
        self.mass, self.inertia, self.gravity = size.mass, size.inertia, size.gravity
        speed = options.scaled(robot).speed
        assert speed is not None
        self.speed = speed
        self.sideways, self.turn, self.steps = options.sideways, options.turn, options.steps
        self.schedule = SCHEDULES[options.gait]
        step = self._usual_step(scale) if options.step_duration is None else options.step_duration
        self.step_height = STEP_HEIGHT * scale if options.step_height is None else options.step_height
        self.period = step * self.schedule.steps
        self.begin, self.cycles = options.start_time, options.steps / self.schedule.steps
        self._check_reach()
        self.friction = FRICTION_USED * ground.dynamic_friction
        self.problems: dict[tuple[int, ...], ContactForces] = {}
        self.swings: list[SwingFoot | None] = [None] * 4
        self.inertia_matrix = np.zeros((model.nv, model.nv))
        self.jacobian, self.torque = np.zeros((3, model.nv)), np.zeros(model.nv)
        self.arms, self.force = np.zeros((4, 3)), np.zeros((robot.point_count, 3))
        self.home_trunk = data.xmat[self.trunk].reshape(3, 3).copy()
        self.begun = self.fallen = False
        self.way, self.heading = np.zeros(2), 0.0
        self.watch = Watch()
        self.warnings = self.watch.warnings
        self.signals = {
            "com": Signal(np.zeros(3), "m"),
            "com_velocity": Signal(np.zeros(3), "m/s"),
            "commanded_force": Signal(self.force, "N"),
            "phase": Signal(np.zeros(1), ""),
        }

    def _usual_step(self, scale: float) -> float:
        """s, of a step: by Froude's number, and no longer than feet reach at this speed."""
        fast = math.hypot(self.speed, self.sideways)
        reach = 2.0 * FARTHEST * self.height / max(self.schedule.duty * self.schedule.steps * fast, 1e-9)
        return min(STEP_DURATION * math.sqrt(scale), 0.9 * reach)

    def _check_reach(self) -> None:
        longest = FARTHEST * self.height
        stance = 0.5 * self.schedule.duty * self.period * math.hypot(self.speed, self.sideways)
        if stance > longest:
            raise ControllerError(
                f"quadruped-walk: at {math.hypot(self.speed, self.sideways):.3g} m/s the feet of {self.robot.name} "
                f"would go {stance:.2g} m ahead of the hips, and {longest:.2g} m is in reach; shorten step_duration"
            )

    def __call__(self, time: float, state: State) -> np.ndarray:
        data = state.data
        com, trunk = data.subtree_com[self.trunk], data.xmat[self.trunk].reshape(3, 3)
        com_jacobian(data.cdof, data.subtree_com, self.tree, self.jacobian)
        velocity = self.jacobian @ state.qvel
        places, frames = self.places.now(state)
        feet = places[self.feet]
        if not self.begun:
            self.begun = True
            self.way[:] = com[:2]
            level = trunk @ self.home_trunk.T
            self.heading = math.atan2(level[1, 0], level[0, 0])
        cycles = (time - self.begin) / self.period
        walking = 0.0 <= cycles < self.cycles
        share = min(1.0, max(0.0, cycles / RAMP), max(0.0, (self.cycles - cycles) / RAMP)) if walking else 0.0
        turned = about_z(self.heading)[:2, :2]
        wanted = share * (turned @ np.array([self.speed, self.sideways]))
        self.heading += share * self.turn * self.dt
        self._lead_way(com, wanted)
        meeting = state.mode[self.feet] > 0
        force = state.force[self.feet]
        touching = meeting & (force[:, 2] >= np.hypot(force[:, 0], force[:, 1]))  # a wall is no ground to stand on
        standing = self._change_feet(cycles, walking, feet, touching, meeting)
        height = float(feet[standing, 2].mean()) if standing else float(feet[:, 2].mean())
        if not self.fallen:
            self._look_for_fall(time, com, trunk, height)
        if self.fallen:
            self.force[:] = 0.0
            return self.drives.controls(np.zeros(len(self.drives.dof)), state.qpos, state.qvel)
        wrench = self._wrench(com, velocity, wanted, trunk, data.cvel[self.trunk], height)
        self._carry(wrench, feet, com, frames, standing)
        np.subtract(places, com, out=self.arms)
        carrying_torques(data.cdof, self.jacobian, self.tree, self.arms, self.force, self.torque)
        self.torque -= data.qfrc_passive  # the damping of joints slows a walk
        if len(standing) < 4:
            mujoco.mj_fullM(self.robot.model, data, self.inertia_matrix)
            for foot in range(4):
                swing = self.swings[foot]
                if swing is not None:
                    self._swing(foot, swing, state, data, com, velocity, wanted)
        torque, limit = self.torque[self.drives.dof], self.drives.limit
        over = np.abs(torque) / limit
        worst = int(over.argmax())
        if over[worst] > 1.0:
            name = self.robot.model.actuator(worst).name
            asked = abs(float(torque[worst]))
            self.watch.see(
                time,
                "saturated",
                float(over[worst]),
                lambda: f"motor '{name}' is asked for {asked:.3g} N m and has {limit[worst]:.3g} N m",
            )
        self.signals["com"].values[:], self.signals["com_velocity"].values[:] = com, velocity
        self.signals["phase"].values[0] = min(max(cycles, 0.0), self.cycles)
        return self.drives.controls(np.clip(torque, -limit, limit), state.qpos, state.qvel)

    # ---- the trunk -----------------------------------------------------------------------------------------------

    def _lead_way(self, com: np.ndarray, wanted: np.ndarray) -> None:
        self.way += self.dt * wanted
        off = self.way - com[:2]
        far = float(np.hypot(*off))
        if far > AHEAD * self.height:
            self.way[:] = com[:2] + off * (AHEAD * self.height / far)

    def _wrench(
        self,
        com: np.ndarray,
        velocity: np.ndarray,
        wanted: np.ndarray,
        trunk: np.ndarray,
        spin: np.ndarray,
        height: float,
    ) -> np.ndarray:
        """(6,) N and N m at the centre of mass that leads it and the trunk."""
        w = math.sqrt(self.rate)
        wrench = np.zeros(6)
        wrench[:3] = -self.gravity
        wrench[:2] += ALONG[0] * self.rate * (self.way - com[:2]) + ALONG[1] * w * (wanted - velocity[:2])
        wrench[2] += UPWARD[0] * self.rate * (height + self.height - com[2]) - UPWARD[1] * w * velocity[2]
        wrench[:3] *= self.mass
        off = rotation_vector(about_z(self.heading) @ self.home_trunk @ trunk.T)
        wrench[3:] = self.inertia * (ATTITUDE[0] * self.rate * off - ATTITUDE[1] * w * spin[:3])
        return wrench

    def _carry(
        self, wrench: np.ndarray, feet: np.ndarray, com: np.ndarray, frames: np.ndarray, standing: list[int]
    ) -> None:
        self.force[:] = 0.0
        if not standing:
            return
        key = tuple(standing)
        if key not in self.problems:
            weights = (1.0, TORQUE_WEIGHT / self.height**2, SIZE_WEIGHT)
            least = LEAST_LOAD * self.mass * float(np.linalg.norm(self.gravity))
            self.problems[key] = ContactForces(len(key), self.friction, minimum=least, weights=weights)
        points = [self.feet[foot] for foot in standing]
        self.force[points] = self.problems[key].distribute(wrench, feet[standing] - com, frames[points])

    # ---- the feet ------------------------------------------------------------------------------------------------

    def _change_feet(
        self, cycles: float, walking: bool, feet: np.ndarray, touching: np.ndarray, meeting: np.ndarray
    ) -> list[int]:
        """Lift and set down feet by the schedule; which ones stand."""
        lasts = (1.0 - self.schedule.duty) * self.period
        for foot in range(4):
            part = self.schedule.swing(foot, cycles) if walking else -1.0
            swing = self.swings[foot]
            if swing is None and 0.0 <= part < 0.5:
                x, y, z = feet[foot].tolist()
                self.swings[foot] = SwingFoot((x, y, z), lasts, self.step_height, DESCENT * math.sqrt(self.height))
            elif swing is not None and touching[foot] and swing.time > SOONEST * lasts:
                self.swings[foot] = None
            elif swing is not None and meeting[foot] and swing.lifted > OBSTACLE * self.step_height:
                swing.stumble(HIGHER * self.step_height)  # over what it met
        return [foot for foot in range(4) if self.swings[foot] is None]

    def _swing(
        self,
        foot: int,
        swing: SwingFoot,
        state: State,
        data: mujoco.MjData,
        com: np.ndarray,
        velocity: np.ndarray,
        wanted: np.ndarray,
    ) -> None:
        """Torques of the leg of a swinging foot: its inertia times the acceleration that the reference needs."""
        model, point, leg = self.robot.model, self.feet[foot], self.legs[foot]
        left = max(0.0, swing.duration - swing.time)
        ahead = 0.5 * self.schedule.duty * self.period * wanted + CAPTURE / math.sqrt(self.rate) * (
            velocity[:2] - wanted
        )
        far = float(np.hypot(*ahead))
        ahead *= min(1.0, FARTHEST * self.height / max(far, 1e-9))
        hip = com[:2] + velocity[:2] * left + (about_z(self.heading + self.turn * left) @ self.offset[foot])[:2]
        goal = hip + ahead
        swing.advance((float(goal[0]), float(goal[1]), swing.start_height), self.dt)
        at, body = state.position[point], int(self.robot.point_body[point])
        J, rate = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, J, None, at, body)
        mujoco.mj_jacDot(model, data, rate, None, at, body)
        speed = J @ state.qvel
        ways = (swing.x, swing.y, swing.z)
        acceleration = np.array(
            [
                one.acceleration + FOOT[0] * (one.position - at[i]) + FOOT[1] * (one.velocity - speed[i])
                for i, one in enumerate(ways)
            ]
        )
        own = J[:, leg]
        joints = np.linalg.lstsq(own, acceleration - rate @ state.qvel, rcond=1e-3)[0]
        inertia = self.inertia_matrix[np.ix_(leg, leg)]
        self.torque[leg] = inertia @ joints + data.qfrc_bias[leg] - data.qfrc_passive[leg]

    def _look_for_fall(self, time: float, com: np.ndarray, trunk: np.ndarray, height: float) -> None:
        tilt = math.acos(min(1.0, max(-1.0, float(self.home_trunk[2] @ trunk[2]))))
        tall = float(com[2]) - height
        if tilt >= FALLEN_TILT or tall <= FALLEN_HEIGHT * self.height:
            self.fallen = True
            self.watch.note(time, "fallen", f"trunk tilted {tilt:.2f} rad, mass {tall:.2f} m high, motors off")
