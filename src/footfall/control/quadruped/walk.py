"""Walk on four legs: contact forces of the standing feet carry and steer the trunk, the other feet swing.

The wrench that moves the centre of mass and the trunk is distributed over the standing feet as in balance control (Ott
2011, (18)-(22)); a schedule says which feet stand. A swinging foot goes to where the trunk will be, half a stance
ahead, plus a correction for the error of the speed (Raibert 1986). See :mod:`footfall.control.quadruped.steps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from footfall.control.body.com_coordinates import Tree, tree_of
from footfall.control.body.size import size_of
from footfall.control.contact_forces import force_problem
from footfall.control.contact_places import ContactPlaces, compiled_places
from footfall.control.episode_log import KIND, MORE, WORST, LoggedWarnings, empty_log
from footfall.control.inside import Inside, signals_in
from footfall.control.options import check_numbers, check_steps
from footfall.control.quadruped.pose import check_shape, check_strength, corner_points, leg_of, ready_to_walk
from footfall.control.quadruped.state import (
    KINDS,
    SATURATED,
    SIGNALS,
    ForcesOf,
    FourLegs,
    QuadrupedGait,
    QuadrupedWalker,
    not_begun,
    scratch_for,
)
from footfall.control.quadruped.steps import FARTHEST, quadruped_tick
from footfall.control.senses import no_senses
from footfall.errors import ControllerError, did_you_mean
from footfall.gait.schedule import SCHEDULES, Schedule
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.motors import drives
from footfall.standing import at_home, place, point_positions

#: What is left out, for a centre of mass as high as that of the built-in quadruped: m, m/s, s and m.
HEIGHT, SPEED, STEP_DURATION, STEP_HEIGHT = 0.31, 0.3, 0.25, 0.06
#: Share of the ground's friction that is used, and of the weight that presses every standing foot.
FRICTION_USED, LEAST_LOAD = 0.8, 0.01
#: Weight of the torque that is missed, per height squared, and of the size of forces, beside that of the force.
TORQUE_WEIGHT, SIZE_WEIGHT = 4.0, 1e-4
#: Most episodes of warnings that are kept.
ROOM = 256


@dataclass(frozen=True)
class QuadrupedWalk:
    """Walk on four legs, from standing to standing, by a ``gait`` of :data:`footfall.gait.schedule.SCHEDULES`.

    Defaults follow from the height of the centre of mass by Froude's number: speed and duration with its square root,
    the step's height in proportion. For robots with a free base on four point feet, each on a leg of three motors or
    servos. The robot feels the ground and does not see it.

    Records ``com``, ``com_velocity``, ``commanded_force`` and ``phase`` (cycles). Warnings: ``fallen``, after which the
    motors are off, and ``saturated``.

    Attributes:
        speed: m/s, forward.
        sideways: m/s, to the left.
        turn: rad/s, to the left.
        gait: trot or crawl.
        steps: swings, one after the other.
        step_duration: s, from one swing's start to the next.
        step_height: m.
        start_time: s, on all feet.
        stop_time: s, on all feet.
    """

    speed: float | None = None
    sideways: float = 0.0
    turn: float = 0.0
    gait: str = "trot"
    steps: int = 20
    step_duration: float | None = None
    step_height: float | None = None
    start_time: float = 0.5
    stop_time: float = 0.8

    def __post_init__(self) -> None:
        if self.gait not in SCHEDULES:
            raise ControllerError(
                f"quadruped-walk: no gait is called '{self.gait}': {did_you_mean(self.gait, SCHEDULES)}"
            )
        times = ("step_duration", "step_height", "start_time", "stop_time")
        check_numbers("quadruped-walk", self, finite=("speed", "sideways", "turn"), positive=times)
        check_steps("quadruped-walk", self.steps)

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


class QuadrupedWalking(Inside):
    """A running walk on four legs, inside the compiled loop."""

    def __init__(self, options: QuadrupedWalk, robot: Robot, ground: Ground, dt: float) -> None:
        model = robot.model
        driving = drives(robot, "quadruped-walk")
        check_shape(robot)
        places = ContactPlaces(robot, ground, ())
        tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), places.body)
        legs = _four_legs(robot, driving.dof, tree)
        check_strength(robot, driving, legs.leg, legs.point)
        walker = QuadrupedWalker(
            senses=no_senses(),
            signals=np.zeros(SIGNALS),
            robot=legs,
            tree=tree,
            drives=driving,
            contacts=compiled_places(places, ground),
            gait=_gait(options, robot, legs, dt),
            now=not_begun(),
            forces=_forces(legs, FRICTION_USED * ground.dynamic_friction),
            scratch=scratch_for(model.nv, model.nu),
            log=empty_log(KINDS, ROOM),
        )
        super().__init__(quadruped_tick, walker)
        self._motors = [model.actuator(i).name for i in range(model.nu)]
        self._limit = driving.limit
        self.warnings = LoggedWarnings(walker.log, self._describe)
        self.signals = signals_in(
            walker.signals,
            {
                "com": ((3,), "m"),
                "com_velocity": ((3,), "m/s"),
                "commanded_force": ((4, 3), "N"),
                "phase": ((1,), ""),
            },
        )

    def _describe(self, row: np.ndarray, before: np.ndarray) -> tuple[str, str]:
        """Kind and sentence of an episode."""
        first, second = row[MORE : MORE + 2].tolist()
        if int(row[KIND]) == SATURATED:
            asked, has = f"{second:.3g} N m", f"{self._limit[int(first)]:.3g} N m"
            return "saturated", f"motor '{self._motors[int(first)]}' is asked for {asked} and has {has}"
        return "fallen", f"trunk tilted {row[WORST]:.2f} rad, mass {first:.2f} m high, motors off"


def _four_legs(robot: Robot, driven: np.ndarray, tree: Tree) -> FourLegs:
    """The robot as it stands at home."""
    data = at_home(robot)
    points, com = point_positions(robot, data), data.subtree_com[tree.root]
    feet = corner_points(robot, points - com)
    size = size_of(robot, robot.point_count)
    return FourLegs(
        mass=size.mass,
        inertia=size.inertia,
        height=float(com[2] - (points[:, 2] - robot.point_radius).mean()),
        rate=size.rate,
        gravity=np.array(size.gravity, dtype=float),
        point=np.array(feet, dtype=np.int64),
        body=robot.point_body[feet].astype(np.int64),
        leg=np.array([leg_of(robot, driven, tree, point) for point in feet], dtype=np.int64),
        offset=(points - com)[feet],
        trunk=data.xmat[tree.root].reshape(3, 3).copy(),
    )


def _gait(options: QuadrupedWalk, robot: Robot, legs: FourLegs, dt: float) -> QuadrupedGait:
    """The gait with numbers for what was left out; an error where feet do not reach as far as it asks."""
    schedule = SCHEDULES[options.gait]
    scale = size_of(robot, robot.point_count).height / HEIGHT
    speed = options.scaled(robot).speed
    assert speed is not None
    fast = math.hypot(speed, options.sideways)
    step = _usual_step(schedule, fast, legs.height, scale) if options.step_duration is None else options.step_duration
    period = step * schedule.steps
    longest, stance = FARTHEST * legs.height, 0.5 * schedule.duty * period * fast
    if stance > longest:
        raise ControllerError(
            f"quadruped-walk: at {fast:.3g} m/s the feet of {robot.name} would go {stance:.2g} m ahead of the hips, "
            f"and {longest:.2g} m is in reach; shorten step_duration"
        )
    return QuadrupedGait(
        speed=float(speed),
        sideways=float(options.sideways),
        turn=float(options.turn),
        begin=float(options.start_time),
        period=float(period),
        cycles=options.steps / schedule.steps,
        duty=schedule.duty,
        lift=np.array(schedule.offset),
        step_height=float(STEP_HEIGHT * scale if options.step_height is None else options.step_height),
        dt=float(dt),
    )


def _usual_step(schedule: Schedule, fast: float, height: float, scale: float) -> float:
    """s, of a step: by Froude's number, and no longer than feet reach at this speed."""
    reach = 2.0 * FARTHEST * height / max(schedule.duty * schedule.steps * fast, 1e-9)
    return min(STEP_DURATION * math.sqrt(scale), 0.9 * reach)


def _forces(legs: FourLegs, friction: float) -> ForcesOf:
    """Room for the forces of one to four feet."""
    weights = (1.0, TORQUE_WEIGHT / legs.height**2, SIZE_WEIGHT)
    least = LEAST_LOAD * legs.mass * float(np.linalg.norm(legs.gravity))
    return ForcesOf(*(force_problem(count, friction, minimum=least, weights=weights) for count in range(1, 5)))
