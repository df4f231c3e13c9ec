"""The rules of the audit: the errors that it looks for, each as a number per sample, and their bounds.

Each is a function of a recording that returns (T,) numbers >= 0 for the worst point or foot of each sample, in the unit
of its :func:`rule`, NaN where there is nothing to judge. The rules depend on the law only by whether it limits friction
per point or per foot, and whether it takes steps or goes from event to event, so that laws can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import mujoco
import numpy as np

from footfall.engine.replay import PLACES, SPEEDS, States, replay
from footfall.measure.audit_balance import (
    force_residual,
    largest_change,
    moment_residual,
    momentum_is_exact,
    stepped,
    unknown_balance,
)
from footfall.measure.common import (
    contact_bodies,
    feet,
    normal_force,
    once,
    reference_plane,
    runs,
    tangential,
    threshold,
)
from footfall.measure.pressure import cop, margins, overall_cop, stance_width
from footfall.record import Record
from footfall.robot import Robot
from footfall.robot.feet import Foot
from footfall.robot.model import moving_bodies
from footfall.solve.contacts import OPEN, SLIDE
from footfall.standing import at_home, point_positions, scratch_data

#: Cosine of the angle between the normals of two samples beyond which they belong to two faces of the ground: smooth
#: ground turns by 30 degrees only in many steps.
TURNED = math.cos(math.radians(30.0))


class Scales(NamedTuple):
    """Units of errors."""

    weight: float  # N
    size: float  # m, the longest side of the box around the robot at home
    energy: float  # J, weight times size
    speed: float  # m/s, sqrt(g size): that of a fall over half its size


def scales(robot: Robot, start: np.ndarray | None = None) -> Scales:
    """Weight (1 N without gravity), size, energy and speed of a robot. The box of its size holds the robot at home and
    the contact points ``start`` (P, 3), m.
    """
    model = robot.model
    data = at_home(robot, scratch_data(model))
    moving = np.flatnonzero(moving_bodies(model)[model.geom_bodyid] & (model.geom_rbound > 0))
    at, reach = data.geom_xpos[moving], model.geom_rbound[moving, None]
    box = np.abs(data.geom_xmat[moving].reshape(-1, 3, 3)) @ model.geom_aabb[moving, 3:, None]
    reach = np.minimum(reach, box[..., 0])
    points = point_positions(robot, data) if start is None else start
    corners = np.concatenate([at - reach, at + reach, points, data.xpos[1:]])
    size = max(float(np.ptp(corners, axis=0).max()), 1e-3)
    weight = robot.weight or 1.0
    gravity = weight / robot.mass if robot.mass else 9.81
    return Scales(weight, size, weight * size, math.sqrt(gravity * size))


@once
def scales_of_run(rec: Record) -> Scales:
    """Scales of the robot of a record, from the start of its points."""
    return scales(rec.robot, rec.position[:1].reshape(-1, 3))


# ---- rules: for every error a tolerance and a limit, the same for all laws ------------------------------------------
# Shares of the weight (or weight times size, or size): 1e-9 is rounding, 1e-6 the residual of iterative solvers, 1e-3
# is visible in a plot.


class Bounds(NamedTuple):
    """Up to ``tolerance`` a row passes, up to ``limit`` it is a note, beyond it fails; all in the row's unit."""

    tolerance: float
    limit: float


#: What a row can conclude from a recording that leaves steps out: everything; only a fault, because a mean may hide the
#: fault of one step; only the absence of faults, because an error may come from differences over many steps; or
#: nothing, because the steps between the samples are not recorded.
EVERYTHING, FAULTS, PROOFS, NOTHING = "everything", "faults", "proofs", "nothing"


class Rule(NamedTuple):
    """One row of the audit: what is measured, how it is judged, and what it means."""

    name: str
    unit: str
    quantity: Callable[[Record], np.ndarray]
    bounds: Callable[[Record], Bounds]
    between_samples: str  # what it can conclude where steps are left out
    unknown: Callable[[Record], np.ndarray] | None  # (T,) samples that it cannot judge

    @property
    def meaning(self) -> str:
        """The first sentence about the quantity."""
        first = (self.quantity.__doc__ or " ").partition("\n")[0].removesuffix(".")
        return first[0].lower() + first[1:]


#: The rows of the audit, in their order.
RULES: list[Rule] = []
Quantity = TypeVar("Quantity", bound=Callable[..., np.ndarray])


def rule(
    name: str,
    unit: str,
    bounds: Callable[[Record], Bounds],
    between_samples: str = EVERYTHING,
    unknown: Callable[[Record], np.ndarray] | None = None,
) -> Callable[[Quantity], Quantity]:
    """Make a function of a record a row of the audit; the first line of its docstring says what the row means."""

    def listed(quantity: Quantity) -> Quantity:
        RULES.append(Rule(name, unit, quantity, bounds, between_samples, unknown))
        return quantity

    return listed


#: The forces whose energy is judged.
NORMAL, FRICTION, BOTH = "normal", "friction", "both"
#: Largest depth of a sole in the ground, as a share of its length: a tilt of 3 degrees.
SINKING = 0.05
#: Largest depth of the ground in a sole between its points, as a share of its length: a tilt of 0.6 degrees.
UNFELT = 0.01


def _sole(robot: Robot, size: float) -> float:
    """Length (m) of the longest sole, or width of the support if that is larger; the ``size`` of a robot on points."""
    sole = max((foot.length for foot in robot.feet), default=0.0)
    return max(sole, stance_width(robot)) if sole else size


def _of(name: str, tolerance: float, limit: float) -> Callable[[Record], Bounds]:
    """Bounds as shares of one of the robot's scales."""

    def bounds(rec: Record) -> Bounds:
        scale = getattr(scales_of_run(rec), name)
        return Bounds(tolerance * scale, limit * scale)

    return bounds


def _of_gap(rec: Record) -> Bounds:
    """The part of the error on points no higher than ``Law.reach`` raises the limit: it is a note."""
    scale, reach = scales_of_run(rec).energy, rec.law.reach
    whole, beyond = (np.nanmax(gap_times_force(rec, one), initial=0.0) for one in (0.0, reach))
    return Bounds(1e-6 * scale, 1e-4 * scale + float(whole - beyond))


def _of_depth(rec: Record) -> Bounds:
    """A rigid sole sinks in by less than 1e-3 of its length, 0.2 mm for a human's. A soft one (``law.by_design``) sinks
    in by less than 5 % of it, a tilt of 3 degrees, plus, in a landing, the distance covered in 10 ms at landing speed,
    which is how long heels and shoe soles give way. For several short soles, as under four legs, the length is that of
    the support.
    """
    sole = _sole(rec.robot, scales_of_run(rec).size)
    speed = np.einsum("tpi,tpi->tp", rec.velocity, rec.normal)
    landing = (rec.gap[:-1] > 0.0) & (rec.gap[1:] <= 0.0)
    fastest = float(np.max(-speed[:-1], where=landing, initial=0.0))
    return Bounds(1e-3 * sole, SINKING * sole + 0.01 * fastest)


def _of_unfelt_ground(rec: Record) -> Bounds:
    """Ground that reaches deeper into a sole than a soft sole may sink is ground that the robot walks through."""
    size = scales_of_run(rec).size
    return Bounds(UNFELT * _sole(rec.robot, size), SINKING * _sole(rec.robot, size))


def _of_energy(part: str) -> Callable[[Record], Bounds]:
    """Bounds on the energy that a part of the forces creates: rounding, plus the error of finite steps on arcs.

    The error of finite steps at edges of the ground raises the limit alone.
    """

    def bounds(rec: Record) -> Bounds:
        scale, created, of_step = scales_of_run(rec).energy, energy_created(rec, part), error_on_arcs(rec, part)
        explained = float(created.max(initial=0.0) - (created - of_step).max(initial=0.0))
        late = float(error_at_edges(rec)[np.argmax(created)]) if part == NORMAL and len(rec) else 0.0
        return Bounds(1e-6 * scale + explained, 1e-3 * scale + late)

    return bounds


def _of_momentum(name: str, part: int) -> Callable[[Record], Bounds]:
    """Solvers balance to 1e-5 of the weight; 1e-3 is a wrong force. Where the recorded velocities are not one step of
    semi-implicit Euler apart, their differences may also be wrong by the change of the wrench between two samples and
    by the external forces.
    """

    def bounds(rec: Record) -> Bounds:
        scale = getattr(scales_of_run(rec), name)
        if momentum_is_exact(rec):
            return Bounds(1e-5 * scale, 1e-3 * scale)
        missed = 1e-3 * scale + largest_change(rec, part)
        return Bounds(missed if rec.every_step else 1e-5 * scale, missed)

    return bounds


def _no_bad_samples(rec: Record) -> Bounds:
    """One unsolved sample in a hundred does no harm to a walk. A run that ended early fails, unless by the user."""
    return Bounds(0.0, 0.01 if rec.failure is None or rec.failure.cause == "interrupted" else -1.0)


# ---- contact -----------------------------------------------------------------------------------------------


@rule("gap times force", "J", _of_gap, NOTHING)
def gap_times_force(rec: Record, reach: float = 0.0) -> np.ndarray:
    """The ground pushes only what touches it (Signorini).

    (T,) J, normal force times the gap beyond ``reach`` (m) that remains at the end of the step.

    Laws on velocities push in the step in which a point arrives, along a straight line at the velocity at the end of
    the step. So the gap that counts is the smallest of four: now, one step ahead at the present velocity, one step
    ahead at the velocity of the end, and in the next sample. The end of the last of several samples is not recorded:
    NaN.
    """
    ahead = rec.gap + rec.dt * np.einsum("tpi,tpi->tp", rec.velocity, rec.normal)
    gap = np.minimum(rec.gap, ahead)
    end = rec.gap[:-1] + rec.dt * np.einsum("tpi,tpi->tp", _velocity_after(rec), rec.normal[:-1])
    gap[:-1] = np.minimum(np.minimum(gap[:-1], end), rec.gap[1:])
    worst = _worst(np.maximum(gap - reach, 0.0) * np.maximum(normal_force(rec), 0.0))
    worst[1:][-1:] = np.nan
    return worst


@rule("open force", "N", _of("weight", 1e-9, 1e-6))
def force_on_open_points(rec: Record) -> np.ndarray:
    """No force on a point that is said to be open."""
    return _worst(np.where(rec.mode == OPEN, np.linalg.norm(rec.force, axis=-1), 0.0))


@rule("pulling force", "N", _of("weight", 1e-9, 1e-6), FAULTS)
def pull(rec: Record) -> np.ndarray:
    """The ground pushes and never holds a foot down."""
    return np.fmax(_worst(np.maximum(-normal_force(rec), 0.0)), _worst(np.maximum(-_between_bodies(rec)[0], 0.0)))


def _between_bodies(rec: Record) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal forces (T, C), friction (T, C, 3) and its limit (T, C) of all contacts between bodies, N.

    Only where every step is recorded: as bodies move, the normal of a mean is not that of its forces.
    """
    found = rec.body_contacts
    if found is None or not rec.every_step:
        return np.zeros((len(rec), 0)), np.zeros((len(rec), 0, 3)), np.zeros((len(rec), 0))
    normal = np.einsum("tci,tci->tc", found.force, found.normal)
    return normal, found.force - normal[..., None] * found.normal, found.friction * np.maximum(normal, 0.0)


def _outside_the_cone_of_bodies(rec: Record) -> np.ndarray:
    """(T,) N, friction between bodies beyond its limit; under a law with one cone per foot, summed over a pair."""
    _, tangent, limit = _between_bodies(rec)
    if rec.law.cone_of_foot and limit.shape[1]:
        bodies = rec.body_contacts.bodies if rec.body_contacts is not None else ()
        alike = [[c for c, pair in enumerate(bodies) if pair == one] for one in dict.fromkeys(bodies)]
        tangent = np.stack([tangent[:, columns].sum(axis=1) for columns in alike], axis=1)
        limit = np.stack([limit[:, columns].sum(axis=1) for columns in alike], axis=1)
    return _worst(np.maximum(np.linalg.norm(tangent, axis=-1) - limit, 0.0))


@rule("penetration", "m", _of_depth, FAULTS)
def depth(rec: Record) -> np.ndarray:
    """How deep points sink in: rigid laws hardly, soft ones up to the limit."""
    return _worst(np.maximum(-rec.gap, 0.0))


# ---- ground between the contact points of a sole, where no law acts ------------------------------------------------


#: Intervals of the lattice along each side of a triangle of a sole.
PARTS = 4


@rule("unfelt ground", "m", _of_unfelt_ground)
def ground_in_soles(rec: Record) -> np.ndarray:
    """Ground that reaches into a sole between its points, which does not feel it: it may need more (points=).

    (T,) m, how much deeper than its contact points a sole is in the ground anywhere between them.

    A ridge or the edge of a step is felt only where a contact point touches it.
    """
    robot, ground = rec.robot, rec.ground
    deepest = np.zeros(len(rec.time))
    soles = [i for i, foot in enumerate(robot.feet) if len(foot.polygon) >= 3 and not foot.axes.any()]
    if ground.flat or not soles:
        return deepest
    data, model = scratch_data(robot.model), robot.model
    states = States(rec.qpos, rec.qvel, np.zeros((len(deepest), model.nu)))
    turns, origins = replay(data, PLACES, states, (data.xmat, data.xpos))
    for i in soles:
        foot = robot.feet[i]
        body = model.body(foot.body).id
        turn = turns.reshape(-1, model.nbody, 3, 3)[:, body]
        places = np.einsum("tij,pj->tpi", turn, _spread_over(foot)) + origins.reshape(-1, model.nbody, 3)[:, None, body]
        felt = np.maximum(0.0, -rec.gap[:, np.flatnonzero(robot.point_foot == i)]).max(axis=1)
        deepest = np.maximum(deepest, np.nan_to_num(-ground.gap(places)[0], nan=0.0).max(axis=1) - felt)
    return deepest


def _spread_over(foot: Foot) -> np.ndarray:
    """(N, 3) places of a sole, body frame, m: a lattice over the triangles between its middle and its sides."""
    ring = foot.polygon
    middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
    i, j = (one.ravel() for one in np.meshgrid(*[np.arange(PARTS + 1)] * 2))
    inside = i + j <= PARTS
    weights = np.stack([PARTS - i - j, i, j], axis=1)[inside] / PARTS
    triangles = np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)
    return np.unique(np.einsum("nk,vkc->vnc", weights, triangles).reshape(-1, 3), axis=0)


# ---- friction ----------------------------------------------------------------------------------------------


def turning(rec: Record) -> np.ndarray:
    """(T,) samples whose force is a mean over a period in which the normal of a closed point turns."""
    found = np.zeros(len(rec), dtype=bool)
    if not rec.ground.flat and (rec.law.event_driven or not rec.every_step):
        turned = np.abs(np.diff(rec.normal, axis=0)).max(axis=2, initial=0.0) > 1e-9
        found[:-1] = (turned & (rec.mode[:-1] != OPEN)).any(axis=1)
    return found


@rule("friction cone", "N", _of("weight", 1e-6, 1e-3), FAULTS, turning)
def outside_the_cone(rec: Record) -> np.ndarray:
    """Friction is at most its coefficient times the normal force.

    (T,) N, tangential force beyond friction times normal force: the dynamic coefficient where a point slides,
    the static one where it sticks or may have stuck between two samples; NaN where the normal turns under a mean.

    For a law with one cone per foot, the resultant of each body's points is compared with the sum of their static
    limits. Contacts between bodies have the friction of their geoms. MuJoCo replaces coefficients below ``mjMINMU``.
    """
    least = mujoco.mjMINMU if rec.law.native else 0.0
    static, dynamic = (np.maximum(one, least) for one in rec.ground.friction_at(rec.position))
    tangent = np.where((rec.mode == OPEN)[..., None], 0.0, tangential(rec, rec.force))
    by_point = rec.every_step and not rec.law.cone_of_foot
    limit = np.where((rec.mode == SLIDE) & by_point, dynamic, static) * np.maximum(normal_force(rec), 0.0)
    if rec.law.cone_of_foot:
        tangent, limit = _by_body(rec, tangent), _by_body(rec, limit)
    excess = np.maximum(np.linalg.norm(tangent, axis=-1) - limit, 0.0)
    known, of_bodies = np.where(turning(rec), np.nan, _worst(excess)), _outside_the_cone_of_bodies(rec)
    return np.where(of_bodies > 0.0, np.fmax(known, of_bodies), known)


# 5 degrees: a cone of 32 facets; 90: beyond, friction drives the slip instead of braking it.
@rule("friction direction", "deg", lambda rec: Bounds(5.0, 90.0), NOTHING)
def friction_angle(rec: Record) -> np.ndarray:
    """Sliding friction points against the slip; beyond 90 degrees it drives it.

    (T,) degrees between friction and what opposes the slip, of sliding points; NaN where none slides.

    Friction of explicit laws opposes the slip at the beginning of the step, friction of implicit laws the slip at its
    end, for some with the Jacobian of the beginning, J(q) v+: the smallest of these angles counts. Not judged are
    points that slide slower than 1e-3 of the robot's speed scale at any of these instants (such as points that come to
    rest where they land, or rest under a tipping robot), and points with friction below 1e-3 of the weight. The force
    of an event-driven law is a mean over a period in which the slip turns, so any direction between those of its
    beginning and end counts; points that land within the period are not judged, since the mean includes the impact, nor
    is friction as small as what the normal force has across the normal because that turns within the period.
    """
    own = scales_of_run(rec)
    force, velocity = tangential(rec, rec.force), tangential(rec, rec.velocity)
    size, slow = np.linalg.norm(force, axis=-1), 1e-3 * own.speed
    slides = (rec.mode == SLIDE) & (np.linalg.norm(velocity, axis=-1) > slow) & (size > 1e-3 * own.weight)
    angle = _angle(force, -velocity)
    end, normal = _velocity_after(rec), rec.normal[:-1]
    for later in (velocity[1:], end - np.einsum("tpi,tpi->tp", end, normal)[..., None] * normal):
        angle[:-1] = np.minimum(angle[:-1], _angle(force[:-1], -later))
        slides[:-1] &= np.linalg.norm(later, axis=-1) > slow
    if rec.law.event_driven:
        slides &= np.einsum("tpi,tpi->tp", rec.velocity, rec.normal) > -slow
        turned = np.linalg.norm(np.diff(rec.normal, axis=0), axis=2)
        slides[:-1] &= size[:-1] > turned * np.linalg.norm(rec.force[:-1], axis=2)
        later, turned = _angle(force[:-1], -velocity[1:]), _angle(velocity[:-1], velocity[1:])
        beside = 0.5 * (_angle(force[:-1], -velocity[:-1]) + later - turned)
        angle[:-1] = np.minimum(angle[:-1], np.maximum(beside, 0.0))
    worst = np.where(slides, angle, -1.0).max(axis=1, initial=-1.0)
    return np.where(slides.any(axis=1), worst, np.nan)


# ---- energy ------------------------------------------------------------------------------------------------


@rule("normal energy", "J", _of_energy(NORMAL), NOTHING)
def normal_energy(rec: Record) -> np.ndarray:
    """Normal forces give back no more energy than they took since touch-down."""
    return energy_created(rec, NORMAL)


@rule("friction energy", "J", _of_energy(FRICTION), NOTHING)
def friction_energy(rec: Record) -> np.ndarray:
    """Friction gives back no more energy than it took since touch-down."""
    return energy_created(rec, FRICTION)


@rule("contact energy", "J", _of_energy(BOTH), NOTHING)
def contact_energy(rec: Record) -> np.ndarray:
    """Normal forces and friction together give back no more energy than they took since touch-down."""
    return energy_created(rec, BOTH)


def _part(rec: Record, part: str) -> tuple[np.ndarray, np.ndarray]:
    """A part of the forces (T, P, 3), N, and its work on every body in contact (T - 1, B), J."""
    normal, friction = _works(rec)
    if part == BOTH:
        return rec.force, normal + friction
    along = tangential(rec, rec.force)
    return (along, friction) if part == FRICTION else (rec.force - along, normal)


@once
def _works(rec: Record) -> tuple[np.ndarray, np.ndarray]:
    """(T - 1, B) J each, work of normal forces and of friction on every body in contact.

    Work is the change of kinetic energy by a force in a step of semi-implicit Euler: the force of row k times the mean
    of the velocities that its points have with the joint speeds of rows k and k + 1. The recorded velocity of row k + 1
    would belong to another material point where the contact jumps, as of a round foot between tread and riser. Where a
    step reverses a slip, friction that opposes it at the beginning (explicit laws) or at the end (implicit laws) seems
    to drive it in the mean. There the work of friction uses the speeds of that row alone, and the rest counts as work
    of the normal forces.

    An event-driven law moves a point along its path within a period, so the recorded velocity is used for the end,
    unless the contact jumps or the period was one step of semi-implicit Euler. A point that rises within a period is
    pushed before it leaves the ground or after it is back: at the lower of the speeds of both ends.
    """
    friction, before, after = tangential(rec, rec.force)[:-1], rec.velocity[:-1], _velocity_after(rec)
    if rec.law.event_driven:
        after = np.where((_jumps(rec) | stepped(rec)[:-1])[..., None], after, rec.velocity[1:])
    mean = 0.5 * (before + after)
    slips, presses = (
        [_work(rec, force, velocity) for velocity in (mean, before, after)]
        for force in (friction, rec.force[:-1] - friction)
    )
    pressed = presses[0]
    if rec.law.event_driven:
        rises = (pressed > 0.0) & (presses[1] >= 0.0)
        pressed = np.where(rises, np.minimum.reduce(presses), pressed)
    slipped, *ends = (_by_body(rec, each) for each in slips)
    rubbed = np.where(slipped > 0.0, np.minimum.reduce([slipped, *ends]), slipped)
    return _by_body(rec, pressed) + slipped - rubbed, rubbed


def _work(rec: Record, force: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(T - 1, P) J, work of forces on points with these velocities, (T - 1, P, 3) each."""
    return np.asarray(np.einsum("tpi,tpi->tp", force, velocity) * np.diff(rec.time)[:, None])


def _by_body(rec: Record, of_points: np.ndarray) -> np.ndarray:
    """(T, B, ...) sums over the points of every body in contact of values (T, P, ...)."""
    return np.stack([of_points[:, points].sum(axis=1) for points in contact_bodies(rec)], axis=1)


@once
def _velocity_after(rec: Record) -> np.ndarray:
    """(T - 1, P, 3) m/s, world frame: velocities of the points in the pose of each row at joint speeds of the next."""
    robot, model = rec.robot, rec.robot.model
    body = robot.point_body
    if rec.other_points.size:
        body = np.concatenate([body, robot.others.of_body[rec.other_points]])
    count = max(len(rec) - 1, 0)
    data, states = scratch_data(model), States(rec.qpos[:-1], rec.qvel[1:], np.zeros((count, model.nu)))
    spin, com = replay(data, SPEEDS, states, (data.cvel, data.subtree_com))
    spin = spin.reshape(count, model.nbody, 6)[:, body]
    com = com.reshape(count, model.nbody, 3)[:, model.body_rootid[body]]
    return np.asarray(spin[..., 3:] + np.cross(spin[..., :3], rec.position[:-1] - com))


def energy_created(rec: Record, part: str) -> np.ndarray:
    """(T,) J, energy created by a part of the ground's forces, all bodies together.

    Ground that no foot touches stores no energy. However elastic it is, its work on a foot since touch-down must
    therefore never be positive during the stance; positive work is energy created. Normal forces and friction are
    judged separately, so that the heat of a slide cannot pay for a jump; and feet, not points, because laws may
    distribute a foot's wrench over its points freely. Ground under a foot when the recording begins may have stored
    force times depth, an upper bound of a spring's energy.
    """
    force, works = _part(rec, part)
    stored = [
        float(np.linalg.norm(force[0, points], axis=-1) @ np.maximum(-rec.gap[0, points], 0.0)) if len(rec) else 0.0
        for points in contact_bodies(rec)
    ]
    return _since_touch_down(rec, works, stored)


def error_on_arcs(rec: Record, part: str) -> np.ndarray:
    """(T,) J, energy that finite steps create on points that move on arcs, since touch-down, all bodies.

    A step moves a point along the straight line of its velocity. At the end of the step the same joint speeds give the
    point another velocity, tangent to its arc; the force of the next step acts on half of that change. The error
    vanishes with the step, and for a leg that does not turn.
    """
    turned = np.zeros_like(rec.velocity[:-1])
    turned[1:] = rec.velocity[1:-1] - _velocity_after(rec)[:-1]
    if rec.law.event_driven:
        turned[1:] *= stepped(rec)[:-2, :, None]
    return _since_touch_down(rec, np.maximum(0.5 * _by_body(rec, _work(rec, _part(rec, part)[0][:-1], turned)), 0.0))


def error_at_edges(rec: Record) -> np.ndarray:
    """(T,) J, bound of the energy that finite steps create where the normal jumps, since touch-down, all bodies.

    A point has one normal. Where the point passes from one face of the ground to another, as a round foot between tread
    and riser, it enters the new face before that pushes back, and the old face pushes it until the step ends. Both
    errors, the normal forces times these distances, vanish with the step.
    """
    span, load = np.diff(rec.time)[:, None], np.maximum(normal_force(rec), 0.0)
    entered = np.maximum(-np.einsum("tpi,tpi->tp", rec.velocity[1:], rec.normal[1:]), 0.0)
    left = np.maximum(np.einsum("tpi,tpi->tp", _velocity_after(rec), rec.normal[:-1]), 0.0)
    late = np.where(_jumps(rec), (load[1:] * entered + load[:-1] * left) * span, 0.0)
    return _since_touch_down(rec, _by_body(rec, late))


def _since_touch_down(rec: Record, works: np.ndarray, stored: Sequence[float] | None = None) -> np.ndarray:
    """(T,) J, positive parts of the works (T - 1, B) summed over each stance up to a row, all bodies together.

    ``stored`` (J) is the energy stored initially under each body that is on the ground in the first row.
    """
    found = np.zeros(len(rec))
    for body, points in enumerate(contact_bodies(rec)):
        for a, b in _stances(rec, points):
            end = min(b, len(rec) - 1)
            given = stored[body] if stored and a == 0 else 0.0
            found[a + 1 : end + 1] += np.maximum(np.cumsum(works[a:end, body]) - given, 0.0)
    return found


def _jumps(rec: Record) -> np.ndarray:
    """(T - 1, P) whether a point is on another face of the ground in the next sample."""
    return np.asarray(np.einsum("tpi,tpi->tp", rec.normal[1:], rec.normal[:-1]) < TURNED)


def _stances(rec: Record, points: np.ndarray) -> list[tuple[int, int]]:
    """(first, end) of the samples in which some of the points touch the ground, end exclusive."""
    touching = (rec.gap[:, points] <= 0.0) | (rec.force[:, points] != 0.0).any(axis=-1)
    return runs(touching.any(axis=1))


# ---- Newton and Euler --------------------------------------------------------------------------------------


rule("force balance", "N", _of_momentum("weight", 0), PROOFS, unknown_balance)(force_residual)
rule("moment balance", "N m", _of_momentum("energy", 1), PROOFS, unknown_balance)(moment_residual)


# ---- centres of pressure -----------------------------------------------------------------------------------


@rule("cop in support", "m", _of("size", 1e-9, 1e-6))
def cop_outside(rec: Record) -> np.ndarray:
    """Every foot's centre of pressure lies among its loaded points.

    (T,) m, distance of the worst foot's centre of pressure from the hull of its loaded points, seen from above.
    """
    worst, centre = np.zeros(len(rec)), cop(rec)
    for foot, points in enumerate(feet(rec)):
        loaded = normal_force(rec)[:, points] > 0.0
        worst = np.fmax(worst, -margins(rec.position[:, points], loaded, centre[:, foot]))
    return worst


@rule("cop agreement", "m", _of("size", 1e-9, 1e-6))
def cop_disagreement(rec: Record) -> np.ndarray:
    """The overall centre of pressure is the load-weighted mean of the points.

    (T,) m between the overall centre of pressure and the mean, weighted by load, of where each point's force
    pierces its plane.

    For a point in the plane that is the point itself. On level ground and slopes only: elsewhere loads are not
    parallel, and the mean has no meaning.
    """
    if not rec.ground.flat:
        return np.full(len(rec), np.nan)
    normal, distance = reference_plane(rec)
    load = normal_force(rec)
    height = np.einsum("tpi,ti->tp", rec.position, normal) - distance[:, None]
    moment = np.einsum("tp,tpi->ti", load, rec.position) - np.einsum("tp,tpi->ti", height, rec.force)
    total = load.sum(axis=1)
    mean = moment / np.where(total > threshold(rec), total, np.nan)[:, None]
    return np.linalg.norm(overall_cop(rec) - mean, axis=-1)


# ---- the solver --------------------------------------------------------------------------------------------


@rule("solved", "of all samples", _no_bad_samples)
def unsolved(rec: Record) -> np.ndarray:
    """The part of the samples whose forces are not solved; a run that ended early fails.

    (T,) share of the samples up to here whose forces the law could not solve for or that are NaN.
    """
    bad = (rec.status != 0) | ~np.isfinite(rec.force).all(axis=(1, 2)) | ~np.isfinite(rec.qvel).all(axis=1)
    return np.cumsum(bad) / max(1, len(rec))


def _worst(values: np.ndarray) -> np.ndarray:
    return values.max(axis=1, initial=0.0)


def _angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.einsum("tpi,tpi->tp", a, b)))
