"""From a spec to a compiled model without its scene, and the names and bytes of that model."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from footfall.errors import RobotError, warn

# As integers: a NumPy integer from the model is not found in a tuple of enums.
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE, HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
AT_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
#: Integrators that treat the damping of servos implicitly.
IMPLICIT = (int(mujoco.mjtIntegrator.mjINT_IMPLICIT), int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
#: Collision bit of geoms that collide with the ground by a <pair> only: no geom of a robot has it.
MEETS_GROUND = 1 << 30
NAMED = 4  # parts that a warning names
OUT_OF_REACH = -1e6  # m, margin of a pair that must never be found


def prepare(spec: mujoco.MjSpec, name: str) -> list[str]:
    """Name unnamed bodies, make the scene intangible, and save the XML as it was written, with all digits.

    A pair that names a geom outside the model, as in a robot made for a scene, is taken as a pair with the scene.
    Gives the parts of the scene that could be touched, without level floors.
    """
    for i, body in enumerate(spec.bodies):
        body.name = body.name or f"body{i}"
    scene = list(_scenery(spec.worldbody))
    scene_names = {geom.name for geom in scene if geom.name}
    solid = [geom for geom in scene if (geom.contype or geom.conaffinity) and not _is_floor(geom)]
    touched = [geom.name or f"a {_shape(geom.type)}" for geom in solid]
    for geom in scene:
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
    """Geoms of the world and of what is fixed to it with nothing moving on it."""
    yield from body.geoms
    for child in body.bodies:
        if not child.joints and not child.find_all("joint"):
            yield from _scenery(child)


def _shape(kind: int) -> str:
    return mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()


def _is_floor(geom: Any) -> bool:
    """Whether a geom of a spec is a level plane, as every ground begins."""
    plane = geom.type == mujoco.mjtGeom.mjGEOM_PLANE
    return plane and geom.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT and _is_level(geom.quat)


def _is_level(quat: np.ndarray) -> bool:
    return float(np.hypot(quat[1], quat[2])) < 1e-9


def warn_of_scenery(parts: Sequence[str], name: str) -> None:
    """Warn of stairs, walls and terrain that a model has for the robot to touch: the ground takes their place."""
    if parts:
        listed = ", ".join(parts[:NAMED]) + (", ..." if len(parts) > NAMED else "")
        warn(
            f"robot '{name}': nothing touches what its model has fixed in the world ({listed}); the ground takes its "
            "place: ground=ff.Ground.stairs(...), heightfield(...) or function(...)"
        )


def warn_of_flexes(model: mujoco.MjModel, name: str) -> None:
    """Warn of soft bodies: contact points are those of rigid ones."""
    solid = [i for i in range(model.nflex) if model.flex_contype[i] or model.flex_conaffinity[i]]
    if solid:
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, i) or f"flex {i}" for i in solid[:NAMED]]
        warn(f"robot '{name}': MuJoCo's flexes have no contact points and fall through the ground ({', '.join(names)})")


def moving_bodies(model: mujoco.MjModel) -> np.ndarray:
    """(nbody,) which bodies forces can move: not those fixed to the world or to a mocap body."""
    weld = model.body_weldid
    moving: np.ndarray = (weld != 0) & (model.body_mocapid[weld] < 0)
    return moving


def chain_of(model: mujoco.MjModel, body: int) -> list[int]:
    """A body and those it hangs on, upward, without the world."""
    chain = [body]
    while model.body_parentid[chain[-1]]:
        chain.append(int(model.body_parentid[chain[-1]]))
    return chain


def base_of(model: mujoco.MjModel, feet: Iterable[int]) -> int:
    """The last body that carries all these bodies; the root where there is one of them, or several robots."""
    chains = [chain_of(model, body) for body in dict.fromkeys(feet)]
    shared = [body for body in chains[0] if all(body in chain for chain in chains)]
    return shared[0] if shared and len(chains) > 1 else chains[0][-1]


def centre_of_mass(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(3,) m, centre of mass of all moving bodies in ``data``; MuJoCo's own also counts bodies fixed to the world."""
    moving = moving_bodies(model)
    centre: np.ndarray = model.body_mass[moving] @ data.xipos[moving] / model.body_mass[moving].sum()
    return centre


def silence_scene(model: mujoco.MjModel) -> list[str]:
    """Make everything that is fixed to the world intangible, in place. Gives the same parts."""
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
            # A pair collides whatever the bits say, and a compiled model cannot lose it: its margin keeps it from being
            # found.
            for pair in np.flatnonzero((model.pair_geom1 == geom) | (model.pair_geom2 == geom)):
                model.pair_margin[pair] = OUT_OF_REACH
                other = int(model.pair_geom1[pair] + model.pair_geom2[pair] - geom)
                if not (model.geom_contype[other] or model.geom_conaffinity[other]):
                    model.geom_contype[other] = MEETS_GROUND * int(int(model.geom_bodyid[other]) in moving)
    return parts


def written(spec: mujoco.MjSpec, name: str) -> str:
    """The spec as XML, or an error that names the robot."""
    try:
        return spec.to_xml()  # which also compiles, and so may refuse
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot build robot '{name}': {one_line(error)}") from error


def compiled(mjcf: str, assets: Mapping[str, bytes], name: str) -> mujoco.MjModel:
    """The model of that XML, the caller's own, or an error that names the robot."""
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
    """What the model is called in its XML."""
    return model.names.split(b"\0", 1)[0].decode() or "robot"


def one_line(error: Exception) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split())
