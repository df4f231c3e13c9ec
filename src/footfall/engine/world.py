"""Everything a compiled step reads and writes, laid out as tuples of arrays."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.engine import bridge
from footfall.engine.bridge import Clock, make_clock
from footfall.engine.constraints.joint_rows import JointRows
from footfall.engine.constraints.shared_rows import MadeRows, SharedRows
from footfall.engine.other_bodies.points import FAR, Around, Points, chains, first_geoms, make_others, with_places
from footfall.engine.recovery import ReturnPoint, make_return_point
from footfall.engine.soft_contacts import SoftContacts
from footfall.engine.stages import Servos, damping_servos
from footfall.engine.tape import Held
from footfall.kinds import Ints, Matrix, Tensor, Vector, zeros
from footfall.robot import Robot
from footfall.solve.contacts import Contacts

#: A run in which only feet touch the ground.
ALONE = Around(dt=1.0, flat=True, lipschitz=1.0, highest=0.0, patient=False, wanted=False, pairs=False)


class MjWorld(NamedTuple):
    """One ``MjModel`` with its ``MjData``: addresses for MuJoCo's functions, views under MuJoCo's names for ours."""

    model: int
    data: int
    time: Vector  # (1,) s
    ncon: Ints  # (1,)
    contact: Ints  # (1,) address
    qpos: Vector
    qvel: Vector
    act: Vector
    act_dot: Vector
    act_range: Matrix  # (na, 2), infinite where unlimited
    act_filter: Vector  # (na,) s, time constant of exact filters, 0 for other activations
    ctrl: Vector
    qacc: Vector
    qacc_smooth: Vector
    qacc_warmstart: Vector
    qfrc_smooth: Vector
    qfrc_passive: Vector
    qfrc_bias: Vector
    qfrc_actuator: Vector
    qfrc_applied: Vector
    qfrc_constraint: Vector
    actuator_velocity: Vector
    actuator_moment: Vector
    moment_rownnz: Ints
    moment_rowadr: Ints
    moment_colind: Ints
    M: Vector
    M_rownnz: Ints
    M_rowadr: Ints
    M_colind: Ints
    qLD: Vector
    qLDiagInv: Vector
    cdof: Matrix
    cdof_dot: Matrix
    cvel: Matrix
    subtree_com: Matrix
    xpos: Matrix
    xmat: Matrix
    xipos: Matrix
    damping: Vector  # (nv,) N s/m or N m s/rad, of joints
    dof_M0: Vector  # (nv,) kg or kg m2, diagonal of the inertia at home
    actuator_force: Vector
    servos: Servos


class Constraints(NamedTuple):
    """Constraints of the robot's joints and bodies that are eliminated."""

    joints: JointRows
    shared: SharedRows
    made: MadeRows
    acceleration: Vector  # (nv,) scratch: the last acceleration, whose rows disagreed with their states
    needed: Vector  # (nv,) scratch: the generalised force of rows that it requires
    direction: Vector  # (nv,) scratch


class Native(NamedTuple):
    """Our contact points as contacts of MuJoCo, for law mujoco."""

    contact: np.ndarray  # (1,) template of mjContact
    ground_geom: int
    contact_id: Ints  # at least (P,), scratch: MuJoCo's number of each near point
    soft: SoftContacts  # these contacts as added inertia

    def copy(self) -> Native:
        """The same, with scratch of its own: one for each run."""
        arrays: dict[str, Any] = {name: value.copy() for name, value in self.soft._asdict().items() if np.ndim(value)}
        soft = self.soft._replace(**arrays)
        return self._replace(contact=self.contact.copy(), contact_id=self.contact_id.copy(), soft=soft)


class Pushes(NamedTuple):
    """External forces over intervals."""

    body: Ints  # (N,) MuJoCo's bodies
    start: Ints  # (N,) first step
    stop: Ints  # (N,) step after the last
    wrench: Matrix  # (N, 6) force N and torque N m, world frame, at the body's centre of mass


class Scratch(NamedTuple):
    """Scratch space of the step, allocated once."""

    slip: Annotated[Matrix, 2, 2]
    centroid: Annotated[Matrix, "K", 3]
    half: Tensor  # (K, nv or more, 8) H, the same as ``contacts.response``
    generalised: Annotated[Vector, "nv"]
    wrench: Annotated[Vector, 6]
    memory: Annotated[Matrix, "P", "kept"]  # copy of memory and anchors
    mode: Annotated[Ints, "P"]  # copy
    signals: Annotated[Vector, "S"]  # signals of law and controller
    held: Held
    back: ReturnPoint
    clock: Clock


def make_world(model: mujoco.MjModel, data: mujoco.MjData) -> MjWorld:
    """Views of a model and its data for compiled code; both must outlive the result."""
    activations = model.actuator_actnum
    limits = np.where(model.actuator_actlimited[:, None], model.actuator_actrange, [-np.inf, np.inf])
    exact = model.actuator_dyntype == int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
    own = {
        "model": model._address,
        "data": data._address,
        "time": bridge.counter(data, "time"),
        "ncon": bridge.counter(data, "ncon"),
        "contact": bridge.counter(data, "contact"),
        "act_range": np.repeat(limits, activations, axis=0),
        "act_filter": np.repeat(np.where(exact, model.actuator_dynprm[:, 0], 0.0), activations),
        "damping": model.dof_damping.copy(),
        "servos": damping_servos(model),
    }
    views = {}
    for name in MjWorld._fields:
        if name not in own:
            views[name] = getattr(data, name, None) if hasattr(data, name) else getattr(model, name)
    return MjWorld(**own, **views)  # type: ignore[arg-type]


def make_points(model: mujoco.MjModel, robot: Robot, memory_size: int, around: Around = ALONE) -> Points:
    """The contact points of a robot for compiled code, those of its other bodies where ``around`` wants them."""
    feet = robot.feet
    others = make_others(model, robot, around)
    count, slots = robot.point_count + len(others.who), len(feet) + len(others.slot)
    own, own_feet = slice(0, robot.point_count), slice(0, len(feet))
    body = np.zeros(slots, dtype=np.int64)
    body[own_feet] = [model.body(foot.body).id for foot in feet]
    chain, length, shared = chains(model, body)
    local, radius, axes = np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3, 3))
    local[own], radius[own], axes[own] = robot.point_position, robot.point_radius, robot.point_axes
    begin = np.full(slots + 1, robot.point_count, dtype=np.int64)
    begin[: len(feet) + 1] = np.cumsum([0, *(len(foot.points) for foot in feet)])
    return zeros(
        Points,
        {"P": count, "K": slots, "nv": model.nv, "M": max(1, memory_size)},
        local=local,
        radius=radius,
        begin=begin,
        body=body,
        root=model.body_rootid[body].astype(np.int64),
        chain=chain,
        chain_length=length,
        shared=shared,
        geom=first_geoms(model, body),
        centre=local.copy(),
        axes=axes,
        smooth=np.asarray(axes.any(axis=(1, 2)), dtype=np.int64),
        others=others,
    )


def with_size(points: Points, contacts: Contacts, size: int) -> tuple[Points, Contacts]:
    """Points and contacts with room for ``SIZES[size]`` not on feet: first rows of those given, but for operators."""
    others = with_places(points.others, size)
    count, slots = others.first + others.who.size, others.feet + others.slot.size
    by_slot = ("body", "root", "geom", "partner", "sign", "chain", "chain_length")
    rows = {name: array[:count] for name, array in points._asdict().items() if isinstance(array, np.ndarray)}
    rows |= {name: getattr(points, name)[:slots] for name in by_slot}
    rows |= {"begin": points.begin[: slots + 1], "roll": points.roll[: count + 1]}
    rows["shared"] = np.ascontiguousarray(points.shared[:slots, :slots])
    seen = {name: array[:count] for name, array in contacts._asdict().items()}
    seen |= {
        "number": contacts.number,
        "near": contacts.near[: slots + 1],
        "mobility": np.zeros((6 * slots, 6 * slots)),
        "response": contacts.response[:slots],
        "weight": contacts.weight,
    }
    return points._replace(**rows, others=others), contacts._replace(**seen)


def make_contacts(points: Points, static_friction: float, dynamic_friction: float, rows: int = 0) -> Contacts:
    """Empty contacts of a coupled law, with room for ``rows`` constraint rows."""
    count, feet, nv = len(points.local), len(points.body), points.chain.shape[1]
    return zeros(
        Contacts,
        {"P": count, "K": feet, "6K": 6 * feet, "C": nv + rows},
        body=np.searchsorted(points.begin, np.arange(count), side="right").clip(max=feet) - 1,
        position=points.position,
        anchor=points.anchor,
        gap=np.full(count, FAR),
        static_friction=np.full(count, static_friction),
        dynamic_friction=np.full(count, dynamic_friction),
    )


def make_scratch(model: mujoco.MjModel, points: Points, contacts: Contacts, signals: int) -> Scratch:
    """Scratch space for the step."""
    kept = points.memory.shape[1] + 3
    sizes = {"P": len(points.local), "K": len(points.body), "nv": model.nv, "S": signals, "kept": kept}
    clock, back = make_clock(), make_return_point()
    return zeros(Scratch, sizes, half=contacts.response, held=zeros(Held, sizes), back=back, clock=clock)


def make_constraints(made: MadeRows, joints: JointRows, shared: SharedRows) -> Constraints:
    """The constraints of a run: ``joints``, which MuJoCo does not make, and room for those that it makes."""
    own: list[Any] = [array.copy() for array in joints]
    return Constraints(JointRows(*own), shared, made, *np.zeros((3, len(shared.weighed))))


def makes_constraints(model: mujoco.MjModel) -> bool:
    """Whether MuJoCo has constraints to make in a model beside contacts."""
    friction = (model.tendon_frictionloss > 0).any() or (model.dof_frictionloss > 0).any()
    limited = model.tendon_limited.any() or model.jnt_limited.any()
    return bool(model.eq_active0.any() or friction or limited or model.nflex)
