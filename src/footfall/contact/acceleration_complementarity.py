"""Acceleration-force complementarity with impacts, driven by events (Bravo 2021, sections 2.1 and 2.2).

Points that touch the ground and do not move away from it obey Signorini's law on accelerations (15): no point
accelerates into the ground, the ground pushes and never pulls, and it pushes only points that stay. Coulomb's friction
opposes the slip of a sliding point (16), whose direction is known, so that only the normal force is unknown. For
resting points Coulomb's law is differentiated once: friction opposes the acceleration. All points are solved for on the
exact cone.

A touch-down is an impact with Newton's restitution and Coulomb's friction (20)-(22), of all touching points together.
With friction Newton's restitution can create energy (Kane and Levinson 1985); it is then halved until it does not.
Where no forces satisfy the law of a sliding point (Painleve 1895), an impulse without a collision ends the slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
from footfall.solve.newton import SOLVED, remove_compliance, solve_by_newton
from footfall.solve.problem import MEMORY_SIZE, MODE, ContactScratch, Problem, Size, begin_problem, problem_scratch

#: Acceleration (m/s2) and speed (m/s) below which a point is at rest.
STILL, SLOW = 1e-6, 1e-9
#: Slip speed, m/s, below which the slip has its direction at the beginning of the step.
NO_DIRECTION = 1e-10
#: Slip speed, m/s, up to which a slip that began at rest keeps its first direction: the rate at which friction turns a
#: slip is inverse to its speed, which would make the differential equations stiff.
SLUGGISH = 1e-4
#: Most halvings of the restitution.
HALVINGS = 20


class Parameters(NamedTuple):
    restitution: float


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


@cold(types.int64)
def solve_sliding(problem: Problem) -> Int:
    """Forces in contact frames where every point slides, (15), (16). Returns a law's status.

    Gauss-Seidel is of no use here: it does not know the directions of slip.
    """
    residual, _ = solve_by_newton(problem)
    if residual > SOLVED:
        for i in range(problem.contacts.number[0]):
            for k in range(3):
                problem.force[problem.contacts.points[i], k] = 0.0
        return INCONSISTENT
    remove_compliance(problem)  # the motion is integrated to a tolerance of its size
    conclude(problem)
    return 0


@kernel
def solve_on_cone(problem: Problem, sliding: Int) -> Int:
    """Forces in contact frames where some points rest. Returns a law's status.

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
    scratch: ContactScratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """Forces between events: (15), (16)."""
    problem = begin_problem(contacts, 1.0, STILL, memory, force, mode, scratch)
    first = engine_columns(memory)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        problem.target[p] = 0.0  # Bravo 2021, eq. 15
        for k in range(3):
            problem.free[p, k] = contacts.acceleration[p, k] + memory[p, first + TURNING + k]
    sliding = slip_directions(contacts, memory, problem.slip)  # Bravo 2021, eq. 16
    status = solve_sliding(problem) if sliding == contacts.number[0] else solve_on_cone(problem, sliding)
    name_motions(problem)
    return status


def impact(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: ContactScratch,
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
    friction begins or ceases to slip; only equalities take part in impacts. A joint whose damping would end its motion
    in less than ``dt`` is given the inertia with which it takes ``dt``. A period takes at most 240 evaluations per
    millisecond, and eight for each of up to 60 bounces; a run earns eight in each, and keeps up to 2,400 that it does
    not spend. Signal ``evaluations`` counts them. Where few are left the tolerance is loosened, up to 1e-2, with which
    slips and bounces of up to 1 mm/s count as rest, and friction of a joint that changes within a step may do so at its
    end; signal ``loosened`` says by which factor. A period becomes one step of law time-stepping, and signal
    ``time_steps`` says so, where none are left, as in heaps of bodies that come and go; where a point in contact
    crosses an edge of the ground, as between the cells of a height field; and where forces are not found, are
    unbounded, or have means that violate the law. After each such period in a row more evaluations are saved, for up to
    fifteen periods that are time steps too, before the next is tried with events. A foot that starts inside the ground
    stays at its depth.

    Attributes:
        restitution: Newton's, of each point's normal velocity.
        tolerance: how far a step or macro step between events may err, m/s or rad/s (positions: m or rad).
    """

    restitution: Share = 0.0
    tolerance: Positive = 1e-9

    name = "acceleration-complementarity"
    citation = "Bravo and Rengifo 2021, eq. 15-22; Painleve 1895; Kane and Levinson 1985"
    memory_size = MEMORY_SIZE + ENGINE_COLUMNS
    kernel = staticmethod(forces)
    impact = staticmethod(impact)

    def in_steps(self) -> TimeStepping:
        return TimeStepping(restitution=self.restitution)

    def scratch(self, size: Size) -> ContactScratch:
        return ContactScratch(problem_scratch(size))

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(restitution=self.restitution)
