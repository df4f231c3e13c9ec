"""Reading models from MJCF and URDF files, with the meshes and textures they need."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import mujoco

from footfall.errors import RobotError, warn
from footfall.robot.built_in import BUILT_IN, robots
from footfall.robot.mesh_files import add_asset, as_stl, find_mesh, is_readable
from footfall.robot.model import check_sizes, check_table, one_line, some
from footfall.robot.urdf import read_tree, read_urdf, root_name

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
    """Whether a file is a URDF: by its name, or, as some are called .xml, by its root element."""
    if path.suffix.lower() == ".urdf":
        return True
    try:
        return root_name(path) == "robot"
    except OSError:
        return False


def read_model(path: Path) -> mujoco.MjSpec:
    """The spec of an MJCF or URDF file."""
    if not path.is_file():
        raise RobotError(f"no file '{path}'; built-in robots are {', '.join(robots())}")
    if path.suffix.lower() == ".xacro":
        raise RobotError(f"'{path}' is a template: expand it first, as in xacro {path.name} > robot.urdf")
    if path.suffix.lower() not in ENDINGS:
        raise RobotError(f"'{path}' is not a model of a robot: its name must end in .xml or .mjcf (MJCF), or in .urdf")
    try:
        if is_urdf(path):
            return read_urdf(path)
        if (root := root_name(path)) not in ("", "mujoco"):
            raise RobotError(f"'{path}' is not a model of a robot, at most a part of one: its root element is <{root}>")
        for file in (path, *_parts_of(path)):
            _check_sizes(file)
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot read '{path}': {one_line(error)}") from error


def _parts_of(path: Path) -> list[Path]:
    """The MJCF files of a model, with those that it includes or attaches; none of one that MuJoCo cannot read."""
    try:
        files = [Path(file) for file in mujoco.mju_getXMLDependencies(str(path))]
    except mujoco.FatalError:
        return []
    return [file for file in files if file.suffix.lower() in (".xml", ".mjcf") and file.is_file()]


def _check_sizes(path: Path) -> None:
    """Refuse an MJCF file that asks for more than a machine has; one that is not well-formed is left to MuJoCo."""
    try:
        root = read_tree(path)
    except RobotError:
        return
    check_sizes(root, f"'{path}'")


def name_of(path: Path, spec: mujoco.MjSpec) -> str:
    """The name of a file's robot: the file's, or the model's if the file is called "model" or "robot" or is a scene."""
    if path.stem.lower() not in ("model", "robot") and not path.stem.lower().startswith("scene"):
        return path.stem
    model = re.sub(r"[\s_-]*scene$", "", spec.modelname, flags=re.IGNORECASE)
    if model and spec.modelname != UNNAMED:
        return model
    included = INCLUDE.search(path.read_text(errors="replace"))
    return Path(included[1]).stem if included else path.stem


def gather_assets(spec: mujoco.MjSpec, name: str, folder: Path, path: Path | None) -> dict[str, bytes]:
    """Read all files that the spec needs into memory, and let the spec refer to them by plain names.

    Missing meshes, height fields and textures that are only drawn, as everything in a scene is, are left out, with one
    warning for all of them.
    """
    assets: dict[str, bytes] = {}
    # Attached models have folders of their own, which only MuJoCo knows.
    folders = {file.parent for file in _parts_of(path)} if path and not is_urdf(path) else set()
    missing = []
    for element, file, directory in list(_asset_files(spec)):
        content = _content(spec, element, file, directory, folder, sorted(folders))
        if content is not None and content.startswith(PNG):
            check_table(
                f"robot '{name}'", f"picture '{PurePosixPath(file).name}'", *struct.unpack_from(">II", content, 16)
            )
        if content is None:
            _leave_out(spec, element, file, f"robot '{name}'; looked in '{folder / directory}'")
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
    # No folder, as for the spec that is read from its XML later: so MuJoCo computes the hulls of meshes once for both.
    spec.modelfiledir = ""
    spec.assets = assets
    if missing:
        count = f"{len(missing)} file{'s' if len(missing) > 1 else ''}"
        message = f"robot '{name}': {count} missing that only show in pictures: {some(missing)}"
        warn(message)
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


def _leave_out(spec: mujoco.MjSpec, element: Any, file: str, where: str) -> None:
    """Remove an asset whose file is missing, and the geoms that use it, if it is needed only for drawing."""
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
            weighs = geom.mass != 0 and geom.density != 0 and not geom.parent.explicitinertial
            weighs = weighs and _moves(geom.parent)
            if touches or weighs:
                raise RobotError(f"{lost}; geom '{geom.name}' of body '{geom.parent.name}' needs it")
        for geom in users:
            if isinstance(element, mujoco.MjsMesh):
                spec.delete(geom)
            else:  # terrain, which sensors may name
                geom.type, geom.hfieldname, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, "", [1.0, 1.0, 0.1]
    elif not isinstance(element, mujoco.MjsSkin):
        raise RobotError(lost)
    spec.delete(element)


def _moves(body: Any) -> bool:
    """Whether a joint lies between a body and the world."""
    while body is not None and not body.joints:
        body = body.parent
    return body is not None


def _asset_files(spec: mujoco.MjSpec) -> Iterator[tuple[Any, str, str]]:
    for element in (*spec.meshes, *spec.hfields, *spec.skins):
        if element.file:
            yield element, element.file, element.compiler.meshdir
    for texture in spec.textures:
        for file in (texture.file, *texture.cubefiles):
            if file:
                yield texture, file, texture.compiler.texturedir
