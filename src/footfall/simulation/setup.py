"""A robot on a ground under a contact law: checked, compiled to one MuJoCo model, and not yet run."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact.base import Law, NativeContact
from footfall.contact.registry import DEFAULT_LAW
from footfall.contact.setting import Setting, make_setting
from footfall.contact.springs.stable_step import usual_step
from footfall.engine import bridge
from footfall.engine.clearance import Widened, widen
from footfall.engine.constraints.active_set import FRICTION, LIMIT
from footfall.engine.constraints.joint_rows import KINDS, JointRows, leave_to_joint_rows, make_joint_rows
from footfall.engine.other_bodies.near import JOLT
from footfall.engine.soft_contacts import make_soft_contacts
from footfall.engine.world import Native
from footfall.errors import SimulationError, warn
from footfall.given_numbers import Bounds
from footfall.ground import Ground
from footfall.ground.ground import as_ground
from footfall.robot import Robot
from footfall.robot.load import AnyRobot, as_robot
from footfall.robot.model import IMPLICIT, compiled
from footfall.standing import place, unit_rise

#: Longest step, s.
LONGEST_STEP = 1.0
#: Longest period of an event-driven law, s.
LONGEST_PERIOD = 0.1


@public
class Setup:
    """Robot, ground, law and step of runs; :class:`footfall.Simulation` describes the options."""

    def __init__(
        self,
        robot: AnyRobot,
        *,
        ground: Ground | str | None = None,
        law: Law | str = DEFAULT_LAW,
        dt: Annotated[float, Bounds(0.0, LONGEST_STEP, open=True)] | None = None,
        body_contacts: bool = True,
    ) -> None:
        self.prepared: Any = None  # shared by all runs, see :func:`footfall.simulation.workspace.prepared`
        self.robot, self.ground, self.law = as_robot(robot), as_ground(ground), make_law(law)
        self._check_robot()
        self.dt = usual_step(self.law, self.robot, self.ground) if dt is None else float(dt)
        self.body_contacts = body_contacts
        self._check_period()
        self.scene: RunModel = compose(self.robot, self.law, self.dt, body_contacts=body_contacts)
        self._check_model()

    def _check_robot(self) -> None:
        """Refuse a robot without mass or with a singular inertia matrix."""
        robot = self.robot
        if not robot.mass > mujoco.mjMINVAL:
            raise SimulationError(
                f"{robot.name} weighs {robot.mass:g} kg, next to nothing for MuJoCo: give its bodies masses"
            )
        if not robot.has_inertia:
            raise SimulationError(
                f"the inertia matrix of {robot.name} is singular in its home pose: masses or lengths of its bodies are "
                "too far apart"
            )

    def _check_period(self) -> None:
        """Refuse a step that is too long for an event-driven law."""
        if self.law.event_driven and self.dt > LONGEST_PERIOD:
            raise SimulationError(
                f"dt = {self.dt:g} s, but {self.law.name} looks for events within a period of controls and records, "
                f"which may last {LONGEST_PERIOD:g} s at most: use a smaller dt"
            )

    def _check_model(self) -> None:
        """Refuse features that the step does not run or that disable contacts; warn of adhesion without effect."""
        model, name = self.scene.model, self.robot.name
        for feature, count in (("plugins", model.nplugin), ("delayed actuators", model.nhistory)):
            if count:
                raise SimulationError(f"{name} uses MuJoCo's {feature}, which Footfall's step does not run")
        if not self.law.native:
            if (self.robot.model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any():
                warn(f"actuators of {name} adhere to MuJoCo's own contacts alone, and do nothing under {self.law.name}")
            return
        for flag in ("constraint", "contact"):
            if model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}")):
                raise SimulationError(
                    f'{name} says <flag {flag}="disable"/>, and so MuJoCo would give no contact forces under law mujoco'
                )

    def __reduce__(self) -> Any:
        names = ("ground", "law", "dt", "body_contacts")
        return partial(type(self), **{name: getattr(self, name) for name in names}), (self.robot,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.robot.name}, {self.ground}, {self.law}, dt={self.dt:g})"

    @cached_property
    def setting(self) -> Setting:
        """The setting from which the law's defaults are derived."""
        return make_setting(self.robot, self.ground, self.dt)

    @cached_property
    def home_on_ground(self) -> np.ndarray:
        """(nq,) the home pose set down at the origin, where runs start by default."""
        return self.place()

    def place(self, at: tuple[float, float] = (0.0, 0.0), *, align: bool = False, above: float = 0.0) -> np.ndarray:
        """The home pose (nq,) set down on the ground at ``at`` (m): no point inside it, the first one touching.

        ``align`` turns a free base so that its vertical is the ground's normal there: a brick lies flat on a ramp.
        ``above`` (m) raises the pose.
        """
        pose = place(self.robot, self.ground, at, align=align)
        return pose + above * unit_rise(self.robot) if above else pose


def pairs_are_the_laws(sim: Setup) -> bool:
    """Whether the law gives the forces between bodies; else MuJoCo's soft constraints do."""
    soft = sim.law.native or sim.law.event_driven or sim.scene.model.nflex > 0
    return sim.body_contacts and not (soft or sim.scene.widened.never)


SPHERE = mujoco.mjtGeom.mjGEOM_SPHERE
#: MuJoCo's default limits on solver iterations and on line-search iterations. Models made for GPUs stop after one,
#: which is enough for the contacts they were tuned to and leaves others unsolved.
ITERATIONS, SEARCHES = 100, 50


@dataclass(frozen=True, eq=False)
class RunModel:
    """The MuJoCo model shared by all runs of equal robots in equal steps; never changed."""

    model: mujoco.MjModel
    rows: mujoco.MjModel  # the same without the constraints in ``joints``: MuJoCo makes the other rows from it
    native: Native
    joints: JointRows  # constraints of single joints
    widened: Widened  # for the distances between bodies


def compose(robot: Robot, law: Law, dt: float, *, body_contacts: bool) -> RunModel:
    """The model of a robot for runs in steps of ``dt`` (s).

    The ground is no part of MuJoCo's model: all contacts with it are the law's. MuJoCo detects contacts between bodies,
    of the geoms that collide in the robot's model, unless ``body_contacts`` is false.
    """
    make = composed.__wrapped__ if robot.mjcf is None else composed  # a user may have changed an MjModel since
    margin = 0.0 if law.event_driven else min(law.near(dt), JOLT * dt)
    return make(robot, law.native_contact(), dt, body_contacts, margin)


@lru_cache(maxsize=8)
def composed(robot: Robot, own: NativeContact | None, dt: float, body_contacts: bool, margin: float) -> RunModel:
    """As :func:`compose`, cached; ``own`` holds the settings of MuJoCo's contacts where those are the law.

    Bodies that are less than ``margin`` (m) apart are shown to the law.
    """
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
    if not native:
        for margins in (model.geom_margin, model.body_margin):
            np.maximum(margins, margin, out=margins)
    model.opt.timestep = dt
    if int(model.opt.integrator) not in IMPLICIT:  # the integrator only tells how servos damp; the step is ours
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    widened = widen(model)
    points = robot.point_count + len(robot.others)
    _give_room(model, points)
    contacts = _native_contacts(model, robot, own, points)
    soft = contacts.soft
    kinds: tuple[int, ...] = KINDS
    if native:
        # MuJoCo makes equalities of single joints: their activation is part of its state, also for its own solver.
        kinds = (FRICTION, LIMIT) if soft.folded else ()
    joints, rows = make_joint_rows(model, kinds), model
    if soft.folded or not native:
        # The elimination of constraints reads sparse rows, each with its own bounds.
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        rows = copy.copy(model) if native else model
        leave_to_joint_rows(rows, kinds)
        rows.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    return RunModel(model, rows, contacts, joints, widened)


def _native_contacts(model: mujoco.MjModel, robot: Robot, own: NativeContact | None, points: int) -> Native:
    """Our contact points as contacts of MuJoCo, if those are the law; writes their settings ``own`` to the model."""
    contact, ids = np.zeros(1, dtype=bridge.CONTACT), np.zeros(points, dtype=np.int64)
    if own is None:
        return Native(contact, -1, ids, make_soft_contacts(model, (0.0, 0.0), (0.0,) * 5, 0))
    model.opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{own.cone.upper()}")
    model.opt.impratio = own.impratio
    model.opt.iterations = max(model.opt.iterations, ITERATIONS)
    model.opt.ls_iterations = max(model.opt.ls_iterations, SEARCHES)
    contact["dim"] = 3
    contact["friction"] = [0, 0, 0.005, 0.0001, 0.0001]
    contact["solref"], contact["solimp"] = own.solref, own.solimp
    contact["flex"], contact["elem"], contact["vert"] = -1, -1, -1
    contact["efc_address"] = -1
    ground = _first_geom(model, 0, "the ground")
    for foot in robot.feet:
        _first_geom(model, model.body(foot.body).id, f"foot '{foot.name}'")
    return Native(contact, ground, ids, make_soft_contacts(model, own.solref, own.solimp, points))


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
