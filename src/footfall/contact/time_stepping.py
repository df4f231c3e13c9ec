"""Time stepping: one problem on the velocities at the end of the step (Bravo 2021, section 3).

Impact, contact, stick and slip are one complementarity problem between impulses and end-of-step velocities (23)-(26): a
point may reach the ground but not enter it, the ground pushes and never pulls, and friction opposes the slip that
remains. The friction cone is Coulomb's exact cone in three dimensions (:mod:`footfall.solve.contact_problem`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.contact.base import CoupledLaw
from footfall.contact.setting import Setting
from footfall.given_numbers import NotNegative, Share
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.contact_problem import SIGNALS, solve_contacts
from footfall.solve.contacts import Contacts
from footfall.solve.problem import ANY, MEMORY_SIZE, Problem, ProblemScratch, Size, begin_problem, problem_scratch

#: Speed below which a point is at rest, m/s.
STILL = 1e-9
#: Gap up to which a point touches, m, so that rounding does not open contacts.
TOUCH = 1e-9


class Parameters(NamedTuple):
    restitution: float
    impact_friction: float
    impact_speed: float  # m/s
    rise: float  # m/s, at which points inside the ground are led out


@inlined
def free_velocities(problem: Problem, restitution: Float) -> None:
    """Write end-of-step velocities without contact forces, and the least normal velocities allowed."""
    contacts, dt, free, target = problem.contacts, problem.step, problem.free, problem.target
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        for k in range(3):
            # Bravo 2021, eq. 23, without forces
            free[p, k] = v[k] + dt * (contacts.acceleration[p, k] - contacts.bias[p, k])
        if restitution == 0.0:
            target[p] = -max(0.0, contacts.gap[p]) / dt  # Bravo 2021, eq. 24: to the ground, and no further
        else:  # a bounce begins in the step after the point has reached the ground
            target[p] = -restitution * min(0.0, v[2]) if contacts.gap[p] <= TOUCH else ANY


@inlined
def lead_out(problem: Problem, rise: Float) -> None:
    """Raise the least normal velocity of points inside the ground, by at most ``rise`` (m/s), so that they come out."""
    contacts, dt, target = problem.contacts, problem.step, problem.target
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if contacts.gap[p] < 0.0:
            target[p] = max(target[p], min(rise, -contacts.gap[p] / dt))


@inlined
def weaken_impacts(contacts: Contacts, share: Float, speed: Float, kept: Matrix) -> None:
    """Reduce the friction of points that arrive faster than ``speed`` (m/s); ``kept`` (P, 2) stores the ground's."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        kept[p, 0], kept[p, 1] = contacts.static_friction[p], contacts.dynamic_friction[p]
        if contacts.velocity[p, 2] < -speed:
            contacts.static_friction[p] *= share
            contacts.dynamic_friction[p] *= share


@inlined
def restore_friction(contacts: Contacts, kept: Matrix) -> None:
    """Restore the ground's friction."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        contacts.static_friction[p], contacts.dynamic_friction[p] = kept[p, 0], kept[p, 1]


def time_stepping(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Scratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """The impulses of a step over ``dt``, (23)-(26): a coupled kernel."""
    problem = begin_problem(contacts, dt, STILL, memory, force, mode, scratch)
    free_velocities(problem, parameters.restitution)
    lead_out(problem, parameters.rise)
    weaker = parameters.impact_friction < 1.0
    if weaker:
        weaken_impacts(contacts, parameters.impact_friction, parameters.impact_speed, scratch.kept)
    status, signals[0], signals[1] = solve_contacts(problem)  # Bravo 2021, eq. 24-26
    if weaker:
        restore_friction(contacts, scratch.kept)
    return status


class Scratch(NamedTuple):
    problem: ProblemScratch
    kept: Matrix  # (P, 2) static and dynamic friction of the ground


@public
@dataclass(frozen=True, kw_only=True)
class TimeStepping(CoupledLaw):
    """Rigid contact: complementarity between impulses and end-of-step velocities.

    ``restitution`` is Newton's, of each point's normal velocity. Without it points come to rest exactly on the ground;
    with it a point bounces in the step after it reached the ground. Forces of an impact are its impulse over ``dt``.

    Points that arrive faster than ``impact_speed`` (m/s) have only the share ``impact_friction`` of the ground's
    friction: thrown bodies show less friction in impacts than in sliding.

    A foot that starts inside the ground stays at its depth, unless ``correction`` (0 to 1) leads it out. It then rises
    with that share of the speed that gravity removes in a step, ``g dt``, so that it stops at the surface and is not
    thrown: the only energy added is that of lifting it.

    Attributes:
        restitution: Newton's, of each point's normal velocity.
        impact_friction: share of the ground's friction that acts in impacts.
        impact_speed: m/s, approach speed beyond which a touch-down is an impact.
        correction: 0 to 1, how fast a foot that starts inside the ground is led out.
    """

    restitution: Share = 0.0
    impact_friction: Share = 1.0
    impact_speed: NotNegative = 0.1
    correction: Share = 0.0

    name = "time-stepping"
    citation = "Bravo and Rengifo 2021, eq. 23-26; Stewart and Trinkle 1996; Anitescu and Potra 1997"
    memory_size = MEMORY_SIZE
    margin = 0.01  # m, farther than a foot falls in a step of 1 ms
    fastest = 10.0  # m/s, after a fall from 5 m
    signals = SIGNALS
    kernel = staticmethod(time_stepping)

    def scratch(self, size: Size) -> Scratch:
        return Scratch(problem_scratch(size), np.zeros((size.points, 2)))

    def resolve(self, setting: Setting) -> Parameters:
        gravity = setting.robot.weight / setting.robot.mass
        return Parameters(
            restitution=self.restitution,
            impact_friction=self.impact_friction,
            impact_speed=self.impact_speed,
            rise=self.correction * gravity * setting.dt,
        )
