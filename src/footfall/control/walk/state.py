"""What a walk knows: the gait it was asked for, where it is in it, and what it keeps from one call to the next."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from footfall.control.body.biped import Biped
from footfall.control.inside import EpisodeLog, empty_log
from footfall.control.senses import Senses, no_senses
from footfall.control.walk.soles import SoleBody, body_on_soles
from footfall.control.walk.stature import Stature
from footfall.gait.footsteps import DcmPlan, FootstepPlan, Swing, empty_plan, empty_swing
from footfall.kinds import Ints, Matrix, Tensor, Unit, Vector, zeros
from footfall.robot.motors import Drives

#: Steps that the divergent component is planned ahead: beyond, exp(-w T) leaves nothing.
HORIZON = 4
#: Share of the ground's friction that is used.
FRICTION_USED = 0.8
#: Part of half the sole's width that the pressure centre keeps from its edge.
EDGE = 0.2
#: Share of the weight by which a standing foot is pressed on the ground at least.
LEAST_LOAD = 0.002
#: rad before its limit from which a joint is led back.
LIMIT_ZONE = 0.05
#: Time constant of the estimates of height of the centre of mass and heading, in sqrt(leg / g): less than half a step;
#: and that of the slope: more than a step, for a sole on an edge leans as the ground around it does not.
SLOW, SLOW_SLOPE = 0.73, 3.0
#: Speed, in sqrt(g leg), at which a foot comes down; and that of feet on points, and of any foot that looks for ground
#: which is not where it was expected: sooner, for a landing that comes late moves the next foothold by exp(w t).
DESCENT, LOOKING = 0.037, 0.093
#: How much slower trunk and height are led on legs with springs, so that these are not set swinging.
SOFT = 2.0
#: More steps than a run takes.
ENDLESS = 2**40
#: Episodes that there is room for, besides four for each step.
ROOM = 256


class Gait(NamedTuple):
    """What was asked for, and the sizes of the robot. Constant. Feet are counted 0 left, 1 right."""

    steps: Matrix  # (N, 7) the fields of Footstep
    dt: float  # s between two calls
    leg: float  # m, length of the shorter one
    unit: float  # s, sqrt(leg / g): what times scale with
    slowly: float  # how much of the way to its new value an estimate goes in one call
    slope_slowly: float  # the same of the slope
    descent: float  # m/s, at which a foot comes down
    looking: float  # m/s, at which it looks for the ground
    soft: float  # s, the same for the gains of trunk and height, more on springs
    height: float  # m, of the centre of mass over the ground
    reach: float  # m, that a foot is behind the hip at most
    step_height: float  # m, that a foot is lifted
    edge: float  # m, that the pressure centre keeps from the sides of a sole
    weight: float  # N
    friction: float  # coefficient of the ground, as it is stated
    joint_place: Ints  # (nu,) address in qpos
    home_joints: Vector  # (nu,) rad
    joint_low: Vector  # (nu,) rad, where a joint comes near its limit; infinite where it has none
    joint_high: Vector  # (nu,)
    tips: int  # 1 where feet roll as they stand: legs cannot hold them, or they stand on lines
    points: int  # 1 where each foot stands on a point: the walk goes on with steps in place, for it cannot stand
    drives: Drives  # from torques to controls


class Progress(NamedTuple):
    """Where a walk is, all that changes."""

    begun: Annotated[Ints, 1]  # 0 before the first call
    step: Annotated[Ints, 1]  # the one that is prepared or under way
    steps: Ints  # (1,) how many to take: those asked for, more where it topples, and without end on points
    swinging: Annotated[Ints, 1]  # 1 while a foot is in the air
    stumbled: Annotated[Ints, 1]  # 1 if that foot met something
    fallen: Annotated[Ints, 1]
    since: Annotated[Vector, 1]  # s, when the phase began
    lasts: Vector  # (1,) s, that it takes
    trunk: Annotated[Matrix, 3, 3]  # columns: axes of the trunk that point forward, left and up at home, world frame
    spin: Annotated[Vector, 3]  # rad/s, of the trunk about these axes
    heading: Annotated[Vector, 1]  # rad, of the trunk
    headings: Annotated[Vector, 2]  # rad, planned for the feet as they stand
    grip: Vector  # (2,) friction coefficient under each foot, as far as it is known
    trim: Annotated[Vector, 2]  # m ahead and outward that footholds are moved, on points, by what is off at every step
    width: Annotated[Vector, 1]  # m, between the feet's middles, as the last landing was planned
    next_width: Annotated[Vector, 1]  # m, as the next one is
    com_height: Vector  # (1,) m, over the ground, as it shall be
    slope: Annotated[Vector, 2]  # dz/dx, dz/dy of the ground as it is felt
    pressure: Annotated[Vector, 2]  # m, planned
    landing: Annotated[Vector, 3]  # planned pose of the foot that moves
    lands_after: Annotated[Ints, 1]  # segments of the plan of the divergent component after which it lands
    poses: Annotated[Matrix, 2, 3]  # of both feet, while steps are planned
    lifted: Annotated[Matrix, 3, 3]  # axes of the moving sole when it was lifted
    axes: Annotated[Tensor, 3, 3, 3]  # scratch
    meeting: Annotated[Ints, 2]  # 1 if something pushes a foot
    touching: Annotated[Ints, 2]  # 1 if something carries it
    dcm_plan: DcmPlan
    swing: Swing


class WalkSignals(NamedTuple):
    """What is recorded, see :class:`footfall.control.Walk`; all of it is written anew in every call."""

    com: Annotated[Vector, 3, Unit("m")]
    dcm: Annotated[Vector, 2, Unit("m")]
    dcm_reference: Annotated[Vector, 2, Unit("m")]
    cop_reference: Annotated[Vector, 2, Unit("m")]
    swing_reference: Annotated[Vector, 3, Unit("m")]
    phase: Annotated[Vector, 1]
    grip: Annotated[Vector, 2]


class Walker(NamedTuple):
    """All that a walk works with."""

    senses: Senses
    body: SoleBody
    gait: Gait
    now: Progress
    log: EpisodeLog
    signals: WalkSignals


def make_walker(
    plan: FootstepPlan,
    biped: Biped,
    held: Stature,
    *,
    start_time: float,
    step_height: float,
    friction: float,
    dt: float,
) -> Walker:
    """A walk that has not begun, without senses.

    ``start_time`` (s) is the time on both feet before the first step; feet are lifted by ``step_height`` (m);
    ``friction`` is the ground's; ``dt`` (s) is the time between two calls.
    """
    robot = biped.robot
    model, weight = robot.model, float(robot.weight)
    edge = EDGE * min(sole.half_width for sole in biped.soles)
    joints = model.dof_jntid[biped.motors]
    place = model.jnt_qposadr[joints].astype(np.int64)
    limited = model.jnt_limited[joints].astype(bool)
    return Walker(
        senses=no_senses(),
        body=body_on_soles(biped, FRICTION_USED * friction, margin=edge, least_load=LEAST_LOAD * weight),
        gait=Gait(
            steps=np.array(plan.steps, dtype=float),
            dt=float(dt),
            leg=float(biped.leg),
            unit=float(biped.unit),
            slowly=float(dt / (SLOW * biped.unit + dt)),
            slope_slowly=float(dt / (SLOW_SLOPE * biped.unit + dt)),
            descent=float((LOOKING if biped.point else DESCENT) * biped.leg / biped.unit),
            looking=float(LOOKING * biped.leg / biped.unit),
            soft=float(biped.unit) * (SOFT if biped.linkage.sprung else 1.0),
            height=float(held.height),
            reach=float(held.reach),
            step_height=float(step_height),
            edge=float(edge),
            weight=weight,
            friction=float(friction),
            joint_place=place,
            home_joints=held.qpos[place],
            joint_low=np.where(limited, model.jnt_range[joints, 0] + LIMIT_ZONE, -np.inf),
            joint_high=np.where(limited, model.jnt_range[joints, 1] - LIMIT_ZONE, np.inf),
            tips=int(biped.tips or biped.line),
            points=int(biped.point),
            drives=biped.drives,
        ),
        now=zeros(
            Progress,
            {},
            steps=np.array([ENDLESS if biped.point else len(plan.steps)]),
            lasts=np.array([float(start_time)]),
            grip=np.full(2, float(friction)),
            com_height=np.array([float(held.height)]),
            dcm_plan=empty_plan(math.sqrt(weight / (robot.mass * held.height)), 2 * HORIZON + 1),
            swing=empty_swing(),
        ),
        log=empty_log(ROOM + 4 * len(plan.steps)),
        signals=zeros(WalkSignals, {}),
    )
