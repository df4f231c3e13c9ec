"""Acceleration-force complementarity with impacts, driven by events (Bravo 2021, sections 2.1 and 2.2).

Points that touch the ground and do not move away from it obey Signorini's law on accelerations (15): no point
accelerates into the ground, the ground pushes and never pulls, and it pushes only points that stay. Coulomb's friction
opposes the slip of a sliding point (16). The direction of slip is known, so only the normal force is unknown: a linear
complementarity problem, solved by Newton's method on its Fischer-Burmeister equations (17)-(18) and, where that fails,
by Lemke's. For resting points Coulomb's law is differentiated once: friction opposes the acceleration; that problem is
solved on the exact cone.

A touch-down is an impact with Newton's restitution and Coulomb's friction (20)-(22), of all touching points together.
With friction Newton's restitution can create energy (Kane and Levinson 1985); it is then halved until it does not.
Where no forces satisfy the law of a sliding point (Painleve 1895), an impulse without a collision ends the slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types

from footfall.arguments import public
from footfall.compiled import cold, inlined, kernel
from footfall.contact.event_law import (
    DOES,
    ENGINE_COLUMNS,
    INCONSISTENT,
    REBOUND,
    SLIP,
    TURNING,
    YOUNG,
    EventLaw,
    engine_columns,
)
from footfall.contact.setting import Setting
from footfall.contact.time_stepping import TimeStepping
from footfall.given_numbers import Positive, Share
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.contact_problem import conclude, solve_contacts
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts
from footfall.solve.gauss_seidel import find_motions
from footfall.solve.lemke_pivoting import RAY, SOLVED, pivot_limit
from footfall.solve.newton_on_lcp import newton_floats, newton_integers, newton_scratch, newton_to_solution
from footfall.solve.problem import MEMORY_SIZE, MODE, Problem, ProblemScratch, Size, begin_problem, problem_scratch

#: Acceleration (m/s2) and speed (m/s) below which a point is at rest.
STILL, SLOW = 1e-6, 1e-9
#: Slip speed, m/s, below which the slip has its direction at the beginning of the step.
NO_DIRECTION = 1e-10
#: Slip speed, m/s, up to which a slip that began at rest keeps its first direction: the rate at which friction turns a
#: slip is inverse to its speed, which would make the differential equations stiff.
SLUGGISH = 1e-4
#: Most sliding points for Newton's and Lemke's methods, whose work grows with the third power of their number.
MOST = 40
#: Iteration limit of Newton's method, after which Lemke's takes over: warm-started, Newton converges in eight or not at
#: all.
NEWTON = 16
#: Tolerance of the residual of the Fischer-Burmeister equations, relative to the largest acceleration.
RESIDUAL = 1e-12
#: Most halvings of the restitution.
HALVINGS = 20


class Parameters(NamedTuple):
    restitution: float


class Scratch(NamedTuple):
    problem: ProblemScratch
    floats: Vector  # for the complementarity problem of the sliding points, whose number changes
    integers: Ints


@inlined
def slip_directions(contacts: Contacts, memory: Matrix, way: Matrix) -> Int:
    """Write directions of slip, (P, 2) unit vectors in contact frames, zero for points that rest; returns the number of
    sliding points.

    A slip that has reversed within this step keeps its direction: the end of a slip is an event, and forces must stay
    smooth until it is located.
    """
    first = engine_columns(memory)
    sliding = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        way[p, 0], way[p, 1] = 0.0, 0.0
        if memory[p, first + DOES] != SLIDE:
            continue
        sliding += 1
        frame, v = contacts.frame[p], contacts.velocity[p]
        x, y = 0.0, 0.0
        for k in range(3):
            x += frame[0, k] * memory[p, first + SLIP + k]
            y += frame[1, k] * memory[p, first + SLIP + k]
        square = v[0] * v[0] + v[1] * v[1]
        if square > NO_DIRECTION**2:
            back = -2.0 * min(0.0, v[0] * x + v[1] * y)
            first_way = back + memory[p, first + YOUNG] * SLUGGISH / (1.0 + square / SLUGGISH**2) ** 2
            x, y = v[0] + first_way * x, v[1] + first_way * y
        size = (x * x + y * y) ** 0.5
        way[p, 0] = x / size if size > 0.0 else 0.0
        way[p, 1] = y / size if size > 0.0 else 0.0
    return sliding


@kernel
def normal_problem(contacts: Contacts, free: Matrix, way: Matrix, m: Matrix, q: Vector) -> None:
    """Write the normal accelerations ``m z + q`` of sliding points under their normal forces z, with friction
    proportional to z (16).
    """
    near = contacts.near
    for j in range(q.size):
        p = contacts.points[j]
        frame, r, b = contacts.frame[p], contacts.arm[p], contacts.body[p]
        q[j] = free[p, 2]
        mu = contacts.dynamic_friction[p]
        x = frame[2, 0] - mu * (way[p, 0] * frame[0, 0] + way[p, 1] * frame[1, 0])
        y = frame[2, 1] - mu * (way[p, 0] * frame[0, 1] + way[p, 1] * frame[1, 1])
        z = frame[2, 2] - mu * (way[p, 0] * frame[0, 2] + way[p, 1] * frame[1, 2])
        tx, ty, tz = r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x
        for k in range(near.size - 1):
            if near[k] == near[k + 1]:
                continue
            ax, ay, az, wx, wy, wz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # of the body about the centroid of its points
            for c in range(6):
                row = contacts.mobility[6 * b + c]  # symmetric
                part = x if c == 0 else y if c == 1 else z if c == 2 else tx if c == 3 else ty if c == 4 else tz
                ax += part * row[6 * k]
                ay += part * row[6 * k + 1]
                az += part * row[6 * k + 2]
                wx += part * row[6 * k + 3]
                wy += part * row[6 * k + 4]
                wz += part * row[6 * k + 5]
            for i in range(near[k], near[k + 1]):
                n, arm = contacts.frame[contacts.points[i], 2], contacts.arm[contacts.points[i]]
                value = n[0] * (ax + wy * arm[2] - wz * arm[1])
                value += n[1] * (ay + wz * arm[0] - wx * arm[2])
                m[i, j] = value + n[2] * (az + wx * arm[1] - wy * arm[0])


@cold(types.int64)
def solve_sliding(problem: Problem, scratch: Scratch) -> Int:
    """Forces in contact frames where every point slides, (15), (16), by (17), (18). Returns a law's status."""
    contacts, force = problem.contacts, problem.force
    n, way, floats = contacts.number[0], problem.slip, scratch.floats
    size = n * n
    m, q, z = floats[:size].reshape((n, n)), floats[size : size + n], floats[size + n : size + 2 * n]
    normal_problem(contacts, problem.free, way, m, q)
    for j in range(n):
        p = contacts.points[j]
        z[j] = force[p, 2]
    newton = newton_scratch(n, floats[size + 2 * n :], scratch.integers)
    ended, _, _ = newton_to_solution(m, q, z, RESIDUAL, NEWTON, pivot_limit(n), newton)  # Bravo 2021, eq. 18
    if ended != SOLVED:
        for j in range(n):
            p = contacts.points[j]
            force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
        return INCONSISTENT if ended == RAY else 1
    for j in range(n):
        p = contacts.points[j]
        load = contacts.dynamic_friction[p] * z[j]
        force[p, 0], force[p, 1], force[p, 2] = -load * way[p, 0], -load * way[p, 1], z[j]  # Bravo 2021, eq. 16
    find_motions(problem)
    conclude(problem)
    return 0


@kernel
def solve_on_cone(problem: Problem, sliding: Int) -> Int:
    """Forces in contact frames where some points rest, on the exact cone. Returns a law's status.

    Only resting points have static friction. With sliding points there may be no solution (Painleve 1895).
    """
    contacts, memory = problem.contacts, problem.memory
    first = engine_columns(memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if memory[p, first + DOES] == SLIDE:
            memory[p, MODE] = SLIDE
        elif memory[p, MODE] == SLIDE:
            memory[p, MODE] = STICK
    status, _, _ = solve_contacts(problem)
    return INCONSISTENT if status == 1 and sliding > 0 else status


@inlined
def name_motions(problem: Problem) -> None:
    """Set each point's mode from its acceleration."""
    contacts, memory, free, end, mode = problem.contacts, problem.memory, problem.free, problem.end, problem.mode
    first = engine_columns(memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        a, frame = end[p], contacts.frame[p]
        still = STILL + 1e-9 * abs(free[p, 2])
        if a[2] > still:
            mode[p] = OPEN
        elif memory[p, first + DOES] == SLIDE:
            mode[p] = SLIDE
        else:
            size = (a[0] * a[0] + a[1] * a[1]) ** 0.5
            mode[p] = SLIDE if size > still else STICK
            if size > still:
                for k in range(3):
                    memory[p, first + SLIP + k] = (a[0] * frame[0, k] + a[1] * frame[1, k]) / size


def forces(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Scratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """Forces between events: (15)-(18)."""
    problem = begin_problem(contacts, 1.0, STILL, memory, force, mode, scratch)
    first = engine_columns(memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        problem.target[p] = 0.0  # Bravo 2021, eq. 15
        for k in range(3):
            problem.free[p, k] = contacts.acceleration[p, k] + memory[p, first + TURNING + k]
    sliding = slip_directions(contacts, memory, problem.slip)
    status = 1
    if sliding == contacts.number[0] and sliding <= MOST:
        status = solve_sliding(problem, scratch)
    if status == 1:
        status = solve_on_cone(problem, sliding)
    name_motions(problem)
    return status


def impact(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Scratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """Impulses of an impact: (20)-(22)."""
    problem = begin_problem(contacts, 1.0, SLOW, memory, force, mode, scratch)
    free, end, restitution = problem.free, problem.end, parameters.restitution
    status = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        problem.slip[p, 0], problem.slip[p, 1] = 0.0, 0.0
        if dt > 0.0:  # an impulse without a collision ends the slip
            memory[p, MODE] = STICK
    for _ in range(HALVINGS):
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            rebound = -restitution * min(0.0, contacts.velocity[p, 2])
            problem.target[p] = rebound if rebound > REBOUND else 0.0  # Bravo 2021, eq. 20
            for k in range(3):
                free[p, k] = contacts.velocity[p, k] + dt * contacts.acceleration[p, k]
        status, _, _ = solve_contacts(problem)  # Bravo 2021, eq. 20-22
        if restitution == 0.0:
            break
        find_motions(problem)
        created, lost = 0.0, 0.0  # twice the work of the impulses, by the mean of the velocities
        for i in range(contacts.number[0]):
            p = contacts.points[i]
            for k in range(3):
                created += force[p, k] * (free[p, k] + end[p, k])
                lost += abs(force[p, k] * free[p, k])
        if created <= 1e-12 * lost:
            break
        restitution *= 0.5
    return status


@public
@dataclass(frozen=True, kw_only=True)
class AccelerationComplementarity(EventLaw):
    """Rigid contact between events: complementarity of forces and accelerations, and impacts with restitution.

    The motion is integrated in adaptive steps that meet ``tolerance`` and end at events located in time: touch-down,
    lift-off, and the beginning and end of each slip. ``restitution`` is Newton's, of each point's normal velocity;
    accumulating bounces end at rest. ``dt`` is the period of controls and records; recorded forces are means over it,
    impulses included, so that they explain the change of momentum. Points in contact neither sink nor drift:
    projections remove rounding errors, and those of velocities, along the inertia, cannot add energy. Where no contact
    changes and no joint or motor reaches a limit, a period is one macro step, or a few, predicted from the motion
    before and corrected as far as ``tolerance`` demands.

    Limitations: joint friction, joint limits, loops and contacts between bodies are MuJoCo's soft constraints: forces
    that follow from the state. They are integrated without events, except where a joint reaches its limit or its
    friction begins or ceases to slip; only equalities take part in impacts. Where a force has another kink, as when a
    limit releases, a step may err by ten times the tolerance. A joint whose damping would end its motion in less than
    ``dt`` is given the inertia with which it takes ``dt``. A period takes at most 240 evaluations per millisecond, and
    eight for each of up to 60 bounces; a run earns eight in each, and keeps up to 2,400 that it does not spend. Signal
    ``evaluations`` counts them. Where few are left the tolerance is loosened, up to 1e-2, with which slips and bounces
    of up to 1 mm/s count as rest, and friction of a joint that changes within a step may do so at its end; signal
    ``loosened`` says by which factor. A period becomes one step of law time-stepping, and signal ``time_steps`` says
    so, where none are left, as in heaps of bodies that come and go; where a point in contact crosses an edge of the
    ground, as between the cells of a height field; and where forces are not found, are unbounded, or have means that
    violate the law. After each such period in a row more evaluations are saved, for up to fifteen periods that are time
    steps too, before the next is tried with events. A foot that starts inside the ground stays at its depth.

    Attributes:
        restitution: Newton's, of each point's normal velocity.
        tolerance: how far a step or macro step between events may err, m/s or rad/s (positions: m or rad).
    """

    restitution: Share = 0.0
    tolerance: Positive = 1e-9

    name = "acceleration-complementarity"
    citation = "Bravo and Rengifo 2021, eq. 15-22; Fischer 1992; Painleve 1895; Kane and Levinson 1985"
    memory_size = MEMORY_SIZE + ENGINE_COLUMNS
    kernel = staticmethod(forces)
    impact = staticmethod(impact)

    def in_steps(self) -> TimeStepping:
        return TimeStepping(restitution=self.restitution)

    def scratch(self, size: Size) -> Scratch:
        n = min(size.points, MOST)
        return Scratch(
            problem=problem_scratch(size),
            floats=np.zeros(n * (n + 2) + newton_floats(n)),
            integers=np.zeros(newton_integers(n), dtype=np.int64),
        )

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(restitution=self.restitution)
