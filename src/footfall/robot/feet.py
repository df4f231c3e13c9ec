"""Finding feet: the bodies at the ends of the legs, or those the user names, and the soles under them.

``find_feet`` uses the collision geometry, ``named_feet`` the bodies that the user names. Both work in the standing pose
of the given ``MjData``, with z up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError, did_you_mean, warn
from footfall.robot.foot import LEG_WORDS, Foot, as_points
from footfall.robot.model import AT_JOINT, chain_of, moving_bodies, some
from footfall.robot.shapes import (
    FEW,
    KIND,
    LEVEL,
    OUTLINE_DETAIL,
    SOLID,
    UP,
    Sole,
    ball_of,
    check_polygon,
    corners,
    few,
    is_solid,
    largest_side,
    lone_ball,
    outline,
    rolling_parts,
    sole_area,
    sole_of,
)

LEAF_REACH = 0.03  # of the robot's height: how far above its lowest point the end of a leg is still a foot
BARE = 0.1  # of its height: how far below all that collides bodies must reach that only show to be its legs
CHAIN_REACH = 0.005  # the same with another foot further down the chain: a foot with toes, but not a shank
TIP = np.tan(np.radians(5.0))  # how far a robot may tip over the feet found until the next ones come down
ALIKE = 0.05  # of their size: by how much feet of one shape may differ
AS_LONG = 0.2  # of its length: by how much the soles of two such feet may
ON_SIDE = 2.0  # times as large as its sole that the side of a foot must be to look like the sole
SIDES = {"left": "left", "right": "right", "l": "left", "r": "right"}


def find_feet(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Foot, ...]:
    """The bodies at the ends of the legs that reach the ground in the pose of ``data`` (kinematics computed).

    A body is a foot if the lowest point of its collidable geoms lies no higher above the robot's lowest point than 3 %
    of the robot's height, and the same is true of no body further down its chain; a body with a foot below it (a foot
    with toes) must come within 0.5 %. Where the centre of mass does not lie over these feet, bodies that come down when
    the robot tips by less than 5 degrees are feet too. Bodies rigidly fixed to each other make one foot. Where legs
    have no collidable geoms, their visual ones are used, with a warning.
    """
    geoms = _touching(model, data)
    spans = [_span(model, data, g) for g in geoms]
    floor, top = min(s[0] for s in spans), max(s[1] for s in spans)
    lowest: dict[int, float] = {}
    for g, (low, _) in zip(geoms, spans, strict=True):
        body = int(model.geom_bodyid[g])
        lowest[body] = min(low, lowest.get(body, np.inf))
    reaching = {b for b, low in lowest.items() if low <= floor + LEAF_REACH * (top - floor)}
    reaching |= _tipped_onto(model, data, geoms, reaching)
    above = {ancestor for b in reaching for ancestor in chain_of(model, b)[1:]}
    chosen = [b for b in sorted(reaching) if b not in above or lowest[b] <= floor + CHAIN_REACH * (top - floor)]

    groups: dict[int, list[int]] = {}
    for body in chosen:
        groups.setdefault(int(model.body_weldid[body]), []).append(body)
    bodies = [group[0] if len(group) == 1 else weld for weld, group in groups.items()]
    names = _foot_names([model.body(b).name for b in bodies])
    parts = [[g for g in geoms if model.geom_bodyid[g] in group] for group in groups.values()]
    return _feet(model, data, [_Place(*place) for place in zip(names, bodies, parts, strict=True)])


def named_feet(model: mujoco.MjModel, data: mujoco.MjData, feet: Mapping[str, Any] | Iterable[str]) -> tuple[Foot, ...]:
    """The feet the user named: ``{"left": body}``, ``{"left": (body, points)}`` or ``[body, ...]``.

    A geom may be named instead of a body: then the sole is that geom's alone. Points are (P, 3) in the body's frame, m;
    the sole is their hull. ``{"left": {"body": body, "polygon": ring}}`` gives the vertices of the sole in order
    instead, which must make a flat convex polygon.
    """
    if isinstance(feet, str):
        feet = [feet]
    if not isinstance(feet, Mapping):
        if not isinstance(feet, Iterable):
            raise RobotError(f'feet are bodies or geoms by name, feet={{"left": "<body>"}} or ["<body>"], not {feet!r}')
        listed = list(feet)
        feet = dict(zip(_foot_names(listed), listed, strict=True))
    if not feet:
        raise RobotError('feet is empty; leave it out to find them, or name bodies: feet={"left": "<body>"}')
    return _feet(model, data, [_named_foot(model, data, name, place) for name, place in feet.items()])


def _touching(model: mujoco.MjModel, data: mujoco.MjData) -> list[int]:
    """Geoms among which feet are searched: those that collide, and visual ones of legs that reach far below these."""
    robot = _bodies_of_robot(model)
    if not robot:
        tops = [model.body(b).name for b in range(1, model.nbody) if model.body_parentid[b] == 0]
        hint = f"; a <freejoint/> in body '{tops[0]}' lets it move" if len(tops) == 1 else ""
        raise RobotError(f"nothing in the model moves: it is a scene, or a part of a model, and no robot{hint}")
    solid = [g for g in range(model.ngeom) if model.geom_type[g] in SOLID and model.geom_bodyid[g] in robot]
    geoms = [g for g in solid if is_solid(model, g)]
    welds = {int(model.body_weldid[model.geom_bodyid[g]]) for g in geoms}
    bare = [g for g in solid if int(model.body_weldid[model.geom_bodyid[g]]) not in welds]
    if not geoms and not bare:
        raise RobotError(
            "the robot has no collision geometry to find feet in, nor any that shows; give their contact points, "
            f'feet={{"left": ("<body>", points)}}, points (P, 3) in the body\'s frame, of: {some(_body_names(model))}'
        )
    if geoms:
        spans = [_span(model, data, g) for g in geoms]
        floor, top = min(s[0] for s in spans), max(s[1] for s in spans)
        lowest = min((_span(model, data, g)[0] for g in bare), default=floor)
        if lowest >= floor - BARE * (top - lowest):
            _warn_of_bodies_below(model, data, robot, floor, top)
            return geoms
    names = dict.fromkeys(model.body(model.geom_bodyid[g]).name for g in bare)
    lacking = f"{len(names)} of its bodies have" if geoms else "it has"
    warn(
        f"{lacking} no collision geometry ({some(list(names))}): feet are found in what the robot shows, and nothing "
        "else of it touches the ground"
    )
    return geoms + bare


def _tipped_onto(model: mujoco.MjModel, data: mujoco.MjData, geoms: list[int], reaching: set[int]) -> set[int]:
    """Bodies beyond the centre of mass that come down when the robot tips slightly over the feet it has."""
    bottom = {}
    for g in geoms:
        centre, radius = corners(model, data, g)
        bottom[g] = centre - radius[:, None] * UP
    stands = np.vstack([bottom[g] for g in geoms if int(model.geom_bodyid[g]) in reaching])
    bodies = [b for b in range(model.nbody) if model.body_rootid[b] == model.body_rootid[min(reaching)]]
    mass = model.body_mass[bodies]
    if not mass.any():
        return set()
    away = (mass @ data.xipos[bodies] / mass.sum() - stands.mean(axis=0))[:2]
    far = float(np.hypot(*away))
    along = away / max(far, 1e-9)
    edge = float(((stands - stands.mean(axis=0))[:, :2] @ along).max())
    if far <= edge:
        return set()
    found = set()
    for g, points in bottom.items():
        ahead = (points - stands.mean(axis=0))[:, :2] @ along
        if ((ahead > far) & (points[:, 2] - stands[:, 2].min() < TIP * (ahead - edge))).any():
            found.add(int(model.geom_bodyid[g]))
    return found


def _warn_of_bodies_below(
    model: mujoco.MjModel, data: mujoco.MjData, robot: set[int], floor: float, top: float
) -> None:
    """Warn of bodies with mass that lie far below all geometry: legs without shapes."""
    heavy = [b for b in sorted(robot) if model.body_mass[b] > 0]
    lowest = min((float(data.xipos[b, 2]) for b in heavy), default=floor)
    below = [model.body(b).name for b in heavy if data.xipos[b, 2] < floor - BARE * (top - lowest)]
    if below:
        warn(
            f"bodies lie below all geometry that could touch the ground ({some(below)}): if these are its legs, give "
            f'their contact points, feet={{"left": ("{below[-1]}", points)}}'
        )


def _named_foot(model: mujoco.MjModel, data: mujoco.MjData, name: str, place: Any) -> Foot | _Place:
    """The foot that a user named: from the given points, or where the geometry of its body or geom shows it."""
    polygon = isinstance(place, Mapping)
    try:
        if isinstance(place, Mapping):
            target, points = place["body"], place["polygon"]
        else:
            target, points = (place, None) if isinstance(place, str) else place
    except (KeyError, TypeError, ValueError):
        raise RobotError(
            f"foot '{name}' must be a body name or (body name, points), "
            f'or {{"body": name, "polygon": vertices}}, got {place!r}'
        ) from None
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, target)
    geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, target)
    if body <= 0 and geom < 0:
        raise RobotError(f"foot '{name}': no body or geom '{target}'; {did_you_mean(target, _body_names(model))}")
    on_geom = body <= 0
    if on_geom:
        body = int(model.geom_bodyid[geom])
    if points is not None:
        points = as_points(points, name)
        if polygon:
            check_polygon(points, name)
        world = points @ data.xmat[body].reshape(3, 3).T + data.xpos[body]
        ring = outline(world, UP, detail=1e-9)  # the given points are kept, except those on an edge
        return Foot(name, model.body(body).name, points[ring], points, np.zeros(len(points)))
    geoms = [geom] if on_geom else _geoms_of(model, body)
    if not geoms:
        raise RobotError(
            f"foot '{name}': body '{target}' has no geometry to find a sole in; "
            f'give its contact points, feet={{"{name}": ("{target}", points)}}, points (P, 3) in its frame'
        )
    return _Place(name, body, geoms)


def _bodies_of_robot(model: mujoco.MjModel) -> set[int]:
    """Bodies that move; where any has an actuator, only those on the same root, without loose objects of the scene."""
    driven = {
        int(model.body_rootid[model.jnt_bodyid[model.actuator_trnid[i, 0]]])
        for i in range(model.nu)
        if model.actuator_trntype[i] in AT_JOINT
    }
    moving = np.flatnonzero(moving_bodies(model)).tolist()
    return {b for b in moving if not driven or int(model.body_rootid[b]) in driven}


def _geoms_of(model: mujoco.MjModel, body: int) -> list[int]:
    """Collidable geoms of a body; failing these, of bodies fixed below it; failing these, its visual ones."""
    below = [b for b in range(body, model.nbody) if body in chain_of(model, b)]
    fixed = [b for b in below if model.body_weldid[b] == model.body_weldid[body]]
    solid = [g for g in range(model.ngeom) if model.geom_type[g] in SOLID]
    for bodies, visual in (([body], False), (fixed, False), ([body], True), (fixed, True)):
        found = [g for g in solid if model.geom_bodyid[g] in bodies and (visual or is_solid(model, g))]
        if found:
            return found
    return []


class _Place(NamedTuple):
    """Where a foot is looked for."""

    name: str
    body: int
    geoms: list[int]


class _Found(NamedTuple):
    """A foot, and what there is to say about it."""

    foot: Foot
    extent: np.ndarray  # (3,) m, of all corners, along the axes of the body
    reduced: str = ""  # how its points were reduced
    doubt: str = ""  # why its sole may be another


def _feet(model: mujoco.MjModel, data: mujoco.MjData, places: Sequence[Foot | _Place]) -> tuple[Foot, ...]:
    """The feet in these places, with a warning of what was reduced and one of soles that are doubtful.

    Feet of one shape have soles of one kind: where the soles of two of them differ, all that is within 5 mm of the
    lowest flat belongs to them.
    """
    found = [_foot(model, data, place) if isinstance(place, _Place) else _Found(place, np.zeros(3)) for place in places]
    for twins in _of_one_shape(found):
        if not all(_agree(found[i].foot, found[twins[0]].foot) for i in twins):
            for i in twins:
                found[i] = _foot(model, data, places[i], wide=True)  # type: ignore[arg-type]
    reduced = [f"'{one.foot.name}' {one.reduced}" for one in found if one.reduced]
    if reduced:
        warn(f"contact points of soles reduced: {', '.join(reduced)}; points= or --points chooses others")
    doubts = [f"'{one.foot.name}' {one.doubt}" for one in found if one.doubt]
    for first, *twins in _of_one_shape(found):
        other = [found[i].foot.name for i in twins if not _agree(found[i].foot, found[first].foot)]
        if other:
            doubts.append(f"'{other[0]}' has another sole than '{found[first].foot.name}', a foot of the same shape")
    if doubts:
        warn(
            f"look at the soles: {'; '.join(doubts)}. footfall robots FILE --soles soles.png draws them; "
            "pose= and feet= set others"
        )
    return tuple(one.foot for one in found)


def _of_one_shape(found: Sequence[_Found]) -> list[list[int]]:
    """Indices of feet that have the same size, mirrored or turned as they may be, without feet of given points."""
    groups: list[list[int]] = []
    for i, one in enumerate(found):
        size = np.sort(one.extent)
        for group in groups:
            if np.abs(np.sort(found[group[0]].extent) - size).max() <= ALIKE * size.max():
                group.append(i)
                break
        else:
            groups += [[i]] if size.any() else []
    return groups


def _agree(one: Foot, other: Foot) -> bool:
    """Whether the soles of two feet are of one kind and size."""
    kinds = [(len(foot.polygon) if len(foot.polygon) < 3 else 3, bool(foot.radius.any())) for foot in (one, other)]
    sizes = [foot.length for foot in (one, other)]
    return kinds[0] == kinds[1] and abs(sizes[0] - sizes[1]) <= AS_LONG * max(sizes)


def _foot(model: mujoco.MjModel, data: mujoco.MjData, place: _Place, *, wide: bool = False) -> _Found:
    """The foot that geoms make, in the frame of their body; its sole is ``wide`` as ``sole_of`` says."""
    name, body, geoms = place
    if not model.body(body).name:
        raise RobotError(f"the body (id {body}) of foot '{name}' has no name; name it, or load the robot's MjSpec")
    rotation, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
    parts = [corners(model, data, g) for g in geoms]
    centre, radius = np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    extent = np.ptp(centre @ rotation, axis=0) + 2.0 * radius.max()
    round_parts = rolling_parts(model, data, geoms)
    if round_parts is not None:
        lowest, middle, axes = round_parts
        polygon, points = ((place - origin) @ rotation for place in (lowest, middle))
        reduced = ""
        if any(model.geom_type[g] == KIND.mjGEOM_MESH for g in geoms):
            reduced = f"from a mesh to the rim of a wheel of radius {np.linalg.norm(axes, axis=1).max():.3g} m"
        foot = Foot(name, model.body(body).name, polygon, points, np.zeros(len(points)), rotation.T @ axes)
        return _Found(foot, extent, reduced)
    weld = int(model.body_weldid[body])
    joint = data.xanchor[model.body_jntadr[weld]] if model.body_jntnum[weld] else data.xpos[weld]
    # A primitive has few points; of a mesh, or of many geoms, only a few are needed.
    simple = len(geoms) == 1 and model.geom_type[geoms[0]] != KIND.mjGEOM_MESH
    ball = None if simple or radius.any() or wide else ball_of(centre, joint)
    if ball is not None:
        centre, radius = ball[0][None], np.array([ball[1]])
    lone = lone_ball(centre, radius)
    sole = sole_of(centre, radius, joint, wide=wide) if lone is None else Sole(np.array([lone]), UP, flat=False)
    doubt = _doubt(centre, radius, joint, sole)
    centre, radius = centre[sole.corners], radius[sole.corners]
    bottom = centre - radius[:, None] * UP
    ring = outline(bottom, sole.normal, detail=OUTLINE_DETAIL)
    # All spheres are kept; of sharp corners only those on the outline matter.
    kept = [*ring, *(i for i in range(len(centre)) if radius[i] > 0 and i not in ring)]
    reduced = ""
    if len(kept) > FEW and not simple:
        kept = few(bottom, sole.normal)
        ring = [kept[i] for i in outline(bottom[kept], sole.normal, detail=1e-9)]
        kept = [*ring, *(i for i in kept if i not in ring)]
        reduced = f"from {len(bottom)} to {len(kept)}"
    polygon, points = (bottom[ring] - origin) @ rotation, (centre[kept] - origin) @ rotation
    return _Found(Foot(name, model.body(body).name, polygon, points, radius[kept]), extent, reduced, doubt)


def _doubt(centre: np.ndarray, radius: np.ndarray, joint: np.ndarray, sole: Sole) -> str:
    """Why a sole is doubtful, empty if it is not: a tilted one, a tip or an edge, a foot that stands on its side."""
    if sole.normal @ UP < LEVEL:
        return f"is turned by {np.degrees(np.arccos(sole.normal @ UP)):.0f} degrees from the ground in the home pose"
    if not sole.flat:
        return "" if radius[sole.corners].any() else "has neither a flat nor a round end: its lowest corners are taken"
    solid = np.vstack([centre - radius[:, None] * UP, (centre + radius[:, None] * UP)[radius > 0]])
    side = largest_side(solid)
    length = float(np.ptp(solid, axis=0).max())
    above = float(joint @ sole.normal - (solid @ sole.normal).min())
    on_side = side > ON_SIDE * sole_area(solid[sole.corners], sole.normal) and above < 0.5 * length
    return "may stand on its side, which is larger than what it stands on" if on_side else ""


def _span(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[float, float]:
    """Lowest point of a geom and its highest corner, m."""
    centre, radius = corners(model, data, geom)
    return float(np.min(centre @ UP - radius)), float(np.max(centre @ UP + radius))


def _body_names(model: mujoco.MjModel) -> list[str]:
    return [model.body(b).name for b in range(1, model.nbody) if model.body(b).name]


def _foot_names(bodies: list[str]) -> list[str]:
    """Short unique names: "left_ankle_roll_link" is "left", "FL_foot" "FL"; else the body's own."""

    def short(body: str) -> str:
        words = [w for w in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", body) if w]
        for word in words:
            if all(LEG_WORDS.get(word.lower(), (0, 0))):
                return word
        for word in words:
            if word.lower() in SIDES:
                return SIDES[word.lower()]
        return body

    names = [short(body) for body in bodies]
    return [name if names.count(name) == 1 else body for name, body in zip(names, bodies, strict=True)]
