"""Penalty contact by input-output feedback linearisation (Rengifo 2009).

The law prescribes the *acceleration* of every touching point (17), solves for the forces that produce it (18),
and then limits them to what the ground can give (19)-(20). Gains are therefore those of a unit mass: they do not
depend on the robot, and a resting robot does not sink in.

The paper limits every force on its own, once. But the normal forces of (18) belong to the friction forces of (18): of
a block that slides, friction that the ground cannot give would be tipping it over. Unless ``saturation="paper"``, the
law therefore goes on: friction at its limit is taken as given, and (18) is solved again for the rest, until the forces
agree with one another. Where nothing slides and nothing lifts off, both are the same.

With ``eps > 0`` a resting point sits a little inside the ground, which is to keep it from leaving and landing again,
the false impacts of section V. In steps of finite length that takes one thing more: a point that touched and has come
out of the ground within the last step is led back to the depth ``eps``, for as long as the ground need not pull it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from footfall.compiled import kernel
from footfall.contact.base import OPEN, SLIDE, STICK, CoupledLaw, Setting, check, check_positive
from footfall.contact.friction import coulomb
from footfall.solve.friction import add_friction, spread_with_friction, to_contact_frames
from footfall.solve.minimum_norm import SCRATCH_ROWS, spread

#: Gap up to which a point touches, m: rounding opens no contact.
TOUCH = 1e-9
# What a point remembers: whether it slid, and whether the ground pushed it.
MODE, TOUCHED = 0, 1


class Parameters(NamedTuple):
    kp: float  # 1/s2
    kv: float  # 1/s
    eps: float  # m
    consistent: float  # 1, or 0 for the paper's saturation


@kernel
def choose_points(contacts, memory, parameters, kind):
    """Hold the points that touch the ground, and, if ``eps > 0``, those that touched it a step ago."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        touches = contacts.gap[p] <= TOUCH or (parameters.eps > 0.0 and memory[p, TOUCHED] == 1.0)
        kind[p] = STICK if touches else OPEN


@kernel
def missing_acceleration(contacts, dt, parameters, missing):
    """What the ground wants of every near point less what it does anyway: the right-hand side of (18), world frame."""
    kp, kv, eps = parameters.kp, parameters.kv, parameters.eps
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        v, free, frame = contacts.velocity[p], contacts.acceleration[p], contacts.frame[p]
        # Rengifo 2009, eq. 17 with the steady penetration eps of section V: the height aimed at is -eps.
        x = -kv * v[0] - free[0]
        y = -kv * v[1] - free[1]
        if contacts.gap[p] <= TOUCH:
            z = kp * (-eps - contacts.gap[p]) - kv * min(0.0, v[2]) - free[2]
        else:  # rise no further, and go back so slowly that kv stops the point before it has gone in by eps
            back = (eps + contacts.gap[p]) / max(10.0 * dt, 4.0 / max(kv, 1.0))
            z = (-back - v[2]) / dt - free[2]
        for k in range(3):
            missing[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z


@kernel
def saturate(contacts, memory, force, mode):
    """The paper's limits (19)-(20), point by point, on forces in contact frames. Gives how many points were limited."""
    limited = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f = force[p]
        if f[2] < 0.0:
            limited += 1
        f[2] = max(0.0, f[2])  # (19)
        friction = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        f[0], f[1], kind = coulomb(f[0], f[1], friction * f[2])  # (20)
        if kind == SLIDE:
            limited += 1
            f[0], f[1], _ = coulomb(f[0], f[1], contacts.dynamic_friction[p] * f[2])
        memory[p, MODE] = kind
        memory[p, TOUCHED] = 1.0 if f[2] > 0.0 else 0.0
        mode[p] = OPEN if f[2] == 0.0 else kind
    return limited


@kernel
def let_slide(contacts, memory, kind, force, friction):
    """Let points slide whose force (world frame) is outside the cone; gives how many are new."""
    new = 0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if kind[p] != STICK:
            continue
        n, f = contacts.frame[p, 2], force[p]
        normal = n[0] * f[0] + n[1] * f[1] + n[2] * f[2]
        x, y, z = f[0] - normal * n[0], f[1] - normal * n[1], f[2] - normal * n[2]
        size = (x * x + y * y + z * z) ** 0.5
        limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
        if normal < 0.0 or size > limit * normal * (1.0 + 1e-12):
            kind[p] = SLIDE
            new += 1
            # (20): friction keeps the direction of the force that would have stopped the point.
            scale = 1.0 / size if size > 0.0 else 0.0
            friction[p, 0], friction[p, 1], friction[p, 2], friction[p, 3] = x * scale, y * scale, z * scale, 0.0
    return new


@kernel
def lift_off(contacts, kind, force):
    """Open the point that is pulled hardest; gives whether there was one."""
    hardest, pull = -1, 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        n, f = contacts.frame[p, 2], force[p]
        normal = n[0] * f[0] + n[1] * f[1] + n[2] * f[2]
        if kind[p] != OPEN and normal < pull:
            hardest, pull = p, normal
    if hardest >= 0:
        kind[hardest] = OPEN
    return hardest >= 0


@kernel
def agree(contacts, memory, missing, friction, kind, force, work):
    """Forces (world frame) that produce the wanted accelerations wherever the ground can give them. True if found."""
    for _ in range(2 * contacts.number[0] + 2):  # every round opens a point or lets some slide, for good
        if not spread_with_friction(contacts, kind, friction, missing, force, work):
            return False
        if not lift_off(contacts, kind, force) and let_slide(contacts, memory, kind, force, friction) == 0:
            return True
    return False


def linearizing_penalty(contacts, dt, memory, force, mode, work, marks, parameters):
    count, points = contacts.number[0], contacts.gap.size
    rows = work.shape[0] - 2 * points
    missing, friction = work[rows : rows + points], work[rows + points :]
    choose_points(contacts, memory, parameters, marks)
    missing_acceleration(contacts, dt, parameters, force)
    for i in range(count):
        p = contacts.points[i]
        for k in range(3):
            missing[p, k] = force[p, k]
    spread(contacts, marks, force, work)
    status = 0
    if parameters.consistent == 1.0 and let_slide(contacts, memory, marks, force, friction) > 0:
        if not agree(contacts, memory, missing, friction, marks, force, work):
            status = 1
        add_friction(contacts, marks, friction, force)
    to_contact_frames(contacts, force)
    saturate(contacts, memory, force, mode)
    return status


@dataclass(frozen=True, kw_only=True)
class LinearizingPenalty(CoupledLaw):
    """Prescribes the acceleration of touching points and solves for the forces that produce it.

    Restitution depends on ``kp / kv**2`` alone; ``kp=500, kv=250`` returns 0.087 of the speed. ``eps`` is the depth at
    which a point rests: zero is the basic law, a micrometre keeps resting points from leaving and landing again.
    ``saturation`` is ``"consistent"``, or ``"paper"`` for (19)-(20) applied once. The paper has one friction
    coefficient; where the ground's static one is larger, a point that does not slide is held by it. The velocity gain
    is applied as ``(1 - exp(-kv dt)) / dt``, so that a step of any length decays velocities as (17) does.
    """

    kp: float = 500.0  # 1/s2
    kv: float = 250.0  # 1/s
    eps: float = 1e-6  # m
    saturation: Literal["consistent", "paper"] = "consistent"

    name = "linearizing-penalty"
    citation = "Rengifo et al. 2009, eq. 17-20"
    memory_size = 2
    margin = 2e-4  # as far as a point may come out of the ground in a step
    kernel = staticmethod(linearizing_penalty)

    def __post_init__(self) -> None:
        check_positive(self, "kp", "kv", "eps", zero=True)
        known = ("consistent", "paper")
        check(self.saturation in known, self.name, "saturation", self.saturation, "'consistent' or 'paper'")

    @classmethod
    def work_rows(cls, points: int, bodies: int) -> int:
        return 4 * 6 * bodies + SCRATCH_ROWS + 2 * points

    @classmethod
    def marks_size(cls, points: int, bodies: int) -> int:
        return points

    def resolve(self, setting: Setting) -> Parameters:
        kv = -math.expm1(-self.kv * setting.dt) / setting.dt
        return Parameters(kp=self.kp, kv=kv, eps=self.eps, consistent=float(self.saturation == "consistent"))
