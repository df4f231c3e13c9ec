"""Reading models from MJCF and URDF files, with the meshes and textures they need."""

from __future__ import annotations

import os
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import mujoco

from footfall.errors import FootfallWarning, RobotError
from footfall.robot.built_in import BUILT_IN, robots
from footfall.robot.model import HINGE, SLIDE, one_line

MESH_FORMATS = (".stl", ".obj", ".msh")


def is_path(source: str) -> bool:
    """Whether a text means a file, and not the name of a built-in robot."""
    if source in BUILT_IN:
        return False
    return Path(source).suffix.lower() in (".xml", ".mjcf", ".urdf") or "/" in source or os.sep in source


def read_model(path: Path) -> mujoco.MjSpec:
    """The spec of an MJCF or URDF file."""
    if not path.is_file():
        raise RobotError(f"no file '{path}'; built-in robots are {', '.join(robots())}")
    try:
        if path.suffix.lower() == ".urdf":
            return _read_urdf(path)
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise RobotError(f"MuJoCo cannot read '{path}': {one_line(error)}") from error


def _read_urdf(path: Path) -> mujoco.MjSpec:
    try:
        robot = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise RobotError(f"'{path}' is not well-formed XML: {error}") from error
    if robot.tag != "robot":
        raise RobotError(f"'{path}' is no URDF: its root element is <{robot.tag}>, not <robot>")
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    folder = path.parent / compiler.attrib.pop("meshdir", "")
    # Links stay apart (a sole is often a link of its own) and meshes are found by us.
    compiler.attrib.update(fusestatic="false", strippath="false")
    compiler.attrib.setdefault("discardvisual", "false")

    assets: dict[str, bytes] = {}
    for link in robot.iter("link"):
        for tag in ("visual", "collision"):
            for shape in link.findall(tag):
                mesh = shape.find("geometry/mesh")
                if mesh is None:
                    continue
                file = mesh.get("filename", "")
                if PurePosixPath(file).suffix.lower() in MESH_FORMATS:
                    where = f"{tag} mesh of link '{link.get('name')}' in '{path}'"
                    content = _find_mesh(file, folder, where).read_bytes()
                    mesh.set("filename", _add_asset(assets, file, content))
                elif tag == "visual":
                    formats = ", ".join(MESH_FORMATS)
                    message = f"visual mesh '{file}' of '{path}' is left out: MuJoCo reads {formats}"
                    warnings.warn(message, FootfallWarning, stacklevel=4)
                    link.remove(shape)
                else:
                    formats = ", ".join(MESH_FORMATS)
                    raise RobotError(f"collision mesh '{file}' of '{path}': MuJoCo reads {formats} only")
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"), assets=assets)

    links = {link.get("name") for link in robot.iter("link")}
    for root in spec.worldbody.bodies:
        if "world" not in links and not root.joints:
            root.add_freejoint(name="base" if spec.joint("base") is None else "floating_base")
    if compiler.get("inertiafromgeom") != "true":
        for geom in spec.geoms:  # a URDF link without <inertial> has no mass; MuJoCo would fill it with water
            geom.density = 0
    mimics = {j.get("name") for j in robot.iter("joint") if j.find("mimic") is not None}
    if not spec.actuators:
        for joint in spec.joints:
            if int(joint.type) in (HINGE, SLIDE) and joint.name not in mimics:
                motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                motor.set_to_motor()
                if joint.actfrcrange[1] > joint.actfrcrange[0]:
                    motor.ctrlrange, motor.ctrllimited = joint.actfrcrange, mujoco.mjtLimited.mjLIMITED_TRUE
    return spec


def _find_mesh(file: str, folder: Path, where: str, known: Sequence[str] = ()) -> Path:
    """The file meant: as written, one of ``known``, in a package of a folder above, or by its bare name."""
    scheme, _, plain = file.rpartition("://")
    parts = PurePosixPath(plain.replace("\\", "/")).parts
    candidates = [] if scheme == "package" else [folder / plain]
    candidates += [Path(k) for k in known if PurePosixPath(k).parts[-len(parts) :] == parts]
    if scheme in ("package", "model"):
        # package://name/meshes/foot.stl: the file lies in some folder "name", which may have been renamed.
        above = list((folder / "_").resolve().parents)[:6]
        candidates += [place.joinpath(*tail) for place in above for tail in (parts, parts[1:]) if tail]
    candidates.append(folder / PurePosixPath(plain).name)
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise RobotError(f"cannot find '{file}', the {where}; looked in '{folder}' and around it")


def _add_asset(assets: dict[str, bytes], file: str, content: bytes) -> str:
    """Store a file by its name, or a numbered one if another file has it already; return that name."""
    base = PurePosixPath(file.replace("\\", "/")).name
    name, count = base, 1
    while name in assets and assets[name] != content:
        count += 1
        name = f"{count}_{base}"
    assets[name] = content
    return name


def gather_assets(spec: mujoco.MjSpec, folder: Path, path: Path | None) -> dict[str, bytes]:
    """Take all files the spec needs into memory, and let the spec refer to them by plain names."""
    assets: dict[str, bytes] = {}
    # Models attached to the model have folders of their own, which only MuJoCo knows.
    known = mujoco.mju_getXMLDependencies(str(path)) if path and path.suffix != ".urdf" else []
    for element, file, directory in list(_asset_files(spec)):
        places = (file, f"{directory}/{file}".replace("//", "/"), PurePosixPath(file).name)
        content = next((spec.assets[place] for place in places if place in spec.assets), None)
        if content is None:
            where = f"file of asset '{element.name}' of robot '{spec.modelname}'"
            content = _find_mesh(file, folder / directory, where, known).read_bytes()
        content = content.encode() if isinstance(content, str) else bytes(content)
        if not element.name:  # MuJoCo names an asset after its file
            element.name = PurePosixPath(file).stem
        stored = _add_asset(assets, file, content)
        if element.file == file:
            element.file = stored
        else:
            element.cubefiles = [stored if f == file else f for f in element.cubefiles]
    for element in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures):
        element.compiler.meshdir = element.compiler.texturedir = ""
    spec.compiler.meshdir = spec.compiler.texturedir = ""
    spec.assets = assets
    return assets


def _asset_files(spec: mujoco.MjSpec) -> Iterator[tuple[Any, str, str]]:
    for element in (*spec.meshes, *spec.hfields, *spec.skins):
        if element.file:
            yield element, element.file, element.compiler.meshdir
    for texture in spec.textures:
        for file in (texture.file, *texture.cubefiles):
            if file:
                yield texture, file, texture.compiler.texturedir
