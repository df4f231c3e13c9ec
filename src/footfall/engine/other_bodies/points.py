"""Points of all bodies other than feet, and places among the contact points for those that are near the ground.

A robot has hundreds of such points, few of which are near the ground at a time. Each body has a ball around its points;
a body whose ball is far from the ground needs no further check. Points that are about to touch take one of the places
behind the points of the feet, and keep it, with the law's memory of them, until they are far again; bodies with near
points take a slot behind those of the feet, anew in every step. So laws and solvers work on few points and bodies, and
only on the feet while a robot stands. Places and slots are added to a run on demand, up to a fixed number. Points that
find none even then are counted, and the step is marked as unsolved.

Contacts between two bodies take places and slots behind those, see :mod:`footfall.engine.other_bodies.pairs`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from footfall.kinds import IntMatrix, Ints, Matrix, Tensor, Vector, zeros
from footfall.robot import Robot

#: Numbers of places for points and of slots for bodies beside those of the feet, in the sizes that a run grows through.
SIZES = ((0, 0), (24, 6), (96, 20), (240, 48))
#: Gap of an empty place, m.
FAR = 1e6
# Indices of the counters: points and places up to the last taken one; near points without a place or slot; 1 if the run
# may pause now to add places; steps with missing forces for lack of places; slots before those of pairs of bodies.
LIVE, LOST, MAY_GROW, LACKING, ON_GROUND = 0, 1, 2, 3, 4
#: Fields of :class:`Others` that a step changes, beside the tape.
CHANGING = ("place", "who", "seated", "slot", "counters", "pair", "spot")


class OtherTape(NamedTuple):
    """Samples of the places for points not on feet, place by place; only written pages take memory."""

    who: Annotated[NDArray[np.int32], "S", "T"]  # one plus the number of the place's point, 0 if it is empty
    force: Annotated[Tensor, "S", "T", 3]  # N, world frame, mean until the next sample
    peak_force: Annotated[Tensor, "S", "T", 3]  # N, world frame, in the step in which the point carries most
    position: Annotated[Tensor, "S", "T", 3]  # m, world frame
    velocity: Annotated[Tensor, "S", "T", 3]  # m/s, world frame
    normal: Annotated[Tensor, "S", "T", 3]  # unit vectors, world frame
    gap: Annotated[Matrix, "S", "T"]  # m
    mode: Annotated[NDArray[np.int8], "S", "T"]


class Pairs(NamedTuple):
    """Constant data of a model for contacts between bodies."""

    body: Ints  # (ngeom,) MuJoCo's body of each geom
    root: Ints  # (nbody,)
    chain: IntMatrix  # (nbody, nv) dofs that move each body, from its own up to the root
    chain_length: Ints  # (nbody,)
    rest: Ints  # (R,) pairs of geoms that overlap at home, see :func:`pair_of`
    depth: Vector  # (R,) m, that overlap, which is subtracted from their depth


class Others(NamedTuple):
    """Q points on B bodies other than feet, grouped by body. Constant, but for ``CHANGING`` and the tape."""

    feet: int  # F, slots of feet
    first: int  # places of feet's points, before those of others
    dt: float  # s
    flat: int  # 1 if the ground is one plane
    lipschitz: float  # largest change of the gap per distance travelled, m/m
    highest: float  # m, upper bound of the ground's height
    curved: int  # 1 if any point, of feet or others, is an ellipsoid
    patient: int  # 1 if the law is given all points that have a place, at any gap
    full: int  # 1 if no places can be added
    body: Ints  # (B,) MuJoCo's body
    root: Ints  # (B,)
    geom: Ints  # (B,) one of its geoms
    foot: Ints  # (B,) slot of the foot that is fixed to it, or -1
    begin: Ints  # (B + 1,)
    local: Matrix  # (Q, 3) m, body frame
    radius: Vector  # (Q,)
    axes: Tensor  # (Q, 3, 3)
    smooth: Ints  # (Q,) 1 for ellipsoids and rims
    centre: Matrix  # (B, 3) m, body frame, of the box around all its points
    half: Matrix  # (B, 3) m, half the sides of that box, along the axes of the body
    size: Vector  # (B,) m, radius of a ball around all its points, about the same centre
    chain: IntMatrix  # (B, nv)
    chain_length: Ints  # (B,)
    shared: IntMatrix  # (F + B, F + B) of feet and these bodies
    place: Ints  # (Q,) place of each point among all contact points, or -1
    who: Ints  # (S,) the point of each place, or -1; Q for a contact between bodies
    pair: Ints  # (S,) the geoms of such a contact, see :func:`pair_of`
    spot: Matrix  # (S, 3) m, world frame, its position in the last step
    seated: Ints  # (B,) number of points of a body that have places
    slot: Ints  # (A,) the body of each slot behind the feet, or -1; numbers from B on are pairs of bodies
    counters: Ints  # (5,) LIVE, LOST, MAY_GROW, LACKING, ON_GROUND
    pairs: Pairs
    tape: OtherTape


class Points(NamedTuple):
    """The contact points of a run.

    P points: those of the feet, grouped by foot, then places for others. K slots for bodies: first the feet, then other
    bodies as they come near the ground.
    """

    local: Annotated[Matrix, "P", 3]  # m, body frame
    radius: Annotated[Vector, "P"]  # m, of the ball around the point that touches
    begin: Annotated[Ints, "K + 1"]  # first point of each foot
    body: Annotated[Ints, "K"]  # MuJoCo's body
    root: Annotated[Ints, "K"]  # root of the body's tree
    chain: Annotated[IntMatrix, "K", "nv"]  # dofs that move the body, from its own up to the root
    chain_length: Annotated[Ints, "K"]
    shared: Annotated[IntMatrix, "K", "K"]  # dofs at the root's end of two chains that are the same
    position: Annotated[Matrix, "P", 3]  # m, world frame
    anchor: Annotated[Matrix, "P", 3]  # m, world frame, where the point stuck last
    force: Annotated[Matrix, "P", 3]  # N, contact frame
    mode: Annotated[Ints, "P"]
    memory: Annotated[Matrix, "P", "M"]  # what the law remembers
    # The following fields are absent where only feet meet the ground, see ``FEET``.
    geom: Annotated[Ints, "K"]  # one of the body's geoms, or -1
    partner: Annotated[Ints, "K"]  # the other body of a pair
    sign: Annotated[Matrix, "K", "nv"]  # 1 for dofs of its chain that move the body alone, -1 the partner, 0 both
    centre: Annotated[Matrix, "P", 3]  # m, body frame: of an ellipsoid the centre, while ``local`` is where it touches
    axes: Annotated[Tensor, "P", 3, 3]  # m, body frame, semi-axes of the ellipsoid that touches, as columns
    smooth: Annotated[Ints, "P"]  # 1 if there is such an ellipsoid
    roll: Annotated[Tensor, "P + 1", 3, 3]  # m, motion of an ellipsoid's contact per turn of the normal; last: scratch
    listed: Annotated[Ints, "P"]  # scratch, zero between calls
    others: Others


#: Fields that contact points have where feet alone meet the ground.
FEET = Points._fields[: Points._fields.index("geom")]


def chains(model: mujoco.MjModel, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dofs that move each body, from its own up to the root (K, nv), their number, and how many any two share."""
    count = len(bodies)
    chain = np.full((count, model.nv), -1, dtype=np.int64)
    length = np.zeros(count, dtype=np.int64)
    for k in range(count):
        b = int(bodies[k])
        while b and model.body_dofnum[b] == 0:
            b = int(model.body_parentid[b])
        dof = int(model.body_dofadr[b] + model.body_dofnum[b] - 1) if b else -1
        while dof >= 0:
            chain[k, length[k]] = dof
            length[k] += 1
            dof = int(model.dof_parentid[dof])
    sets = [set(chain[k, : length[k]].tolist()) for k in range(count)]
    shared = np.array([[len(a & b) for b in sets] for a in sets], dtype=np.int64).reshape(count, count)
    return chain, length, shared


def first_geoms(model: mujoco.MjModel, bodies: np.ndarray) -> np.ndarray:
    """The first geom of each body, -1 if it has none."""
    found = [np.flatnonzero(model.geom_bodyid == body)[:1] for body in bodies]
    return np.array([int(geoms[0]) if geoms.size else -1 for geoms in found], dtype=np.int64)


class Around(NamedTuple):
    """Data of a run for the points of other bodies, see :class:`Others`."""

    dt: float  # s
    flat: bool  # whether the ground is one plane
    lipschitz: float
    highest: float  # m
    patient: bool  # whether the law is given points that are not about to touch
    wanted: bool  # whether other bodies have contacts
    pairs: bool  # whether contacts between bodies are the law's


def make_others(model: mujoco.MjModel, robot: Robot, around: Around) -> Others:
    """The points of a robot beside its feet, for compiled code."""
    feet = np.array([model.body(foot.body).id for foot in robot.feet], dtype=np.int64)
    found = robot.others
    many = len(found.body) if around.wanted else 0
    body = found.body[:many].astype(np.int64)
    begin = found.begin[: many + 1].astype(np.int64)
    total = int(begin[-1])
    chain, length, shared = chains(model, np.concatenate([feet, body]))
    centre, half, size = np.zeros((many, 3)), np.zeros((many, 3)), np.zeros(many)
    reach = found.radius + np.linalg.norm(found.axes, axis=1).max(axis=1, initial=0.0)
    for b in range(many):
        own = slice(begin[b], begin[b + 1])
        at, r = found.points[own], reach[own, None]
        low, high = (at - r).min(axis=0), (at + r).max(axis=0)
        centre[b], half[b] = 0.5 * (low + high), 0.5 * (high - low)
        size[b] = np.max(np.linalg.norm(at - centre[b], axis=1) + r[:, 0])
    foot = found.foot[:many].astype(np.int64)
    most_places, most_slots = SIZES[-1]
    places, slots = min(most_places, total), min(most_slots, int((foot < 0).sum()))
    if around.pairs:
        places, slots = most_places, most_slots
    return Others(
        feet=len(feet),
        first=robot.point_count,
        dt=float(around.dt),
        flat=int(around.flat),
        lipschitz=float(around.lipschitz),
        highest=float(around.highest),
        curved=int(robot.point_axes.any() or found.axes[:total].any()),
        patient=int(around.patient),
        full=1,
        body=body,
        root=model.body_rootid[body].astype(np.int64),
        geom=first_geoms(model, robot.model.geom_bodyid[found.geom[begin[:-1]]]),
        foot=foot,
        begin=begin,
        local=found.points[:total].copy(),
        radius=found.radius[:total].copy(),
        axes=found.axes[:total].copy(),
        smooth=np.asarray(found.axes[:total].any(axis=(1, 2)), dtype=np.int64),
        centre=centre,
        half=half,
        size=size,
        chain=np.ascontiguousarray(chain[len(feet) :]),
        chain_length=length[len(feet) :].copy(),
        shared=shared,
        place=np.full(total, -1, dtype=np.int64),
        who=np.full(places, -1, dtype=np.int64),
        pair=np.zeros(places, dtype=np.int64),
        spot=np.zeros((places, 3)),
        seated=np.zeros(many, dtype=np.int64),
        slot=np.full(slots, -1, dtype=np.int64),
        counters=np.array([robot.point_count, 0, 1, 0, len(feet) + slots], dtype=np.int64),
        pairs=make_pairs(model, robot, around.pairs),
        tape=make_other_tape(0, 0),
    )


def pair_of(model: mujoco.MjModel, first: int, second: int) -> int:
    """The number of a pair of geoms."""
    return first * model.ngeom + second


def friction_between(model: mujoco.MjModel, first: int, second: int) -> float:
    """Friction of two geoms: as a pair of them says, else that of higher priority, else the larger."""
    for pair in range(model.npair):
        if {int(model.pair_geom1[pair]), int(model.pair_geom2[pair])} == {first, second}:
            return float(model.pair_friction[pair, 0])
    geoms = [first, second]
    if model.geom_priority[first] != model.geom_priority[second]:
        geoms = [max(geoms, key=lambda geom: model.geom_priority[geom])]
    return float(max(model.geom_friction[geom, 0] for geom in geoms))


def make_pairs(model: mujoco.MjModel, robot: Robot, wanted: bool) -> Pairs:
    """Constant data of contacts between bodies; empty if these are not ``wanted``.

    Geoms that overlap at home are drawn larger than the bodies that they represent: their depth is counted from that
    overlap.
    """
    depth: dict[int, float] = {}
    if wanted:
        data = mujoco.MjData(model)
        data.qpos[:] = robot.home
        mujoco.mj_fwdPosition(model, data)
        for contact in data.contact:
            if contact.dist < 0.0:
                pair = pair_of(model, *contact.geom)
                depth[pair] = max(depth.get(pair, 0.0), -float(contact.dist))
    chain, length, _ = chains(model, np.arange(model.nbody if wanted else 0))
    return Pairs(
        body=model.geom_bodyid.astype(np.int64),
        root=model.body_rootid.astype(np.int64),
        chain=chain,
        chain_length=length,
        rest=np.array(sorted(depth), dtype=np.int64),
        depth=np.array([depth[pair] for pair in sorted(depth)]),
    )


def own_copy(points: Points) -> Points:
    """A copy with arrays of its own, except those that never change."""
    others = points.others
    changing = {name: getattr(others, name).copy() for name in CHANGING}
    own = {name: array.copy() for name, array in points._asdict().items() if name != "others"}
    return Points(**own, others=others._replace(**changing))


def with_places(others: Others, size: int) -> Others:
    """The same with ``SIZES[size]`` places and slots; arrays are views of those given."""
    places, slots = (
        min(wanted, there.size) for wanted, there in zip(SIZES[size], (others.who, others.slot), strict=True)
    )
    full = places == others.who.size and slots == others.slot.size
    others.slot[:] = -1  # slots are taken anew in the next step
    rows = {name: getattr(others, name)[:places] for name in ("who", "pair", "spot")}
    return others._replace(**rows, slot=others.slot[:slots], full=int(full))


def make_other_tape(places: int, samples: int) -> OtherTape:
    """Room for a recording."""
    return zeros(OtherTape, {"S": places, "T": samples})


def with_tape(others: Others, size: int, samples: int) -> Others:
    """The same with room to record ``samples`` of the places of ``SIZES[size]``."""
    tape, places = others.tape, min(SIZES[size][0], others.who.size)
    had, have = tape.who.shape
    if had >= places and have >= samples:
        return others
    larger = make_other_tape(max(had, places), max(have, samples))
    for place in np.flatnonzero(tape.who.any(axis=1)):  # unwritten pages of the others take no memory
        for name in OtherTape._fields:
            getattr(larger, name)[place, :have] = getattr(tape, name)[place]
    return others._replace(tape=larger)
