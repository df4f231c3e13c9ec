"""Making a robot from a built-in name, an MJCF or URDF file, an ``MjSpec`` or an ``MjModel``; reading files of models,
with the meshes and textures they need.
"""

from __future__ import annotations

import copy
import os
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import mujoco
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.errors import RobotError, warn
from footfall.given_numbers import Positive
from footfall.robot.built_in import BUILT_IN, build, parameters_of, robots
from footfall.robot.facing import described
from footfall.robot.feet import find_feet, named_feet, points_on_feet
from footfall.robot.footing import warn_of_toppling
from footfall.robot.model import (
    check_choice,
    check_sizes,
    check_table,
    compiled,
    model_name,
    one_line,
    overlapping,
    overlapping_in_legs,
    prepare,
    servos_to_motors,
    silence_scene,
    some,
    warn_of_flexes,
    warn_of_overlaps,
    warn_of_scenery,
    written,
)
from footfall.robot.pose import posed, set_down, standing_pose, warn_of_dragged_root, warn_of_fixed_root
from footfall.robot.robot import Robot
from footfall.robot.urdf import add_asset, as_stl, find_mesh, is_readable, read_tree, read_urdf, root_name

ENDINGS = (".xml", ".mjcf", ".urdf")
UNNAMED = "MuJoCo Model"  # MuJoCo's name for a model without one
PNG = b"\x89PNG\r\n\x1a\n"  # how a PNG file begins; its width and height follow 8 bytes later
INCLUDE = re.compile(r"<include\s+file\s*=\s*[\"']([^\"']+)")


def is_path(source: str) -> bool:
    """Whether a text means a file, and not the name of a built-in robot."""
    if source in BUILT_IN:
        return False
    return Path(source).suffix.lower() in ENDINGS or "/" in source or os.sep in source


def is_urdf(path: Path) -> bool:
    """Whether a file is a URDF: by its ending, or by its root element, since some URDFs are called .xml."""
    if path.suffix.lower() == ".urdf":
        return True
    try:
        return root_name(path) == "robot"
    except OSError:
        return False


def read_model(path: Path, skip: bool = False) -> mujoco.MjSpec:
    """The spec of an MJCF or URDF file; ``skip`` leaves out missing meshes of a URDF."""
    if not path.is_file():
        raise RobotError(f"no file '{path}'; built-in robots are {', '.join(robots())}")
    if path.suffix.lower() == ".xacro":
        raise RobotError(f"'{path}' is a template: expand it first, as in xacro {path.name} > robot.urdf")
    if path.suffix.lower() not in ENDINGS:
        raise RobotError(f"'{path}' is not a model of a robot: its name must end in .xml or .mjcf (MJCF), or in .urdf")
    try:
        if is_urdf(path):
            return read_urdf(path, skip)
        if (root := root_name(path)) not in ("", "mujoco"):
            raise RobotError(f"'{path}' is not a model of a robot, at most a part of one: its root element is <{root}>")
        for file in (path, *_parts_of(path)):
            check_sizes(read_tree(file), f"'{file}'")
        return mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"MuJoCo cannot read '{path}': {one_line(error)}") from error


def _parts_of(path: Path) -> list[Path]:
    """The MJCF files that a model includes or attaches, and its own; none if MuJoCo cannot read it."""
    try:
        files = [Path(file) for file in mujoco.mju_getXMLDependencies(str(path))]
    except mujoco.FatalError:
        return []
    return [file for file in files if file.suffix.lower() in (".xml", ".mjcf") and file.is_file()]


def name_of(path: Path, spec: mujoco.MjSpec) -> str:
    """The name of a file's robot: the file's, unless that is "model", "robot" or "scene..."; then the model's."""
    if path.stem.lower() not in ("model", "robot") and not path.stem.lower().startswith("scene"):
        return path.stem
    model = re.sub(r"[\s_-]*scene$", "", spec.modelname, flags=re.IGNORECASE)
    if model and spec.modelname != UNNAMED:
        return model
    included = INCLUDE.search(path.read_text(errors="replace"))
    return Path(included[1]).stem if included else path.stem


def gather_assets(
    spec: mujoco.MjSpec, name: str, folder: Path, path: Path | None, skip: bool = False
) -> dict[str, bytes]:
    """Read all files that the spec needs into memory, and let the spec refer to them by plain names.

    Missing meshes, height fields and textures that are only drawn, such as those of the scene, are left out with one
    warning.
    """
    assets: dict[str, bytes] = {}
    # Attached models have folders of their own, which only MuJoCo knows.
    folders = {file.parent for file in _parts_of(path)} if path and not is_urdf(path) else set()
    missing = []
    files = [(one, one.file, one.compiler.meshdir) for one in (*spec.meshes, *spec.hfields, *spec.skins)]
    files += [(one, file, one.compiler.texturedir) for one in spec.textures for file in (one.file, *one.cubefiles)]
    for element, file, directory in files:
        if not file:
            continue
        content = _content(spec, element, file, directory, folder, sorted(folders))
        if content is not None and content.startswith(PNG):
            check_table(
                f"robot '{name}'", f"picture '{PurePosixPath(file).name}'", *struct.unpack_from(">II", content, 16)
            )
        if content is None:
            _leave_out(spec, element, file, f"robot '{name}'; looked in '{folder / directory}'", skip)
            missing.append(PurePosixPath(file).name)
            continue
        if not element.name:  # MuJoCo names an asset after its file
            element.name = PurePosixPath(file).stem
        kept = file
        if isinstance(element, mujoco.MjsMesh) and not is_readable(Path(file), content):
            where = f"mesh '{element.name}' of robot '{name}'"
            content, kept = as_stl(Path(file), content, where), f"{PurePosixPath(file).stem}.stl"
            element.content_type = ""
        stored = add_asset(assets, kept, content)
        if element.file == file:
            element.file = stored
        else:
            element.cubefiles = [stored if f == file else f for f in element.cubefiles]
    for element in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures):
        element.compiler.meshdir = element.compiler.texturedir = ""
    spec.compiler.meshdir = spec.compiler.texturedir = ""
    # The spec read from the XML later has no folder either, so that MuJoCo computes the hulls of meshes once for both.
    spec.modelfiledir = ""
    spec.assets = assets
    if missing:
        count = f"{len(missing)} file{'s' if len(missing) > 1 else ''}"
        warn(f"robot '{name}': {count} missing that only show in pictures: {some(missing)}")
    return assets


def _content(
    spec: mujoco.MjSpec, element: Any, file: str, directory: str, folder: Path, others: list[Path]
) -> bytes | None:
    """The bytes of a file that a spec carries or names, None where they cannot be found."""
    places = (file, f"{directory}/{file}".replace("//", "/"), PurePosixPath(file).name)
    content = next((spec.assets[place] for place in places if place in spec.assets), None)
    if content is None:
        found = find_mesh(file, folder / directory, others=[other / directory for other in others])
        return None if found is None else found.read_bytes()
    return content.encode() if isinstance(content, str) else bytes(content)


def _leave_out(spec: mujoco.MjSpec, element: Any, file: str, where: str, skip: bool) -> None:
    """Remove an asset whose file is missing, and the geoms that use it; an error if they collide or weigh, unless
    ``skip``.
    """
    name = element.name or PurePosixPath(file).stem
    lost = f"cannot find '{file}', the file of asset '{name}' of {where}"
    if isinstance(element, mujoco.MjsTexture):
        for material in spec.materials:
            material.textures = ["" if texture == name else texture for texture in material.textures]
    elif isinstance(element, mujoco.MjsMesh | mujoco.MjsHField):
        paired = {geom for pair in spec.pairs for geom in (pair.geomname1, pair.geomname2)}
        users = [geom for geom in spec.geoms if name in (geom.meshname, geom.hfieldname)]
        for geom in users:
            touches = geom.contype or geom.conaffinity or (geom.name and geom.name in paired)
            mover = geom.parent
            while mover is not None and not mover.joints:
                mover = mover.parent
            weighs = geom.mass != 0 and geom.density != 0 and not geom.parent.explicitinertial and mover is not None
            if (touches or weighs) and not skip:
                needs = f"geom '{geom.name}' of body '{geom.parent.name}' needs it"
                raise RobotError(f"{lost}; {needs}, or meshes='skip' does without")
            if touches or weighs:
                what = " and ".join(["collides"] * bool(touches) + ["weighs"] * bool(weighs))
                warn(f"{lost}: what it {what} on body '{geom.parent.name}' is lost")
            if isinstance(element, mujoco.MjsMesh):
                spec.delete(geom)
            else:  # terrain, which sensors may name
                geom.type, geom.hfieldname, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, "", [1.0, 1.0, 0.1]
    elif not isinstance(element, mujoco.MjsSkin):
        raise RobotError(lost)
    spec.delete(element)


#: Of ``load_robot``, for every model.
OPTIONS = ("feet", "points", "pose", "actuators", "forward", "meshes", "name", "mass_scale", "strength")


@public
def load_robot(
    source: Any,
    *,
    feet: str | Iterable[str] | Mapping[str, Any] | None = None,
    points: str | int | ArrayLike | Mapping[str, ArrayLike] = "vertices",
    pose: str | ArrayLike | Mapping[str, Any] | None = None,
    actuators: str = "as-is",
    forward: Any = None,
    meshes: Literal["needed", "skip"] = "needed",
    name: str | None = None,
    mass_scale: Positive = 1.0,
    strength: Positive = 1.0,
    **parameters: Any,
) -> Robot:
    """Load a robot.

    Args:
        source: a built-in name (see ``robots()``), with its ``parameters``; a path to an MJCF (.xml) or URDF
            (.urdf) file, whose meshes are looked for beside it and, for ``package://``, in the folders above
            it; an ``MjSpec``; or an ``MjModel``.
        feet: None finds them from the collision geometry in the standing pose. Otherwise ``{"left": body}``, ``{"left":
            (body, points)}`` with (P, 3) points in the body's frame in m, ``[body, ...]``, or ``{"left": {"body": body,
            "polygon": ring}}`` with the vertices of a flat convex sole in order. A geom's name may stand in place of a
            body's.
        points: where the soles can touch: "vertices" of the outline, an (nx, ny) grid, a number of points on
            the outline, or ``{foot: (P, 3)}`` (see ``footfall.robot.feet.choose_points``).
        pose: the pose to stand in: a keyframe's name, (nq,) numbers (m and rad), or {joint: value} on top of the
            default.
        actuators: "as-is", or "motor": position and velocity servos become torque motors of their force range.
        forward: which way it faces in that pose: "x", "-x", "y" or "-y" of the world, or a level vector; None finds it
            by the names of its legs, by its hips and toes, and else takes the x axis of its root.
        meshes: "needed", or "skip": missing meshes are left out with what they collide and weigh, with a warning.
        name: what to call it.
        mass_scale: factor on all masses and inertias.
        strength: factor on the torques of motors, and on gains and limits of servos.
        parameters: options of a built-in robot, SI units (see its file in ``footfall/robot/built_in``).

    Without ``pose`` it is the keyframe 'home' or 'stand', else the first one, else the model's zero pose. Joints
    outside their limits are moved in, with a warning, and the robot is moved vertically until the lowest contact point
    touches z = 0 (with a free joint or a vertical slide at the root). A robot whose centre of mass is beside its soles
    then, so that it falls, is warned of, with the pose near by in which it is over them.

    What is fixed to the world (a floor, stairs) belongs to the scene, not to the robot: it is drawn but no longer
    collides, and the ``Ground`` takes its place. Everything else of a model is kept: armature, damping, limits,
    actuators, equalities, keyframes. A URDF gets a free joint at its root, unless it has a link called "world" or a
    moving root, and a motor for each joint, limited by its effort. Inertias that no body can have and moving links
    without mass are repaired, and pairs of bodies that overlap in the standing pose, or neighbours in a leg as
    it bends, no longer collide, with a warning. Legs without collision geometry get their feet from visual geometry,
    with a warning.

    Example:
        >>> load_robot("spatial-biped", mass=50.0).mass
        50.0
    """
    if isinstance(source, str) and not is_path(source):
        if actuators != "as-is" and "actuators" in parameters_of(source):  # some robots have this option themselves
            parameters, actuators = parameters | {"actuators": actuators}, "as-is"
        spec, sole, resolved = build(source, parameters)
        given = _Given(name or source, spec, feet=sole, parameters=resolved)
    elif parameters:
        option = next(iter(parameters))
        raise RobotError(f"'{option}' is not an option of load_robot for a model of your own: {', '.join(OPTIONS)}")
    else:
        given = _of_user(source, name, meshes == "skip")
    robot = _robot(given, feet, points, pose, actuators, forward)
    return robot.scaled(mass=mass_scale, strength=strength)


class _Given(NamedTuple):
    """The source of a robot."""

    name: str | None
    model: mujoco.MjSpec | mujoco.MjModel
    path: Path | None = None  # the model's file
    folder: Path = Path()  # where its meshes are
    feet: Any = None  # of a built-in robot
    parameters: Mapping[str, Any] = MappingProxyType({})  # of a built-in robot
    skip: bool = False  # leave out missing meshes


def _of_user(source: Any, name: str | None, skip: bool) -> _Given:
    """The model of a file, a spec or an ``MjModel``."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        spec = read_model(path, skip)
        return _Given(name or name_of(path, spec), spec, path, path.parent, skip=skip)
    if isinstance(source, mujoco.MjSpec):
        return _Given(name, source.copy(), folder=Path(source.modelfiledir), skip=skip)
    if isinstance(source, mujoco.MjModel):
        return _Given(name, copy.copy(source))
    kind = type(source).__name__
    raise RobotError(f"cannot load a robot from a {kind}; give a built-in name, a path, an MjSpec or an MjModel")


def _robot(given: _Given, feet: Any, points: Any, pose: Any, actuators: str, forward: Any) -> Robot:
    """The robot made from a model as :func:`load_robot` says."""
    check_choice(actuators)
    name, model, mjcf, assets, touched = _compiled(given, motors=actuators == "motor")
    home, ctrl = standing_pose(model, pose, name)
    data = posed(model, home)
    feet = given.feet if feet is None else feet
    found = find_feet(model, data) if feet is None else named_feet(model, data, feet)
    overlaps = overlapping(model, home, name)
    excluded = given.path is not None and is_urdf(given.path) and isinstance(given.model, mujoco.MjSpec)
    if excluded:
        overlaps |= overlapping_in_legs(model, home, [model.body(foot.body).id for foot in found], name)
    warn_of_overlaps(name, overlaps, excluded=excluded)
    if excluded and overlaps:
        for first, second in overlaps:  # URDF users keep such pairs in other files, as MoveIt's SRDF
            given.model.add_exclude(bodyname1=first, bodyname2=second)
        mjcf = written(given.model, name)
        model = compiled(mjcf, assets, name)
        data = posed(model, home)
    if not (isinstance(points, str) and points == "vertices"):  # the points that feet have when found
        found = points_on_feet(found, points)
    home = set_down(model, home, found, data)
    warn_of_fixed_root(model, home, found, name)
    warn_of_flexes(model, name)
    warn_of_scenery(touched, name)
    warn_of_dragged_root(model, found, name)
    numbers = {k: v if isinstance(v, str | bool) else float(v) for k, v in given.parameters.items()}
    robot = Robot(
        name=name,
        model=model,
        feet=found,
        home=home,
        home_ctrl=ctrl,
        mjcf=mjcf,
        assets=assets,
        parameters=numbers,
        forward=forward,
    )
    if forward is None and robot.facing.doubt:
        way, (_, reason, doubt) = described(robot.forward), robot.facing
        warn(f"robot '{name}' faces {way} by {reason}, but {doubt}: forward= or --forward sets it")
    warn_of_toppling(robot)
    return robot


def _compiled(given: _Given, *, motors: bool) -> tuple[str, mujoco.MjModel, str | None, dict[str, bytes], list[str]]:
    """Name and model, with an intangible scene, and motors in place of servos if ``motors``; the XML and files of the
    model; and the parts of its scene that could be touched.
    """
    if isinstance(given.model, mujoco.MjModel):
        name = str(given.name or model_name(given.model))
        touched = silence_scene(given.model)
        if motors:
            servos_to_motors(given.model)
        return name, given.model, None, {}, touched
    spec = given.model
    name = str(given.name or spec.modelname)
    touched = prepare(spec, name)
    assets = gather_assets(spec, name, given.folder, given.path, given.skip)
    if motors:
        servos_to_motors(spec)
    mjcf = written(spec, name)
    # Compiled from the XML itself, so that the stored model is the simulated one.
    return name, compiled(mjcf, assets, name), mjcf, assets, touched


#: Everything that is accepted as a robot.
AnyRobot: TypeAlias = Robot | str | os.PathLike[str] | mujoco.MjModel | mujoco.MjSpec


def as_robot(given: Any) -> Robot:
    """The robot meant by an :data:`AnyRobot`: itself, the built-in one of that name, or the one loaded from a model."""
    if isinstance(given, Robot):
        return given
    if not isinstance(given, str | os.PathLike | mujoco.MjModel | mujoco.MjSpec):
        raise RobotError(
            f"a robot is a footfall.Robot, the name of one, a file, an MjModel or an MjSpec, not {given!r}"
        )
    return load_robot(given)
