"""Time stepping: one problem on the velocities at the end of the step (Bravo 2021, section 3).

Impact, contact, stick and slip are one complementarity problem between impulses and end-of-step velocities (23)-(26):
a point may come to the ground but not go in, the ground pushes and never pulls, and friction opposes the slip that is
left. The cone is Coulomb's, exactly, in three dimensions.

Most steps look like the one before. So the law guesses which points are open, stick or slide, solves the linear
problem that follows from the guess by the least forces, and checks; what is found wrong is changed, a few times. Where
that does not end, Gauss-Seidel on the exact cone finds the forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from footfall.compiled import kernel
from footfall.contact.base import OPEN, SLIDE, STICK, CoupledLaw, Setting, check
from footfall.contact.friction import coulomb
from footfall.solve.cone import gauss_seidel
from footfall.solve.friction import add_friction, spread_with_friction, to_contact_frames
from footfall.solve.minimum_norm import SCRATCH_ROWS, resultant

#: Guesses that may be mended before Gauss-Seidel takes over.
GUESSES = 40
SWEEPS = 2000
#: Share of the largest force that may still change.
TOLERANCE = 1e-10
#: Speed below which a sliding point counts as at rest, m/s.
STILL = 1e-9


#: Gap up to which a point touches, m: rounding opens no contact.
TOUCH = 1e-9
#: A least velocity for points that may do what they like, m/s.
ANY = -1e12
# What a point remembers: what it did, and the size and direction of its friction.
MODE, SIZE, DIRECTION = 0, 1, 2


class Parameters(NamedTuple):
    restitution: float


@kernel
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


@kernel
def guess(contacts, memory, free, target, kind, friction):
    """What each point will do: what it did, unless it was open and would now go into the ground."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        last = int(memory[p, MODE])
        kind[p] = last
        if last == OPEN and free[p, 2] < target[p]:
            kind[p] = STICK
        elif target[p] == ANY:
            kind[p] = OPEN
        friction[p, 3] = memory[p, SIZE]
        for k in range(3):
            friction[p, k] = memory[p, DIRECTION + k]


@kernel
def missing_accelerations(contacts, dt, free, target, missing):
    """What would stop every point: no slip, and the least normal velocity allowed, world frame."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame = contacts.frame[p]
        x, y, z = -free[p, 0] / dt, -free[p, 1] / dt, (target[p] - free[p, 2]) / dt
        for k in range(3):
            missing[p, k] = frame[0, k] * x + frame[1, k] * y + frame[2, k] * z


@kernel
def end_velocities(contacts, dt, free, force, end, work):
    """Velocities (P, 3) at the end of the step under forces in the world frame, in contact frames."""
    wrench, moved = work[0], work[1]
    feet = contacts.near.size - 1
    for b in range(feet):
        resultant(contacts, b, force, wrench[6 * b : 6 * b + 6])
    for b in range(feet):
        if contacts.near[b + 1] == contacts.near[b]:
            continue
        for k in range(6):
            value = 0.0
            for c in range(6 * feet):
                if wrench[c] != 0.0:
                    value += contacts.mobility[6 * b + k, c] * wrench[c]
            moved[k] = value
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            r, frame = contacts.arm[p], contacts.frame[p]
            x = moved[0] + moved[4] * r[2] - moved[5] * r[1]
            y = moved[1] + moved[5] * r[0] - moved[3] * r[2]
            z = moved[2] + moved[3] * r[1] - moved[4] * r[0]
            for k in range(3):
                end[p, k] = free[p, k] + dt * (frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z)


@kernel
def mend(contacts, memory, target, end, kind, friction, force):
    """Change what is wrong with a guess, given its forces (world frame, with friction); True if anything was.

    A point that would go in is held, one that is pulled is let go (the worst first), one that would need more friction
    than there is slides, one that would slide the way its friction pushes sticks, and friction turns against the slip.
    """
    wrong = False
    hardest, pull = -1, 0.0
    largest = 0.0
    for i in range(contacts.number[0]):
        f = force[contacts.points[i]]
        largest = max(largest, abs(f[0]), abs(f[1]), abs(f[2]))
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f, u = contacts.frame[p], force[p], end[p]
        if kind[p] == OPEN:
            if u[2] < target[p] - STILL:
                kind[p] = STICK
                wrong = True
            continue
        x = frame[0, 0] * f[0] + frame[0, 1] * f[1] + frame[0, 2] * f[2]
        y = frame[1, 0] * f[0] + frame[1, 1] * f[1] + frame[1, 2] * f[2]
        z = frame[2, 0] * f[0] + frame[2, 1] * f[1] + frame[2, 2] * f[2]
        if z < -TOLERANCE * largest:
            if z < pull:
                hardest, pull = p, z
        elif kind[p] == STICK:
            size = (x * x + y * y) ** 0.5
            limit = contacts.dynamic_friction[p] if memory[p, MODE] == SLIDE else contacts.static_friction[p]
            if size > limit * z + TOLERANCE * largest:
                kind[p] = SLIDE
                wrong = True
                friction[p, 3] = contacts.dynamic_friction[p] * z
                for k in range(3):
                    friction[p, k] = (x * frame[0, k] + y * frame[1, k]) / size
        else:
            speed = (u[0] * u[0] + u[1] * u[1]) ** 0.5
            if speed <= STILL:
                continue
            turn, along = 0.0, 0.0
            for k in range(3):
                against = -(u[0] * frame[0, k] + u[1] * frame[1, k]) / speed
                along += against * friction[p, k]
                turn = max(turn, abs(against - friction[p, k]))
            if along < 0.0:
                kind[p] = STICK
                wrong = True
            elif turn > 1e-9:
                wrong = True
                for k in range(3):
                    friction[p, k] = -(u[0] * frame[0, k] + u[1] * frame[1, k]) / speed
    if hardest >= 0:
        kind[hardest] = OPEN
        wrong = True
    return wrong


@kernel
def solve_by_guessing(contacts, dt, memory, free, target, missing, friction, kind, force, end, work):
    """Forces (world frame) for a guess that holds; False if none was found."""
    missing_accelerations(contacts, dt, free, target, missing)
    for _ in range(GUESSES):
        if not spread_with_friction(contacts, kind, friction, missing, force, work):
            return False
        add_friction(contacts, kind, friction, force)
        end_velocities(contacts, dt, free, force, end, work)
        if not mend(contacts, memory, target, end, kind, friction, force):
            return True
    return False


@kernel
def keep_in_cone(contacts, force):
    """Make any forces a fair start for Gauss-Seidel."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 2] = max(0.0, force[p, 2])
        force[p, 0], force[p, 1], _ = coulomb(force[p, 0], force[p, 1], contacts.dynamic_friction[p] * force[p, 2])


@kernel
def conclude(contacts, memory, end, force, mode):
    """Clip what rounding left outside the cone, and remember what each point did."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, u, frame = force[p], end[p], contacts.frame[p]
        f[2] = max(0.0, f[2])
        slides = (u[0] * u[0] + u[1] * u[1]) ** 0.5 > STILL
        limit = contacts.dynamic_friction[p] if slides else contacts.static_friction[p]
        f[0], f[1], _ = coulomb(f[0], f[1], limit * f[2])
        mode[p] = OPEN if f[2] == 0.0 else SLIDE if slides else STICK
        memory[p, MODE] = mode[p]
        size = (f[0] * f[0] + f[1] * f[1]) ** 0.5
        memory[p, SIZE] = size
        for k in range(3):
            memory[p, DIRECTION + k] = (f[0] * frame[0, k] + f[1] * frame[1, k]) / size if size > 0.0 else 0.0


@kernel
def to_world_frames(contacts, force, world):
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        frame, f = contacts.frame[p], force[p]
        for k in range(3):
            world[p, k] = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]


def time_stepping(contacts, dt, memory, force, mode, work, marks, parameters):
    points = contacts.gap.size
    rows = work.shape[0] - 5 * points
    missing, friction = work[rows : rows + points], work[rows + points : rows + 2 * points]
    free, end = work[rows + 2 * points : rows + 3 * points], work[rows + 3 * points : rows + 4 * points]
    target = work[rows + 4 * points :, 0]
    free_velocities(contacts, dt, parameters.restitution, free, target)
    guess(contacts, memory, free, target, marks, friction)
    found = solve_by_guessing(contacts, dt, memory, free, target, missing, friction, marks, force, end, work)
    to_contact_frames(contacts, force)
    status = 0
    if not found:
        keep_in_cone(contacts, force)
        if gauss_seidel(contacts, free, target, dt, force, SWEEPS, TOLERANCE, work) > 1e-8:
            status = 1
        to_world_frames(contacts, force, missing)
        end_velocities(contacts, dt, free, missing, end, work)
    conclude(contacts, memory, end, force, mode)
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
    memory_size = 5
    margin = 0.01  # m, farther than a foot falls in a step
    kernel = staticmethod(time_stepping)

    def __post_init__(self) -> None:
        check(0.0 <= self.restitution <= 1.0, self.name, "restitution", self.restitution, "between 0 and 1")

    @classmethod
    def work_rows(cls, points: int, bodies: int) -> int:
        return 4 * 6 * bodies + SCRATCH_ROWS + 5 * points

    @classmethod
    def marks_size(cls, points: int, bodies: int) -> int:
        return points

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(restitution=self.restitution)
