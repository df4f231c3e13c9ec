"""Time stepping: one problem on the velocities at the end of the step (Bravo 2021, section 3).

Impact, contact, stick and slip are one complementarity problem between impulses and end-of-step velocities (23)-(26):
a point may come to the ground but not go in, the ground pushes and never pulls, and friction opposes the slip that is
left. The cone is Coulomb's, exactly, in three dimensions; :mod:`footfall.solve.contact_problem` solves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from footfall.compiled import inlined
from footfall.contact.base import CoupledLaw, Setting, check_range
from footfall.solve.contact_problem import MEMORY_SIZE, marks_size, motions, solve_contacts, work_rows
from footfall.solve.delassus import ANY

#: Speed below which a point is at rest, m/s.
STILL = 1e-9
#: Gap up to which a point touches, m: rounding opens no contact.
TOUCH = 1e-9


class Parameters(NamedTuple):
    restitution: float


@inlined
def free_velocities(contacts, dt, restitution, free, target):
    """Velocities at the end of the step without contact forces, and the least normal velocity allowed there."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v = contacts.velocity[p]
        for k in range(3):
            free[p, k] = v[k] + dt * (contacts.acceleration[p, k] - contacts.bias[p, k])
        if restitution == 0.0:
            target[p] = -max(0.0, contacts.gap[p]) / dt  # to the ground, and no further
        else:  # a bounce begins when the point is there
            target[p] = -restitution * min(0.0, v[2]) if contacts.gap[p] <= TOUCH else ANY


def time_stepping(contacts, dt, memory, force, mode, work, marks, signals, parameters):
    free, target = motions(work, contacts.gap.size)
    free_velocities(contacts, dt, parameters.restitution, free, target)
    status, _ = solve_contacts(contacts, dt, STILL, memory, force, mode, work, marks)
    return status


@dataclass(frozen=True, kw_only=True)
class TimeStepping(CoupledLaw):
    """Rigid contact: complementarity between impulses and end-of-step velocities, on the exact cone.

    ``restitution`` is Newton's, of each point's normal velocity. Without it points come to rest exactly on the ground;
    with it a point bounces in the step after it has gone in. Forces of an impact are its impulse over ``dt``.

    Limitations: a foot that starts inside the ground stays as deep as it is.
    """

    restitution: float = 0.0

    name = "time-stepping"
    citation = "Bravo and Rengifo 2021, eq. 23-26; Stewart and Trinkle 1996; Anitescu and Potra 1997"
    memory_size = MEMORY_SIZE
    margin = 0.01  # m, farther than a foot falls in a step
    kernel = staticmethod(time_stepping)

    def __post_init__(self) -> None:
        check_range(self, "restitution", 0.0, 1.0)

    @classmethod
    def work_rows(cls, points: int, bodies: int) -> int:
        return work_rows(points, bodies)

    @classmethod
    def marks_size(cls, points: int, bodies: int) -> int:
        return marks_size(points)

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(restitution=self.restitution)
