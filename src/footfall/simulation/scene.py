"""The MuJoCo model of a run: the robot, without contacts between its feet and the ground, which are the law's."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from footfall.engine import bridge
from footfall.engine.clearance import Widened, widen
from footfall.engine.constraints.active_set import FRICTION, LIMIT
from footfall.engine.constraints.joint_rows import KINDS, JointRows, leave_to_joint_rows, make_joint_rows
from footfall.engine.soft_contacts import make_soft_contacts
from footfall.engine.world import Native
from footfall.errors import SimulationError
from footfall.robot.model import IMPLICIT, compiled

if TYPE_CHECKING:
    from footfall.contact.base import Law, NativeContact
    from footfall.robot import Robot


SPHERE = mujoco.mjtGeom.mjGEOM_SPHERE
#: MuJoCo's default limits on solver iterations and on line-search iterations. Models made for GPUs stop after one,
#: which is enough for the contacts they were tuned to and leaves others unsolved.
ITERATIONS, SEARCHES = 100, 50


@dataclass(frozen=True, eq=False)
class RunModel:
    """The model of all runs of equal robots in equal steps, whatever the ground and the law; never changed."""

    model: mujoco.MjModel
    rows: mujoco.MjModel  # the same, but for ``joints``: rows that MuJoCo makes in a step are of this one
    native: Native
    joints: JointRows  # constraints of single joints
    widened: Widened  # by which runs know how far apart bodies are


def compose(robot: Robot, law: Law, dt: float, *, body_contacts: bool) -> RunModel:
    """The model of a robot for runs in steps of ``dt`` (s).

    The ground is no part of MuJoCo's model: all contacts with it are the law's. Contacts between bodies are MuJoCo's,
    as the robot's model has them, unless ``body_contacts`` is false.
    """
    make = composed.__wrapped__ if robot.mjcf is None else composed  # a model of MuJoCo's may have been changed since
    return make(robot, law.native_contact(), dt, body_contacts)


@lru_cache(maxsize=8)
def composed(robot: Robot, own: NativeContact | None, dt: float, body_contacts: bool) -> RunModel:
    """The same, cached; ``own`` holds the settings of MuJoCo's contacts where those are the law."""
    native = own is not None
    feet = {foot.body for foot in robot.feet}
    if robot.mjcf is None:
        model = copy.copy(robot.model)
    elif native:
        model = copy.copy(_with_geoms(robot.mjcf, tuple(robot.assets.items()), tuple(sorted(feet))))
    else:
        model = compiled(robot.mjcf, robot.assets, robot.name)
    if not body_contacts:
        model.geom_contype[:] = 0
        model.geom_conaffinity[:] = 0
    model.opt.timestep = dt
    if int(model.opt.integrator) not in IMPLICIT:  # which tells how servos damp; the step is ours
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    widened = widen(model)
    points = robot.point_count + len(robot.others)
    _give_room(model, points)
    contact = np.zeros(1, dtype=bridge.CONTACT)
    ground_geom = -1
    kinds: tuple[int, ...] = KINDS
    soft = make_soft_contacts(model, (0.0, 0.0), (0.0,) * 5, 0)
    if own is not None:
        model.opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{own.cone.upper()}")
        model.opt.impratio = own.impratio
        model.opt.iterations = max(model.opt.iterations, ITERATIONS)
        model.opt.ls_iterations = max(model.opt.ls_iterations, SEARCHES)
        contact["dim"] = 3
        contact["friction"] = [0, 0, 0.005, 0.0001, 0.0001]
        contact["solref"], contact["solimp"] = own.solref, own.solimp
        contact["flex"], contact["elem"], contact["vert"] = -1, -1, -1
        contact["efc_address"] = -1
        ground_geom = _first_geom(model, 0, "the ground")
        for foot in robot.feet:
            _first_geom(model, model.body(foot.body).id, f"foot '{foot.name}'")
        soft = make_soft_contacts(model, own.solref, own.solimp, points)
        # Which equalities of single joints are active is part of the state, also for MuJoCo's own solver.
        kinds = (FRICTION, LIMIT) if soft.folded else ()
    joints, rows = make_joint_rows(model, kinds), model
    if soft.folded or not native:
        # The elimination of constraints reads sparse rows, each with its own bounds.
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        rows = copy.copy(model) if native else model
        leave_to_joint_rows(rows, kinds)
        rows.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    ids = np.zeros(points, dtype=np.int64)
    return RunModel(model, rows, Native(contact, int(ground_geom), ids, soft), joints, widened)


@lru_cache(maxsize=8)  # hulls of large meshes take up to a second
def _with_geoms(mjcf: str, assets: tuple[tuple[str, bytes], ...], feet: tuple[str, ...]) -> mujoco.MjModel:
    """The model with a geom on every foot and one for the ground: MuJoCo's contacts are between geoms."""
    spec = mujoco.MjSpec.from_string(mjcf, assets=dict(assets))
    for name in feet:
        if not spec.body(name).geoms:
            spec.body(name).add_geom(type=SPHERE, size=[1e-3, 0, 0], contype=0, conaffinity=0, mass=0)
    spec.worldbody.add_geom(type=SPHERE, size=[1e-3, 0, 0], contype=0, conaffinity=0)
    return spec.compile()


def _give_room(model: mujoco.MjModel, points: int) -> None:
    """Make the arena hold all contact points and four contacts of every geom, whatever size the model asks for.

    A full arena drops contacts, and a full stack ends the process. A contact has up to four rows of constraints, each
    with its Jacobian (values, columns, transposed, by island) and some forty numbers of the solver; dual solvers keep
    the matrix of all rows.
    """
    contacts = points + 4 * model.ngeom + model.npair
    rows = 4 * contacts + 2 * model.njnt + 2 * model.ntendon + model.nv + 6 * model.neq
    dual = model.opt.solver == mujoco.mjtSolver.mjSOL_PGS or model.opt.noslip_iterations > 0
    needed = 2**16 + contacts * bridge.CONTACT.itemsize + rows * (48 * model.nv + 400) + 48 * model.nv**2
    needed += 16 * rows**2 if dual else 0
    size = bridge.counter(model, "narena")
    if size[0] == model.narena:
        size[0] = max(model.narena, needed)


def _first_geom(model: mujoco.MjModel, body: int, what: str) -> int:
    found = np.flatnonzero(model.geom_bodyid == body)
    if not found.size:
        raise SimulationError(
            f"law mujoco: {what} has no geom in this MjModel, and MuJoCo knows contacts between geoms only; "
            "load the robot from its XML or MjSpec instead"
        )
    return int(found[0])
