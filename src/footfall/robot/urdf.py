"""Reading URDF files into MuJoCo: repaired, with their meshes in memory, a free root and a motor for each joint."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path, PurePosixPath

import mujoco

from footfall.errors import RobotError, warn
from footfall.robot.mesh_files import MESH_FORMATS, add_asset, as_stl, find_mesh, is_readable, packages, with_thickness
from footfall.robot.model import HINGE, SLIDE
from footfall.robot.urdf_repairs import listed, repaired
from footfall.robot.urdf_text import read_tree


def read_urdf(path: Path) -> mujoco.MjSpec:
    """The spec of a URDF: with a free joint at its root, a motor per joint, and its meshes in memory."""
    robot = read_tree(path)
    if robot.tag != "robot":
        raise RobotError(f"'{path}' is not a URDF: its root element is <{robot.tag}>, not <robot>")
    values = (value for element in robot.iter() for value in element.attrib.values())
    if any("${" in value for value in values) or any(element.tag.startswith("xacro:") for element in robot.iter()):
        raise RobotError(f"'{path}' is a template: expand it first, as in xacro {path.name} > robot.urdf")
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    from_geoms = compiler.get("inertiafromgeom") == "true"
    notes = repaired(robot, path, inertias=not from_geoms)
    assets, left_out = _take_meshes(robot, path, compiler)
    # Links stay separate (a sole is often a link of its own), and meshes are found here.
    compiler.attrib.update(fusestatic="false", strippath="false", balanceinertia="true")
    compiler.attrib.setdefault("discardvisual", "false")
    if left_out:
        notes.append(f"{listed(left_out, 'visual mesh', 'visual meshes')} left out: missing, or of another format")
    if notes:
        warn(f"'{path.name}': {'; '.join(notes)}")

    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"), assets=assets)
    links = {link.get("name") for link in robot.iter("link")}
    for root in spec.worldbody.bodies:
        if "world" not in links and not root.joints:
            root.add_freejoint(name="base" if spec.joint("base") is None else "floating_base")
    if not from_geoms:
        for geom in spec.geoms:  # a URDF link without <inertial> has no mass; MuJoCo would fill it with water
            geom.density = 0
        for mesh in spec.meshes:  # whose volume nobody needs: a flat one has none
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    mimics = {j.get("name") for j in robot.iter("joint") if j.find("mimic") is not None}
    if not spec.actuators:
        for joint in spec.joints:
            if int(joint.type) in (HINGE, SLIDE) and joint.name not in mimics:
                motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                motor.set_to_motor()
                if joint.actfrcrange[1] > joint.actfrcrange[0]:
                    motor.ctrlrange, motor.ctrllimited = joint.actfrcrange, mujoco.mjtLimited.mjLIMITED_TRUE
    return spec


def _take_meshes(
    robot: ElementTree.Element, path: Path, compiler: ElementTree.Element
) -> tuple[dict[str, bytes], list[str]]:
    """Read all meshes into memory, rename them in the URDF accordingly, and leave out visual ones that fail."""
    meshdir = compiler.attrib.pop("meshdir", "")
    shapes = [
        (link, shape, shape.find("geometry/mesh"))
        for link in robot.iter("link")
        for tag in ("visual", "collision")
        for shape in link.findall(tag)
    ]
    # If only one package is named, it is that of the file itself, whatever its folder is called now.
    own_package = len(packages(mesh.get("filename", "") for _, _, mesh in shapes if mesh is not None)) == 1
    assets: dict[str, bytes] = {}
    left_out = []
    for link, shape, mesh in shapes:
        if mesh is None:
            continue
        file = mesh.get("filename", "")
        visual = shape.tag == "visual"
        found = find_mesh(file, path.parent / meshdir, own_package=own_package)
        if found is None and meshdir:  # written for MuJoCo, which strips the path off a URDF's files
            found = find_mesh(PurePosixPath(file).name, path.parent / meshdir)
        if visual and (found is None or found.suffix.lower() not in MESH_FORMATS):
            left_out.append(PurePosixPath(file).name)
            link.remove(shape)
            continue
        where = f"{shape.tag} mesh of link '{link.get('name')}' in '{path}'"
        if found is None:
            raise RobotError(f"cannot find '{file}', the {where}; looked in '{path.parent / meshdir}' and above it")
        content = found.read_bytes()
        if not is_readable(found, content):
            content, file = as_stl(found, content, where), f"{PurePosixPath(file).stem}.stl"
        if not visual and PurePosixPath(file).suffix.lower() == ".stl":
            content = with_thickness(content)
        mesh.set("filename", add_asset(assets, file, content))
    return assets, left_out
