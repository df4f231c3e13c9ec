"""Contact forces for a desired wrench: Ott 2011, section IV-B.

Minimise a1 |force missed|^2 + a2 |torque missed|^2 + a3 |forces|^2 (18) over the forces at the contact points, each
inside its friction pyramid and with at least a minimum of normal force. The wrench is a target and no constraint, so a
solution always exists.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.control.senses import Senses, cross
from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.ground.surface import tangent_frame
from footfall.kinds import Bool, Matrix, Tensor, Vector, zeros
from footfall.robot import Robot
from footfall.solve.dense import copy
from footfall.solve.quadratic_program import (
    SOLVED,
    UNBOUNDED,
    ActiveSet,
    QuadraticProgram,
    active_set,
    empty_program,
    solve_quadratic_program,
)


class ContactPlaces(NamedTuple):
    """The places of all contact points."""

    level: int  # 1 where the ground is one plane, so that frames stay as they are
    surface: Any  # the ground's function
    shape: Vector
    table: Matrix
    position: Annotated[Matrix, "P", 3]  # m, world frame
    frames: Tensor  # (P, 3, 3) rows tangent, tangent, normal
    arms: Annotated[Matrix, "P", 3]  # m, from the centre of mass


def contact_places(robot: Robot, ground: Ground) -> ContactPlaces:
    """Room for the places where the feet of a robot touch."""
    surface, shape, table = ground.compiled()
    return zeros(
        ContactPlaces,
        {"P": robot.point_count},
        level=int(ground.flat),
        surface=surface,
        shape=np.array(shape),
        table=np.array(table),
        frames=np.tile(ground.frame(np.zeros(3)), (robot.point_count, 1, 1)),
    )


@inlined
def place_contacts(senses: Senses, contacts: ContactPlaces) -> None:
    """Write positions (P, 3) in m and contact frames (P, 3, 3) of all contact points, world frame."""
    position = contacts.position
    for p in range(position.shape[0]):
        copy(position[p], senses.position[p])
        if not contacts.level:
            x, y, z = position[p, 0], position[p, 1], position[p, 2]
            _, nx, ny, nz = contacts.surface(x, y, z, contacts.shape, contacts.table)
            tangent_frame(nx, ny, nz, contacts.frames[p])


def friction_pyramid(friction: float, sides: int) -> np.ndarray:
    """Rows (sides, 3) with ``rows @ f <= 0`` for every force f (tangent, tangent, normal) of a pyramid.

    Its edges lie on the cone of ``friction``, Ott 2011, eq. (3), the first one along the first tangent: the pyramid is
    inside Coulomb's cone. Between two edges it allows ``1 - cos(pi / sides)`` less friction than the cone.
    """
    middle = (2.0 * np.arange(sides) + 1.0) * math.pi / sides
    inner = friction * math.cos(math.pi / sides)  # Ott 2011, eq. 3
    return np.stack([np.cos(middle), np.sin(middle), np.full(sides, -inner)], axis=1)


class ForceProblem(NamedTuple):
    """The force distribution for P contact points.

    The unknowns are all normal forces, then all first tangents, then all second ones: bounds belong to the first
    unknowns, and in contact frames the pyramids never change.
    """

    weights: Vector  # (3,) a1, a2, a3 of (18)
    grasp: Annotated[Matrix, 6, "n"]  # scratch
    program: QuadraticProgram
    work: ActiveSet
    force: Annotated[Matrix, "P", 3]  # N, world frame, of the ground on the robot
    missed: Annotated[Vector, 6]  # N and N m, the desired wrench less that of these forces


def force_problem(
    count: int,
    friction: float | np.ndarray,
    *,
    sides: int = 4,
    minimum: float = 4.0,
    weights: tuple[float, float, float] = (1.0, 1e-3, 1e-6),
) -> ForceProblem:
    """Room for the forces of ``count`` points.

    ``friction`` is one number or one per point, ``minimum`` (N) the least normal force, ``weights`` the a1, a2, a3 of
    (18).
    """
    if count < 1:
        raise ControllerError("a force distribution needs at least one contact point")
    size, faces = 3 * count, count * sides
    program = empty_program(size, count, faces)
    for p, mu in enumerate(np.broadcast_to(friction, count)):
        rows = friction_pyramid(float(mu), sides)
        program.C[p * sides : (p + 1) * sides, [count + p, 2 * count + p, p]] = rows
    program.upper[:count], program.upper[count:] = UNBOUNDED, 0.0
    program.lower[:count], program.lower[count:] = float(minimum), -UNBOUNDED
    own, work = np.array(weights, dtype=float), active_set(size, count, faces)
    return zeros(ForceProblem, {"P": count, "n": size}, weights=own, program=program, work=work)


@inlined
def distribute(problem: ForceProblem, wrench: Vector, arms: Matrix, frames: Tensor) -> Bool:
    """Write the contact forces that come nearest to a wrench (18). False, with the last forces kept, if that fails."""
    program, force = problem.program, problem.force
    _assemble(wrench, arms, frames, problem.weights, problem.grasp, program.H, program.f)
    solved = solve_quadratic_program(program, problem.work) == SOLVED  # Ott 2011, eq. 18
    x, count, missed = problem.work.x, force.shape[0], problem.missed
    copy(missed, wrench)
    for p in range(count):
        if solved:
            for c in range(3):
                force[p, c] = (
                    x[p] * frames[p, 2, c] + x[count + p] * frames[p, 0, c] + x[2 * count + p] * frames[p, 1, c]
                )
        moment = cross(arms[p], force[p])
        for c in range(3):
            missed[c] -= force[p, c]
            missed[3 + c] -= moment[c]
    return solved


@inlined
def _assemble(
    wrench: Vector, arms: Matrix, frames: Tensor, weights: Vector, grasp: Matrix, hessian: Matrix, linear: Vector
) -> None:
    """The grasp map (4)-(10), rows weighted by the roots of (18), the lower half of the Hessian, the linear term."""
    count = arms.shape[0]
    force, torque = math.sqrt(weights[0]), math.sqrt(weights[1])
    for part in range(3):
        row = (part + 2) % 3  # normals first, then the tangents
        for p in range(count):
            d, r, j = frames[p, row], arms[p], part * count + p
            grasp[0, j], grasp[1, j], grasp[2, j] = force * d[0], force * d[1], force * d[2]
            x, y, z = cross(r, d)  # Ott 2011, eq. 4-10
            grasp[3, j], grasp[4, j], grasp[5, j] = torque * x, torque * y, torque * z
    for i in range(3 * count):
        linear[i] = 0.0
        for k in range(6):
            linear[i] -= grasp[k, i] * (force if k < 3 else torque) * wrench[k]
        for j in range(i + 1):
            total = weights[2] if i == j else 0.0
            for k in range(6):
                total += grasp[k, i] * grasp[k, j]
            hessian[i, j] = total
