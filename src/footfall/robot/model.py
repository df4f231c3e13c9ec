"""From a spec to a compiled model with an intangible scene; its actuators, its overlaps, its names and bytes.

Also the checks of robots stored in a recording: their XML may neither read other files nor ask for absurd memory.
Footfall writes such XML itself (``MjSpec.to_xml``): includes are resolved, replicas expanded, files kept by plain name
in ``assets``. XML in any other form is refused.
"""

from __future__ import annotations

import copy
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError, did_you_mean, warn
from footfall.process.machine import machine_memory

# As integers: a NumPy integer from the model is not found in a tuple of enums.
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE, HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
AT_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
#: Integrators that treat the damping of servos implicitly.
IMPLICIT = (int(mujoco.mjtIntegrator.mjINT_IMPLICIT), int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
#: Collision bit given to geoms that collide with the ground by a <pair> only: no other geom of a robot has it.
MEETS_GROUND = 1 << 30
NAMED = 4  # most parts that a warning names
OUT_OF_REACH = -1e6  # m, margin that keeps a pair from ever being in contact


def prepare(spec: mujoco.MjSpec, name: str) -> list[str]:
    """Name unnamed bodies, make the scene intangible, and save the XML as it was written, with all digits.

    A pair that names a geom outside the model, as in a robot made for a scene, is taken as a pair with the scene.
    Returns the parts of the scene that could be touched, without level floors.
    """
    for texture in spec.textures:
        flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
        check_table(f"robot '{name}'", "texture", texture.width, texture.height if flat else texture.width)
    for field in spec.hfields:
        check_table(f"robot '{name}'", "hfield", field.nrow, field.ncol)
    for i, body in enumerate(spec.bodies):
        body.name = body.name or f"body{i}"
    scene = list(_scenery(spec.worldbody))
    scene_names = {geom.name for geom in scene if geom.name}
    touched = []
    for geom in scene:
        level = geom.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT and _is_level(geom.quat)
        if (geom.contype or geom.conaffinity) and not (geom.type == mujoco.mjtGeom.mjGEOM_PLANE and level):
            touched.append(geom.name or f"a {_shape(geom.type)}")
        geom.contype = geom.conaffinity = 0
    known = {geom.name for geom in spec.geoms}
    foreign = {geom for pair in spec.pairs for geom in (pair.geomname1, pair.geomname2) if geom not in known}
    if foreign:
        message = f"robot '{name}': a <pair> names {', '.join(sorted(foreign))}, no geom of it: taken for the ground"
        warn(message)
        scene_names |= foreign
    for pair in list(spec.pairs):
        for one, other in ((pair.geomname1, pair.geomname2), (pair.geomname2, pair.geomname1)):
            if other in scene_names and one not in scene_names:
                geom = spec.geom(one)
                if not (geom.contype or geom.conaffinity):
                    geom.contype = MEETS_GROUND
        if pair.geomname1 in scene_names or pair.geomname2 in scene_names:
            spec.delete(pair)
    spec.compiler.savecompiled = spec.compiler.savecanonical = False
    return touched


def _scenery(body: Any) -> Iterator[Any]:
    """Geoms of the world and of bodies fixed to it that carry no moving body."""
    yield from body.geoms
    for child in body.bodies:
        if not child.joints and not child.find_all("joint"):
            yield from _scenery(child)


def _shape(kind: int) -> str:
    return mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()


def _is_level(quat: np.ndarray) -> bool:
    return float(np.hypot(quat[1], quat[2])) < 1e-9


def warn_of_scenery(parts: Sequence[str], name: str) -> None:
    """Warn of stairs, walls and terrain in a model, which the ground replaces."""
    if parts:
        warn(
            f"robot '{name}': nothing touches what its model has fixed in the world ({some(parts)}); the ground takes "
            "its place: ground=ff.Ground.stairs(...), heightfield(...) or function(...)"
        )


def warn_of_flexes(model: mujoco.MjModel, name: str) -> None:
    """Warn of soft bodies, which have no contact points."""
    solid = [i for i in range(model.nflex) if model.flex_contype[i] or model.flex_conaffinity[i]]
    if solid:
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, i) or f"flex {i}" for i in solid]
        warn(f"robot '{name}': MuJoCo's flexes have no contact points and fall through the ground ({some(names)})")


def moving_bodies(model: mujoco.MjModel) -> np.ndarray:
    """(nbody,) which bodies can move under forces: all that are not fixed to the world or to a mocap body."""
    weld = model.body_weldid
    moving: np.ndarray = (weld != 0) & (model.body_mocapid[weld] < 0)
    return moving


def chain_of(model: mujoco.MjModel, body: int) -> list[int]:
    """A body and its ancestors, upward, without the world."""
    chain = [body]
    while model.body_parentid[chain[-1]]:
        chain.append(int(model.body_parentid[chain[-1]]))
    return chain


def base_of(model: mujoco.MjModel, feet: Iterable[int]) -> int:
    """The lowest common ancestor of these bodies; the root if there is one body, or several robots."""
    chains = [chain_of(model, body) for body in dict.fromkeys(feet)]
    shared = [body for body in chains[0] if all(body in chain for chain in chains)]
    return shared[0] if shared and len(chains) > 1 else chains[0][-1]


def height_of_root(model: mujoco.MjModel, root: int) -> tuple[int, float] | None:
    """Address in qpos of the height of a root with a free joint or a vertical slide, and its sign: 1.0 if it counts
    upwards, -1.0 downwards; None if the root cannot rise.
    """
    axis = np.zeros(3)
    for joint in range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root]):
        address, kind = int(model.jnt_qposadr[joint]), model.jnt_type[joint]
        if kind == FREE:
            return address + 2, 1.0
        mujoco.mju_rotVecQuat(axis, model.jnt_axis[joint], model.body_quat[root])
        if kind == SLIDE and abs(axis[2]) > 1 - 1e-9:
            return address, float(np.sign(axis[2]))
    return None


def centre_of_mass(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(3,) m, centre of mass of all moving bodies in ``data``; MuJoCo's own also counts bodies fixed to the world."""
    moving = moving_bodies(model)
    centre: np.ndarray = model.body_mass[moving] @ data.xipos[moving] / model.body_mass[moving].sum()
    return centre


def silence_scene(model: mujoco.MjModel) -> list[str]:
    """Make everything fixed to the world intangible, in place. Returns the same parts as :func:`prepare`."""
    moving = set(np.flatnonzero(moving_bodies(model)).tolist())
    bearing = {int(model.body_parentid[b]) for b in moving}
    for body in range(model.nbody - 1, 0, -1):
        if body in bearing:
            bearing.add(int(model.body_parentid[body]))
    parts = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if body == 0 or (body not in moving and body not in bearing):
            kind, solid = int(model.geom_type[geom]), model.geom_contype[geom] or model.geom_conaffinity[geom]
            if solid and not (kind == int(mujoco.mjtGeom.mjGEOM_PLANE) and _is_level(model.geom_quat[geom])):
                parts.append(model.geom(geom).name or f"a {_shape(kind)}")
            model.geom_contype[geom] = model.geom_conaffinity[geom] = 0
            # A pair collides whatever its bits, and cannot be removed from a compiled model: its margin disables it.
            for pair in np.flatnonzero((model.pair_geom1 == geom) | (model.pair_geom2 == geom)):
                model.pair_margin[pair] = OUT_OF_REACH
                other = int(model.pair_geom1[pair] + model.pair_geom2[pair] - geom)
                if not (model.geom_contype[other] or model.geom_conaffinity[other]):
                    model.geom_contype[other] = MEETS_GROUND * int(int(model.geom_bodyid[other]) in moving)
    return parts


class Tie(NamedTuple):
    """An equality by which a hinge or slide follows another, or is held: gears, coupled hips, mimic joints.

    ``joint = offset + ratio * leader``, rad or m.
    """

    dof: int  # address in qvel of the joint
    leader: int  # address in qvel of the joint that it follows, -1 if it is held
    ratio: float  # its velocity over that of the leader; 0 if it is held
    offset: float  # rad or m


def ties_of(model: mujoco.MjModel) -> tuple[tuple[Tie, ...], tuple[str, ...]]:
    """The linear equalities of one or two joints of a model, by joints or by fixed tendons; and a sentence on each of
    its other equalities.
    """
    ties, others = [], []
    for i in np.flatnonzero(model.eq_active0):
        name, kind = model.equality(int(i)).name or f"equality {i}", int(model.eq_type[i])
        row = _row_of(model, int(i))
        if row is None:
            what = mujoco.mjtEq(kind).name.removeprefix("mjEQ_").lower()
            linear = what in ("joint", "tendon")
            others.append(f"'{name}' ({what}) is {'not linear in hinges and slides' if linear else 'no tie of joints'}")
            continue
        weights, value = row
        joints = [dof for dof, weight in weights.items() if weight]
        if len(joints) > 2:
            others.append(f"'{name}' ties {len(joints)} joints, and two are the most that can follow each other")
        elif joints:
            own, leader = weights[joints[0]], joints[1] if len(joints) > 1 else -1
            ties.append(Tie(joints[0], leader, -weights.get(leader, 0.0) / own, value / own))
    return tuple(ties), tuple(others)


def _row_of(model: mujoco.MjModel, equality: int) -> tuple[dict[int, float], float] | None:
    """Weights of hinges and slides by their address in qvel, the following joint first, and the value of the weighted
    sum; None of an equality that is not linear in them.
    """
    kind, data = int(model.eq_type[equality]), model.eq_data[equality]
    if kind not in (int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtEq.mjEQ_TENDON)) or data[2:5].any():
        return None
    weights, value = dict[int, float](), float(data[0])
    for place, factor in ((model.eq_obj1id[equality], 1.0), (model.eq_obj2id[equality], -float(data[1]))):
        if place < 0:
            continue
        parts = [(int(place), 1.0)] if kind == int(mujoco.mjtEq.mjEQ_JOINT) else _joints_of(model, int(place))
        if parts is None:
            return None
        for joint, share in parts:
            if model.jnt_type[joint] not in (HINGE, SLIDE):
                return None
            dof = int(model.jnt_dofadr[joint])
            weights[dof] = weights.get(dof, 0.0) + factor * share
            value += factor * share * float(model.qpos0[model.jnt_qposadr[joint]])
    return weights, value


def _joints_of(model: mujoco.MjModel, tendon: int) -> list[tuple[int, float]] | None:
    """The joints of a fixed tendon with their coefficients; None of a spatial tendon."""
    wraps = range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon])
    if any(model.wrap_type[wrap] != int(mujoco.mjtWrap.mjWRAP_JOINT) for wrap in wraps):
        return None
    return [(int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])) for wrap in wraps]


def written(spec: mujoco.MjSpec, name: str) -> str:
    """The spec as XML, or an error that names the robot."""
    try:
        return spec.to_xml()  # which also compiles, and so may refuse
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot build robot '{name}': {one_line(error)}") from error


def compiled(mjcf: str, assets: Mapping[str, bytes], name: str) -> mujoco.MjModel:
    """A model of that XML, which the caller may change, or an error that names the robot."""
    try:
        return copy.copy(_compiled_once(mjcf, tuple(assets.items())))
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot build robot '{name}': {one_line(error)}") from error


@lru_cache(maxsize=8)
def _compiled_once(mjcf: str, assets: tuple[tuple[str, bytes], ...]) -> mujoco.MjModel:
    """Cached: hulls of large meshes take up to a second."""
    return mujoco.MjSpec.from_string(mjcf, assets=dict(assets)).compile()


def model_bytes(model: mujoco.MjModel) -> bytes:
    """The model in MuJoCo's binary format (MJB)."""
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def model_name(model: mujoco.MjModel) -> str:
    """The model's name in its XML."""
    return model.names.split(b"\0", 1)[0].decode() or "robot"


def some(names: Sequence[str]) -> str:
    """At most a few of these names: a, b, c, d, ..."""
    return ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")


def one_line(error: Exception) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split())


#: m, depth below which an overlap is a rounding error.
DEEP = 1e-6
#: m, least depth of an overlap that a warning names in a model whose author could have excluded it: bodies that rest on
#: each other overlap by less.
TOLD = 1e-3


def overlapping(model: mujoco.MjModel, pose: np.ndarray, name: str) -> dict[tuple[str, str], float]:
    """Pairs of bodies that overlap in a pose (nq,), and the depth in m."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_fwdPosition(model, data)
    full = (mujoco.mjtWarning.mjWARN_CONTACTFULL, mujoco.mjtWarning.mjWARN_CNSTRFULL)
    if any(data.warning[int(kind)].number for kind in full):
        raise RobotError(
            f"bodies of robot '{name}' overlap in more places than MuJoCo has memory for ({data.ncon} fit): "
            "exclude them from colliding (<exclude>, contype), move them apart, or ask for more by <size memory=...>"
        )
    found: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        if contact.dist < -DEEP and 0 not in bodies and not _thrown(model, bodies):
            names = (model.body(bodies[0]).name, model.body(bodies[1]).name)
            found[names] = max(found.get(names, 0.0), -float(contact.dist))
    return found


#: rad, by which joints of a leg turn, about as far as in a walk; and most joints between neighbours: those of a hip.
TURN, NEIGHBOURS = 0.5, 3


def overlapping_in_legs(
    model: mujoco.MjModel, pose: np.ndarray, feet: Iterable[int], name: str
) -> dict[tuple[str, str], float]:
    """Pairs of neighbours in the legs of ``feet`` that overlap as one joint turns from a pose (nq,) within its limits,
    and the depth in m.

    A maker limits joints of legs so that neighbours do not meet; shapes that do are coarser than the bodies.
    """
    found: dict[tuple[str, str], float] = {}
    chains = [chain_of(model, foot) for foot in feet]
    for joint in np.flatnonzero(np.isin(model.jnt_bodyid, [*chain.from_iterable(chains)]) & (model.jnt_type == HINGE)):
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
        for way in (-TURN, TURN):
            turned, address = pose.copy(), model.jnt_qposadr[joint]
            turned[address] = min(max(pose[address] + way, low), high)
            for pair, depth in overlapping(model, turned, name).items():
                ids = {int(model.body(body).id) for body in pair}
                for leg in chains:
                    places = sorted(leg.index(body) for body in ids & {*leg})
                    if len(places) == 2 and model.body_jntnum[leg[slice(*places)]].sum() <= NEIGHBOURS:
                        found[pair] = max(found.get(pair, 0.0), depth)
    return found


def warn_of_overlaps(name: str, pairs: Mapping[tuple[str, str], float], *, excluded: bool) -> None:
    """Give one warning of all bodies that overlap: of every pair if they were ``excluded``, else of those deeper than
    ``TOLD``.
    """
    told = {pair: depth for pair, depth in pairs.items() if excluded or depth > TOLD}
    if told:
        many = f"{len(told)} pairs of bodies overlap" if len(told) > 1 else "two bodies overlap"
        then = (
            "or bends its legs, and no longer collide"
            if excluded
            else "and MuJoCo pushes them apart: is the pose right, are the meshes?"
        )
        warn(f"robot '{name}': {many} where it stands, {then}: {named_overlaps(told)}")


def named_overlaps(pairs: Mapping[tuple[str, str], float]) -> str:
    """Pairs of bodies and their depth in words, the deepest first."""
    return some([f"{a} and {b} by {1e3 * pairs[a, b]:.3g} mm" for a, b in sorted(pairs, key=lambda pair: -pairs[pair])])


def _thrown(model: mujoco.MjModel, bodies: list[int]) -> bool:
    """Whether two bodies belong to different moving roots, such as the robot and a loose object that it may touch."""
    roots = [int(model.body_rootid[body]) for body in bodies]
    return roots[0] != roots[1] and any(
        model.jnt_type[model.body_jntadr[root]] in (FREE, SLIDE) for root in roots if model.body_jntnum[root]
    )


CHOICES = ("as-is", "motor")


def check_choice(actuators: Any) -> None:
    """Raise ``RobotError`` unless ``actuators`` is one of the choices."""
    if actuators not in CHOICES:
        raise RobotError(f"actuators cannot be {actuators!r}: {did_you_mean(str(actuators), CHOICES)}")


def servos_to_motors(model: mujoco.MjSpec | mujoco.MjModel) -> None:
    """Replace position and velocity servos by motors: the control is a force, limited to the servo's force range.

    A servo without a force range has that of its joint; without either the motor is unlimited. Transmission and gear
    stay. Controls of keyframes, which were angles, become zero.
    """
    spec = None if isinstance(model, mujoco.MjModel) else model
    actuators = [model.actuator(i) for i in range(model.nu)] if spec is None else list(spec.actuators)
    servos = np.array([_is_servo(actuator) for actuator in actuators], dtype=bool)
    for actuator in compress(actuators, servos):
        limits = _range(actuator.forcelimited, actuator.forcerange)
        if limits is None and actuator.trntype == int(mujoco.mjtTrn.mjTRN_JOINT):
            if spec is not None:
                limits = _range(spec.joint(actuator.target).actfrclimited, spec.joint(actuator.target).actfrcrange)
            else:
                limits = _range(model.jnt_actfrclimited[actuator.trnid[0]], model.jnt_actfrcrange[actuator.trnid[0]])
            # A joint's range is that of the force after the gear.
            limits = None if limits is None else limits / abs(actuator.gear[0] or 1.0)
        if spec is not None:
            gear = np.array(actuator.gear)
            actuator.set_to_motor()
            actuator.gear = gear
            actuator.dyntype, actuator.actlimited = mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtLimited.mjLIMITED_FALSE
            actuator.inheritrange = 0.0
        elif actuator.actnum:
            raise RobotError(
                f"actuator '{actuator.name}' has a state, which a compiled MjModel cannot lose; "
                'load the robot from its XML or MjSpec to get actuators="motor"'
            )
        else:
            actuator.gaintype, actuator.biastype = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtBias.mjBIAS_NONE)
            actuator.gainprm, actuator.biasprm = np.eye(1, mujoco.mjNGAIN)[0], 0.0
        actuator.ctrllimited = int(limits is not None)
        actuator.ctrlrange = [0.0, 0.0] if limits is None else limits
    if spec is None:
        model.key_ctrl[:, servos] = 0.0
    for key in spec.keys if spec is not None and servos.any() else ():
        if len(key.ctrl) == len(servos):
            key.ctrl = np.where(servos, 0.0, key.ctrl)
        key.act = []


def _is_servo(actuator: Any) -> bool:
    """Whether the force of an actuator depends on the position or speed of what it drives."""
    feedback = actuator.biastype == int(mujoco.mjtBias.mjBIAS_AFFINE) and np.any(actuator.biasprm[1:3] != 0.0)
    return bool(feedback) or bool(actuator.gaintype == int(mujoco.mjtGain.mjGAIN_AFFINE))


def _range(limited: Any, values: Any) -> np.ndarray | None:
    """A range that is enabled, or None."""
    given = np.array(values, dtype=float)
    return given if limited != int(mujoco.mjtLimited.mjLIMITED_FALSE) and given[0] < given[1] else None


#: Elements that read other files or libraries, or replicate; MuJoCo resolves them when it writes XML.
RESOLVED = frozenset(("include", "model", "attach", "replicate", "composite", "flexcomp", "extension", "plugin"))
FOLDERS = ("meshdir", "texturedir", "assetdir")
#: Most entries of a height field or of one face of a texture (8192 x 8192: 200 MB of colours), and most elements of a
#: model with its replicas: MuJoCo compiles some 10,000 a second.
LARGEST_TABLE, LARGEST_COUNT = 2**26, 100_000
#: Attributes that reserve as many elements, or numbers in each of them.
COUNTS = re.compile("nkey|nuser_.*|dim|num|nsample")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}


def check_stored(mjcf: str, assets: Mapping[str, bytes]) -> None:
    """Raise a ``RobotError`` if stored XML reads files outside ``assets`` or asks for an absurd amount of memory."""
    if "<!DOCTYPE" in mjcf or "<!ENTITY" in mjcf:
        raise RobotError("its model has a document type, which Footfall does not write")
    try:
        root = ElementTree.fromstring(mjcf)
    except ElementTree.ParseError as error:
        raise RobotError(f"its model is not XML: {error}") from error
    for element in root.iter():
        if element.tag in RESOLVED:
            raise RobotError(
                f"its model has an element <{element.tag}>, which could read other files; Footfall does not write it"
            )
        for name, value in element.attrib.items():
            if name.startswith("file") and value not in assets:
                raise RobotError(f"its model reads the file '{value}', which is not inside the recording")
            if name in FOLDERS and value.strip("./"):
                raise RobotError(f"its model reads files in the folder '{value}', which is not inside the recording")
    check_sizes(root, "its model")


def check_sizes(root: ElementTree.Element, model: str) -> None:
    """Raise a ``RobotError`` if the XML of a ``model`` asks for more memory than the machine has."""
    found, left = 0.0, [(root, 1.0)]
    while left:  # no recursion: bodies may be nested deeper than Python's limit
        element, times = left.pop()
        tag = element.tag
        if tag in ("replicate", "composite", "flexcomp"):
            times *= math.prod(max(1.0, _number(count)) for count in element.get("count", "1").split())
        found += times
        if not found <= LARGEST_COUNT:
            raise RobotError(f"{model} has more than {LARGEST_COUNT} elements with its replicas and composites")
        left += [(child, times) for child in element]
        for name, value in element.attrib.items():
            most = LARGEST_COUNT if COUNTS.fullmatch(name) else machine_memory() if tag == "size" else math.inf
            if _number(value) > most:
                raise RobotError(f"{model} asks for a {name} of {value}")
        if tag == "hfield":
            check_table(model, tag, _number(element.get("nrow", "0")), _number(element.get("ncol", "0")))
        elif tag == "texture":
            width = element.get("width", "0")  # of each of six faces, unless it is flat
            height = element.get("height", "0") if element.get("type") == "2d" else width
            check_table(model, tag, _number(width), _number(height))
        elif tag == "mesh" and element.get("builtin"):
            finest = max(map(_number, element.get("params", "").split()), default=0.0)  # segments along one direction
            check_table(model, tag, finest, finest)


def check_table(model: str, kind: str, rows: float, columns: float) -> None:
    """Raise a ``RobotError`` if a height field, a texture or a picture of a model is absurdly large."""
    if not rows * columns <= LARGEST_TABLE:
        raise RobotError(f"{model} has a {kind} of {rows:g} x {columns:g} entries: more than {LARGEST_TABLE} in all")


def _number(text: str) -> float:
    """The number in an attribute, with MuJoCo's units of memory; 0 for other text, which MuJoCo reports."""
    text = text.strip()
    unit = UNITS.get(text[-1:].upper(), 1)
    try:
        value = float(text if unit == 1 else text[:-1]) * unit
    except ValueError:
        return 0.0
    return math.inf if math.isnan(value) else value
