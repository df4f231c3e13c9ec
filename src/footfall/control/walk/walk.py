"""Walk: footsteps, a divergent component of motion that leads from one to the next, and torques to follow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.control.base import derived, described
from footfall.control.body.biped import Biped
from footfall.control.body.linkage import damp_springs
from footfall.control.body.stance import settled, stance
from footfall.control.inside import UNSOLVED, Inside, see_episode, see_fall
from footfall.control.walk.footholds import time_step
from footfall.control.walk.goals import (
    begin_walk,
    change_phase,
    lead_com,
    lead_posture,
    lead_standing_feet,
    lead_swinging_foot,
    moving_foot,
    step_of,
)
from footfall.control.walk.ground import feel_contacts, feel_grip, feel_obstacle, feel_slope, feel_trunk, ground_at
from footfall.control.walk.soles import see_body, solve_standing
from footfall.control.walk.state import Walker, make_walker
from footfall.control.walk.stature import (
    AHEAD,
    BEYOND,
    DRAG,
    LOWER_STEPS,
    ROOM,
    SLOWER,
    Stature,
    check_speed,
    fastest,
    has_room,
    stature,
    width_for,
)
from footfall.errors import ControllerError, warn
from footfall.gait.footsteps import MOST_STEPS, POSITION, FootstepPlan
from footfall.given_numbers import Bounds, Finite, Positive
from footfall.ground import Ground
from footfall.kinds import Float, Int, Vector
from footfall.robot import Robot
from footfall.robot.motors import torque_range, write_controls
from footfall.solve.dense import copy
from footfall.standing import place

#: Damping by which the motors of a robot that fell brake, in weight times leg times sqrt(leg / g).
BRAKE = 0.05


@inlined
def walk_tick(walk: Walker, time: Float, ctrl: Vector) -> Int:
    """Write the controls for this instant; 0."""
    senses, body, gait, now, problem = walk.senses, walk.body, walk.gait, walk.now, walk.body.problem
    see_body(senses, body)
    feel_trunk(walk)
    if not now.begun[0]:
        begin_walk(walk, time)
    feel_contacts(walk)
    feel_grip(walk)
    for c in range(2):
        walk.signals.dcm[c] = body.problem.com[c] + body.problem.com_velocity[c] / now.dcm_plan.omega
    change_phase(walk, time)
    foot = moving_foot(walk)
    standing = 1 - foot if now.swinging[0] else -1
    feel_slope(walk, standing)
    lead_com(walk, time, standing)
    lead_standing_feet(walk, time)
    if now.swinging[0]:
        time_step(walk, time, step_of(gait, now.step[0]), standing)
        feel_obstacle(walk, time, foot)
        lead_swinging_foot(walk, time, foot)
    lead_posture(walk)
    for i in range(ctrl.size):
        problem.least_torque[i], problem.most_torque[i] = torque_range(gait.drives, i, senses.qpos, senses.qvel)
    if not solve_standing(body):
        see_episode(walk.log, time, UNSOLVED, 1.0)
    elif body.linkage.sprung:
        damp_springs(body, senses.qvel, gait.dt)
    tilt = math.acos(min(1.0, max(-1.0, now.trunk[2, 2])))
    height = body.problem.com[2] - ground_at(walk, standing, body.problem.com[0], body.problem.com[1])
    see_fall(walk.log, now.fallen, time, height, gait.height, tilt)
    if now.fallen[0]:
        for i in range(ctrl.size):
            body.problem.torque[i] = -BRAKE * gait.weight * gait.leg * gait.unit * senses.qvel[body.motors[i]]
    write_controls(gait.drives, body.problem.torque, senses.qpos, senses.qvel, ctrl)
    write_signals(walk)
    return 0


@inlined
def write_signals(walk: Walker) -> None:
    """Write what is recorded of a walk."""
    now, signals = walk.now, walk.signals
    copy(signals.com, walk.body.problem.com)
    copy(signals.grip, now.grip)
    if now.swinging[0]:
        for c in range(3):
            signals.swing_reference[c] = now.swing.motion[c, POSITION]
    signals.phase[0] = min(now.step[0] + (0.5 if now.swinging[0] else 0.0), walk.gait.steps.shape[0])


#: What is left out: speed in sqrt(g leg), so that Froude's number is 0.022, a fifth of a person's; duration of a step
#: in sqrt(leg / g), somewhat more than half a swing of a pendulum as long as the leg; and its height in legs.
SPEED, STEP_DURATION, STEP_HEIGHT = 0.149, 1.825, 0.0679
#: Of a speed for which steps of that duration would be too long: share of the longest step that is taken, in less time,
#: and the least time, as a share of the usual duration.
LONG, QUICK = 0.9, 0.6
#: Share of the height of the centre of mass that counts as the leg in the speed, where the leg is longer.
LOW_MASS = 0.85
#: m/s and s, speed and duration of a step before the robot is known: for legs of 0.74 m on Earth.
UNKNOWN_SPEED, UNKNOWN_DURATION = 0.4, 0.5
#: Share of a step with both feet on the ground, where feet stand on lines.
LINE_SUPPORT = 0.05
#: The same on points: longer, for only then can the trunk be turned.
POINT_SUPPORT = 0.1
#: The same on legs with loops and springs, which swing where load comes and goes at once.
SPRUNG_SUPPORT = 0.3
#: Part of the speed that is chosen on them.
SPRUNG_SPEED = 0.75
#: Steps in which a walk on points comes up to its speed.
EASED = 4


@public
@dataclass(frozen=True)
class Walk:
    """Walk from standing to standing, or on point feet from standing to steps in place.

        walk = Walk(speed=0.4, steps=6)
        rec = ff.Simulation("spatial-biped").run(walk.duration, controller=walk)

    Defaults follow from the length of the legs by Froude's number: speed and duration with its square root, lengths in
    proportion; 0.4 m/s, 0.5 s and 0.05 m for legs of 0.74 m. The speed is lower where the centre of mass is low, where
    joint damping would take the torque of the motors, and where joints come near their limits; if that is not enough,
    feet are lifted less. A walk that is slowed for its joints says so. At a higher speed that is asked for steps take
    less time; steps that joints do not reach, or motors cannot carry, are refused before the first step.

    Robots. Two flat feet under a free base, on legs of six motors or more. Legs of five motors cannot roll their feet,
    which tip on their edges: such a robot only walks straight ahead, and some fall. So may a robot whose feet are lines
    along the walk, whose lateral motion is controlled only by where and when it steps. On point feet, with three or
    more motors a leg, that is true in every direction. Such a robot cannot stand still: by default it starts within the
    time of one step, reaches its speed in four steps, and steps in place after the last step until the run ends. It may
    fall if its legs are a large share of its mass, and on slopes where feet creep. Leg joints without a motor must
    follow loops, be tied to a joint with one (an equality of joints, a gear) or be held by springs (Cassie): springs
    are assumed to keep their length, and motors are damped so that rotors do not oscillate on them. Servos get the
    target that produces the wanted torque. A robot with straight legs starts with bent knees.

    Ground. The robot feels it with its soles and does not see it: a foot comes down until it touches, and the next one
    assumes the slope under the last ones. A foot that meets something is lifted over it. Where one slips, forces are
    limited to the friction found there, and steps become shorter and narrower until the ground is better.

    Pushes. The next foothold and its time follow the divergent component. Where a push takes it off both soles, before
    the first step or after the last, a step is taken at once: the first, or one more than ``steps``, and one to close.

    Records ``com``, ``dcm`` and ``dcm_reference`` (divergent component of motion), ``cop_reference``,
    ``swing_reference``, ``phase`` (steps taken, plus a half while a foot swings) and ``grip`` (the friction coefficient
    assumed under each foot: the ground's, or that found where it slipped).

    Warnings: ``late`` where a foot found the ground too late, ``stumbled`` where a swinging foot hit something and was
    lifted over it, ``out of reach`` where no foothold could stop the fall, ``unsolved``, and ``fallen``, after which
    the motors only brake.

    Attributes:
        speed: m/s, forward; the length of a step is this times ``step_duration``.
        steps: of both feet together; the last one brings the feet together.
        turn: rad/s, to the left.
        step_duration: s.
        step_height: m, that a foot is lifted.
        step_width: m, between the feet's middles; as at home if left out, wider to the side and where feet would meet.
        double_support: share of a step on both feet; the default differs on line feet, point feet and springs.
        start_time: s, on both feet before the first step.
        stop_time: s, on both feet after the last.
        sideways: m/s, to the left.
        command: function of time (s) that returns m/s forward, m/s to the left and rad/s in place of ``speed``,
            ``sideways`` and ``turn``; it is called at the planned time of each step, so that a change takes effect with
            the next step. Zero is a stop.
    """

    speed: Finite | None = None
    steps: Annotated[int, Bounds(1, MOST_STEPS)] = 5
    turn: Finite = 0.0
    step_duration: Positive | None = None
    step_height: Positive | None = None
    step_width: Positive | None = None
    double_support: Annotated[float, Bounds(0.02, 0.8)] = 0.15
    start_time: Positive = 0.8
    stop_time: Positive = 1.0
    sideways: Finite = 0.0
    command: Callable[[float], Sequence[float]] | None = None

    #: s between two calls, where a run does not say otherwise.
    control_dt = 0.002

    def __str__(self) -> str:
        return described(self, "walk", ("steps",))

    def scaled(self, robot: Robot) -> Walk:
        """The same walk with numbers for all that was left out, from the length of the robot's legs."""
        own, usual = _scaled(self, robot)
        if own.speed != usual:
            warn(
                f"walk: {usual:.3g} m/s, usual for legs of this length, is too fast for the joints of {robot.name}: it "
                f"walks at {own.speed:.3g} m/s"
            )
        return own

    @property
    def period(self) -> float:
        """s, of one step; where it is left out, for legs of 0.74 m."""
        return UNKNOWN_DURATION if self.step_duration is None else self.step_duration

    @property
    def duration(self) -> float:
        """s, until the robot stands again; landings that come late make it longer."""
        return self.start_time + self.steps * self.period + self.stop_time

    def plan(self, width: float, moves: Sequence[tuple[float, float, float]] | None = None) -> FootstepPlan:
        """The footsteps, with the feet ``width`` (m) apart if nothing else was asked for."""
        return FootstepPlan.of_moves(
            self._moves() if moves is None else moves,
            duration=self.period,
            width=width if self.step_width is None else self.step_width,
            double_support=self.double_support,
        )

    def steps_of(self, biped: Biped) -> FootstepPlan:
        """The footsteps of a robot: on points the first ones are shorter, for it must fall forward before it walks.

        Where it goes to the side, or they would meet, feet that stand close step wider than at home.
        """
        moves = self._moves()
        width = width_for(biped, max(abs(aside) for _, aside, _ in moves))
        if biped.point:
            shares = [min(1.0, (i + 1) / EASED) for i in range(len(moves))]
            moves = [(share * x, share * y, turn) for share, (x, y, turn) in zip(shares, moves, strict=True)]
        return self.plan(width, moves)

    def _moves(self) -> list[tuple[float, float, float]]:
        """Of each step: m forward, m to the left, rad of turn. The first is half of one, the last closes."""
        speed = UNKNOWN_SPEED if self.speed is None else self.speed
        moves = []
        for i in range(self.steps):
            share = self.period * (0.0 if i == self.steps - 1 else 0.5 if i == 0 else 1.0)
            wanted = [speed, self.sideways, self.turn]
            if self.command is not None:
                wanted = [float(x) for x in self.command(self.start_time + i * self.period)]
                if len(wanted) != 3 or not all(map(math.isfinite, wanted)):
                    raise ControllerError(f"walk: a command is three numbers (m/s, m/s, rad/s), not {wanted}")
            moves.append((share * wanted[0], share * wanted[1], share * wanted[2]))
        return moves

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray | None, None]:
        """Where a run starts: with soles flat on a slope, and bent knees where those of the home pose are straight."""
        _, biped, _, held = _ready(self, robot)
        stands = replace(robot, home=held.qpos)
        if not biped.linkage.body.size:
            return stance(stands, ground), None
        if not held.bent:  # legs with loops start on the edges of their soles
            return None, None
        start = place(stands, ground, (0.0, 0.0), align=False)
        return (settled(robot, start) if biped.linkage.sprung else start), None

    def start(self, robot: Robot, ground: Ground, dt: float) -> Inside:
        walk, biped, plan, held = _ready(self, robot)
        self.scaled(robot)  # which warns of a walk that is slowed
        walker = make_walker(
            plan,
            biped,
            held,
            start_time=walk.start_time,
            step_height=walk.step_height or 0.0,
            friction=ground.dynamic_friction,
            dt=dt,
        )
        return Inside(walk_tick, walker, robot)


@lru_cache(maxsize=8)
def _biped(robot: Robot) -> Biped:
    """One for all walks of a robot, which poses that were found are kept with."""
    return Biped.of(robot, "walk")


@lru_cache(maxsize=16)
def _scaled(walk: Walk, robot: Robot) -> tuple[Walk, float]:
    """The walk with numbers for all that was left out, and the speed (m/s) before joints slowed it down."""
    biped = _biped(robot)
    leg, unit = biped.leg, biped.unit
    sprung = SPRUNG_SPEED if biped.linkage.sprung else 1.0
    usual = derived(sprung * SPEED * math.sqrt(leg * min(leg, LOW_MASS * biped.com_height)) / unit)
    speed = min(usual, derived(DRAG * fastest(biped)[0])) if walk.speed is None else walk.speed
    duration = walk.step_duration
    if duration is None:
        enough = LONG * AHEAD * leg / max(abs(speed), 1e-9)
        duration = derived(max(min(STEP_DURATION * unit, enough), QUICK * STEP_DURATION * unit))
    height = derived(STEP_HEIGHT * leg) if walk.step_height is None else walk.step_height
    # On line feet the pressure centre cannot control the lateral motion, and while both feet stand no step can either.
    support = walk.double_support
    if support == Walk.double_support:
        support = LINE_SUPPORT if biped.line else POINT_SUPPORT if biped.point else support
        support = SPRUNG_SUPPORT if biped.linkage.sprung else support
    start = walk.start_time
    if biped.point and start == Walk.start_time:  # on two points it cannot wait
        start = duration
    own = replace(
        walk, speed=speed, step_duration=duration, step_height=height, double_support=support, start_time=start
    )
    if walk.speed is not None or walk.command is not None:
        return own, speed
    heights = [derived(low * height) for low in LOWER_STEPS] if walk.step_height is None else [height]
    tries = [replace(own, speed=derived(part * speed), step_height=low) for low in heights for part in SLOWER]
    fitting = (
        one
        for room in (ROOM, -BEYOND)
        for one in tries
        if has_room(one.steps_of(biped), biped, one.step_height or height, room)
    )
    return next(fitting, own), speed


@lru_cache(maxsize=16)  # a run asks twice, for its start and for the walk
def _ready(walk: Walk, robot: Robot) -> tuple[Walk, Biped, FootstepPlan, Stature]:
    """The walk with numbers for all that was left out, its footsteps, and the robot's posture in it."""
    biped, (own, _) = _biped(robot), _scaled(walk, robot)
    assert own.step_height is not None and own.speed is not None
    check_speed(biped, own.speed)
    plan = own.steps_of(biped)
    if biped.tips and any(step.turn for step in plan.steps):
        raise ControllerError(f"walk: {robot.name} cannot roll its feet, and without that it walks straight on only")
    return own, biped, plan, stature(plan, biped, own.step_height)
