"""Penalty contact by input-output feedback linearisation (Rengifo 2009).

The law prescribes the *acceleration* of every touching point (17), solves for the forces that produce it (18),
and limits them to what the ground can give (19)-(20). Gains are therefore those of a unit mass: they do not
depend on the robot, and a resting robot does not sink in.

The paper limits every force on its own, once (``saturation="paper"``). But the normal forces of (18) assume the
friction forces of (18): under a sliding block they would balance a tipping moment of friction beyond its limit. By
default forces are therefore limited consistently: a point has its prescribed acceleration unless the ground would have
to pull it, and then it lifts off, or unless its friction is at the limit, and then friction opposes the difference from
the prescribed acceleration. Without sliding or lift-off both are the same.

With ``eps > 0`` a resting point sits slightly inside the ground, to keep it from leaving and landing again (the false
impacts of section V). For steps of finite length, a point that touched and rose out of the ground in the last step is
also led back to the depth ``eps``, unless the ground would have to pull it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from footfall.arguments import public
from footfall.compiled import inlined, kernel
from footfall.contact.base import CoupledLaw
from footfall.contact.setting import Setting
from footfall.given_numbers import NotNegative
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.contact_problem import SIGNALS, solve_contacts
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts, coulomb, to_contact_frames, to_world_frames
from footfall.solve.minimum_norm import LeastScratch, least_scratch, spread
from footfall.solve.problem import ANY, MEMORY_SIZE, MODE, Problem, ProblemScratch, Size, begin_problem, problem_scratch
from footfall.solve.rigid_motion import make_rigid

#: Difference from the prescribed acceleration below which a point has it, m/s2.
STILL = 1e-6
#: Gap up to which a point touches, m, so that rounding does not open contacts.
TOUCH = 1e-9


class Parameters(NamedTuple):
    kp: float  # 1/s2
    kv: float  # 1/s
    eps: float  # m
    consistent: float  # 1, or 0 for the paper's saturation
    lead_back: float  # 1, or 0 for (17) alone


class Scratch(NamedTuple):
    problem: ProblemScratch
    least: LeastScratch


@inlined
def excess_accelerations(problem: Problem, dt: Float, parameters: Parameters) -> None:
    """Write the points' accelerations without contact forces, less those of (17), whose parts are (3) and (7)."""
    kp, kv, eps = parameters.kp, parameters.kv, parameters.eps
    contacts, memory, free, target = problem.contacts, problem.memory, problem.free, problem.target
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v, a, gap = contacts.velocity[p], contacts.acceleration[p], contacts.gap[p]
        # Rengifo 2009, eq. 17 with the steady penetration eps of section V: the prescribed height is -eps.
        free[p, 0] = a[0] + kv * v[0]
        free[p, 1] = a[1] + kv * v[1]  # Rengifo 2009, eq. 7
        target[p] = 0.0
        if gap <= TOUCH:
            free[p, 2] = a[2] + kp * (eps + gap) + kv * min(0.0, v[2])  # Rengifo 2009, eq. 3
        elif eps > 0.0 and parameters.lead_back == 1.0 and memory[p, MODE] != OPEN:
            # Stop rising, and return slowly enough that kv stops the point at the depth eps.
            back = (eps + gap) / max(10.0 * dt, 4.0 / max(kv, 1.0))
            free[p, 2] = a[2] + (back + v[2]) / dt
        else:
            free[p, 2] = a[2]
            target[p] = ANY


@kernel
def saturated(problem: Problem, least: LeastScratch) -> None:
    """Write the least-norm forces of (18) with the paper's limits (19)-(20), point by point; in the plane (8)."""
    contacts, memory, force, free = problem.contacts, problem.memory, problem.force, problem.free
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        problem.kind[p] = STICK if problem.target[p] == 0.0 else OPEN
        for k in range(3):
            free[p, k] = -free[p, k]
    to_world_frames(contacts, free, force)
    spread(contacts, problem.kind, force, least)  # Rengifo 2009, eq. 18
    to_contact_frames(contacts, force)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f = force[p]
        f[2] = max(0.0, f[2])  # Rengifo 2009, eq. 19
        friction = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        f[0], f[1], kind = coulomb(f[0], f[1], friction * f[2])  # Rengifo 2009, eq. 8, 20
        if kind == SLIDE:
            f[0], f[1], _ = coulomb(f[0], f[1], contacts.dynamic_friction[p] * f[2])
        problem.mode[p] = OPEN if f[2] == 0.0 else kind
        memory[p, MODE] = problem.mode[p]


def linearizing_penalty(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Scratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """The forces that give touching points the accelerations of (17): a coupled kernel."""
    problem = begin_problem(contacts, 1.0, STILL, memory, force, mode, scratch)
    excess_accelerations(problem, dt, parameters)
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        problem.kind[p] = problem.target[p] == 0.0
    make_rigid(contacts, problem.kind, problem.free, problem.local)
    if parameters.consistent == 0.0:
        saturated(problem, scratch.least)
        return 0
    status, signals[0], signals[1] = solve_contacts(problem)
    return status


@public
@dataclass(frozen=True, kw_only=True)
class LinearizingPenalty(CoupledLaw):
    """Prescribes the acceleration of touching points and solves for the forces that produce it.

    Restitution depends on ``kp / kv**2`` alone; ``kp=500, kv=250`` returns 0.087 of the speed. ``eps`` is the depth at
    which a point rests: zero is the basic law, a micrometre keeps resting points from leaving and landing again.
    ``lead_back``, which the paper does not have, leads a point that touched and rises back to that depth: in fixed
    steps (17) alone lets it leave by rounding and land again. ``saturation`` is ``"consistent"``, or ``"paper"`` for
    (19)-(20) applied once. The paper has one friction coefficient; where the ground's static one is larger, it holds
    points that do not slide. The velocity gain is applied as ``(1 - exp(-kv dt)) / dt``, so that velocities decay as in
    (17) for any step length.

    Attributes:
        kp: 1/s2, stiffness per unit mass, which pulls a point to the depth eps.
        kv: 1/s, damping per unit mass.
        eps: m, depth at which points rest.
        saturation: limit forces consistently, or each on its own (19)-(20).
        lead_back: with eps > 0: a point that touched and rises goes back to its depth (ours).
    """

    kp: NotNegative = 500.0
    kv: NotNegative = 250.0
    eps: NotNegative = 1e-6
    saturation: Literal["consistent", "paper"] = "consistent"
    lead_back: bool = True

    name = "linearizing-penalty"
    citation = "Rengifo et al. 2009, eq. 17-20"
    memory_size = MEMORY_SIZE
    margin = 2e-4  # the farthest a point may come out of the ground in a step
    signals = SIGNALS
    by_design = MappingProxyType(
        {
            "penetration": "a foot that lands is stopped by kp and kv, not at once",
            "gap times force": "(17) holds a point that rose out of the ground in a step, up to its margin",
        }
    )
    kernel = staticmethod(linearizing_penalty)

    @property
    def unclaimed(self) -> Mapping[str, str]:
        lifted = "(17) lifts a foot that landed deep to the depth eps, whatever load came onto it since"
        return {
            "normal energy": lifted,
            "contact energy": lifted,
            "friction direction": "friction opposes the acceleration and kv times the velocity that (17) asks away",
            "friction energy": "friction drives a slip that normal forces would end sooner than (17) prescribes",
        }

    def scratch(self, size: Size) -> Scratch:
        return Scratch(problem_scratch(size), least_scratch(size.bodies if self.saturation == "paper" else 0))

    def resolve(self, setting: Setting) -> Parameters:
        kv = -math.expm1(-self.kv * setting.dt) / setting.dt
        consistent, lead_back = float(self.saturation == "consistent"), float(self.lead_back)
        return Parameters(kp=self.kp, kv=kv, eps=self.eps, consistent=consistent, lead_back=lead_back)
