"""Repairs of a URDF where MuJoCo would refuse it, or ignore what it says: inertias, limits, shapes, colours, roots."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from footfall.errors import RobotError

LEAST_MASS = 1e-3  # kg, of a link that moves and that the file gives none
LEAST_INERTIA = 1e-6  # kg m2, of a link that moves, about each axis
LEAST_GYRATION = 1e-3  # m: a link with mass is at least this wide about each axis
SHAPES = ("box", "cylinder", "capsule", "sphere", "mesh")  # of a URDF, that MuJoCo reads
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


def repaired(robot: ElementTree.Element, path: Path, *, inertias: bool) -> list[str]:
    """Repair the elements of a URDF, its ``inertias`` if asked for; gives what was done, in words."""
    _check_links(robot, path)
    twice = _drop_repeated_inertials(robot)
    _free_dummy_root(robot)
    notes = _mend_inertias(robot, path) if inertias else []
    if twice:
        notes.append(f"of several <inertial> in {listed(twice, 'link')} the first is taken")
    _mend_colours(robot)
    _drop_repeated_name(robot)
    return [*notes, *_mend_limits(robot), *_mend_shapes(robot, path)]


def _check_links(robot: ElementTree.Element, path: Path) -> None:
    """Refuse joints between links that the file does not have; the link "world" is there without being written."""
    links = {link.get("name", "") for link in robot.findall("link")}
    if "world" not in links and any(_link(joint, "parent") == "world" for joint in robot.findall("joint")):
        robot.insert(0, ElementTree.Element("link", name="world"))
        links.add("world")
    for joint in robot.findall("joint"):
        for end in ("parent", "child"):
            if (named := _link(joint, end)) not in links:
                lacks = f"link '{named}', which the file does not have" if named else "no link at all"
                raise RobotError(f"joint '{joint.get('name', '')}' of '{path}' has as its {end} {lacks}")


def _mend_limits(robot: ElementTree.Element) -> list[str]:
    """Leave out limits that are equal, as exporters write none, and put those in order that are not; gives both.

    MuJoCo would ignore both, the second without a word.
    """
    equal, swapped = [], []
    for joint in robot.findall("joint"):
        limit = joint.find("limit")
        if limit is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        lower, upper = limit.get("lower", "0"), limit.get("upper", "0")
        try:
            width = float(upper) - float(lower)
        except ValueError:
            continue  # MuJoCo says so
        if width == 0.0:
            equal += [joint.get("name", "")] if limit.attrib.keys() & {"lower", "upper"} else []
            limit.attrib.pop("lower", None)
            limit.attrib.pop("upper", None)
        elif width < 0.0:
            swapped.append(joint.get("name", ""))
            limit.attrib.update(lower=upper, upper=lower)
    notes = [f"no limits for {listed(equal, 'joint')} whose lower and upper ones are equal"] if equal else []
    return notes + ([f"limits of {listed(swapped, 'joint')} interchanged, upper with lower"] if swapped else [])


def _mend_colours(robot: ElementTree.Element) -> None:
    """Leave out colours that are not four numbers: they only show, and MuJoCo would refuse the robot for them."""
    for material in robot.iter("material"):
        for colour in material.findall("color"):
            colour.set("rgba", colour.get("rgba", "").replace(",", " "))
            if not re.fullmatch(r"\s*(?:[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*){4}", colour.get("rgba", "")):
                material.remove(colour)


def _mend_shapes(robot: ElementTree.Element, path: Path) -> list[str]:
    """Remove shapes of size zero, which mark places, and kinds that MuJoCo cannot show; gives what was, in words."""
    empty, unknown = [], []
    for link in robot.iter("link"):
        name = link.get("name", "")
        for shape in (*link.findall("visual"), *link.findall("collision")):
            kinds = shape.findall("geometry/*")
            for one in kinds:
                one.tag = one.tag.removeprefix("drake:")
            sizes = [one.get(key, "").split() for one in kinds for key in ("size", "radius", "length")]
            if any(_is_zero(number) for size in sizes for number in size):
                link.remove(shape)
                empty.append(name)
            elif kinds and kinds[0].tag not in SHAPES:
                if shape.tag == "collision":
                    known = f"known are {', '.join(SHAPES)}"
                    raise RobotError(f"a collision shape of link '{name}' in '{path}' is <{kinds[0].tag}>: {known}")
                link.remove(shape)
                unknown.append(kinds[0].tag)
    notes = [f"{listed(empty, 'link')} without shapes whose size is 0"] if empty else []
    return notes + ([f"visual shapes left out: {', '.join(dict.fromkeys(unknown))}"] if unknown else [])


def _drop_repeated_inertials(robot: ElementTree.Element) -> list[str]:
    """Keep the first <inertial> of every link, as ROS does; gives the links that have several."""
    found = []
    for link in robot.iter("link"):
        for further in link.findall("inertial")[1:]:
            link.remove(further)
            found.append(link.get("name", ""))
    return found


def _is_zero(number: str) -> bool:
    """Whether a text is the number 0; MuJoCo reports texts that are not numbers."""
    try:
        return float(number) == 0.0
    except ValueError:
        return False


def _mend_inertias(robot: ElementTree.Element, path: Path) -> list[str]:
    """Make every inertia physically possible; gives what was repaired, in words."""
    light, impossible = [], []
    mass_of = {}
    for link in robot.iter("link"):
        name, inertial = link.get("name", ""), link.find("inertial")
        mass, inertia = _inertial(link)
        if not np.isfinite([mass, *inertia.ravel()]).all() or mass < 0:
            raise RobotError(f"link '{name}' of '{path}' has a mass of {mass:g} kg: it must be a number >= 0")
        mass_of[name] = mass
        if inertial is not None and mass == 0 and not inertia.any():
            link.remove(inertial)  # a link that only marks a place
        elif inertial is not None:
            moments, axes = np.linalg.eigh(inertia)
            least = max(mass * LEAST_GYRATION**2, 1e-12)
            if moments[0] <= least * 1e-6 or mass == 0:
                impossible.append(name)
                moments = np.maximum(moments, least)
                _set_inertia(link, mass or LEAST_MASS, axes @ np.diag(moments) @ axes.T)
            elif moments[0] + moments[1] < moments[2] * (1 - 1e-6):
                impossible.append(name)  # and MuJoCo balances it
    if not any(mass_of.values()):
        raise RobotError(f"no link of '{path}' has a mass: a robot that moves needs <inertial> in its links")
    joints = [(j.get("type"), _link(j, "parent"), _link(j, "child")) for j in robot.findall("joint")]
    fixed: dict[str, list[str]] = {}
    for kind, parent, child in joints:
        if kind == "fixed":
            fixed.setdefault(parent, []).append(child)
    children = {child for _, _, child in joints}
    roots = [] if "world" in mass_of else [name for name in mass_of if name not in children]
    moving = [*roots, *(child for kind, _, child in joints if kind != "fixed")]
    for child in moving:
        if not any(mass_of.get(name, 0.0) for name in _rigid(child, fixed)):
            for link in robot.iter("link"):
                if link.get("name") == child:
                    light.append(child)
                    _set_inertia(link, LEAST_MASS, np.eye(3) * LEAST_INERTIA)
    notes = []
    if light:
        notes.append(f"{LEAST_MASS * 1e3:g} g given to {listed(light, 'link')} that moved without mass")
    if impossible:
        notes.append(f"mended {listed(impossible, 'inertia')} that no body can have")
    return notes


def _free_dummy_root(robot: ElementTree.Element) -> None:
    """Rename a massless root that only carries floating joints "world": MuJoCo allows floating bodies only there."""
    joints = robot.findall("joint")
    children = {_link(joint, "child") for joint in joints}
    for link in robot.findall("link"):
        name = link.get("name", "")
        outgoing = [joint for joint in joints if _link(joint, "parent") == name]
        floats = outgoing and all(joint.get("type") == "floating" for joint in outgoing)
        if name not in children and floats and not _inertial(link)[0]:
            link.set("name", "world")
            for joint in outgoing:
                joint.find("parent").set("link", "world")  # type: ignore[union-attr]


def _inertial(link: ElementTree.Element) -> tuple[float, np.ndarray]:
    """Mass and inertia matrix of a link, in the frame its <inertial> gives; zero where it has none."""
    mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
    try:
        xx, yy, zz, xy, xz, yz = (0.0 if inertia is None else float(inertia.get(key, "0")) for key in MOMENTS)
        kg = 0.0 if mass is None else float(mass.get("value", "0"))
    except ValueError as error:
        raise RobotError(f"<inertial> of link '{link.get('name')}': {error}") from error
    return kg, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _set_inertia(link: ElementTree.Element, mass: float, inertia: np.ndarray) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ElementTree.SubElement(link, "inertial")
    for tag in ("mass", "inertia"):
        for old in inertial.findall(tag):
            inertial.remove(old)
    ElementTree.SubElement(inertial, "mass", value=repr(float(mass)))
    ElementTree.SubElement(inertial, "inertia", {key: repr(float(inertia[at])) for key, at in MOMENTS.items()})


def _rigid(link: str, fixed: dict[str, list[str]]) -> list[str]:
    """A link and all links rigidly fixed below it."""
    found = [link]
    for one in found:
        found.extend(child for child in fixed.get(one, ()) if child not in found)
    return found


def _link(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def _drop_repeated_name(robot: ElementTree.Element) -> None:
    """Keep a shape's name only where it occurs first: MuJoCo refuses repeated names."""
    seen = set()
    for shape in (*robot.iter("visual"), *robot.iter("collision")):
        name = shape.get("name")
        if name is not None and name in seen:
            del shape.attrib["name"]
        seen.add(name)


def listed(names: Sequence[str], one: str, several: str | None = None) -> str:
    """A count with at most four names: 5 links (a, b, c, d, ...)."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(unique[:4]) + (", ..." if len(unique) > 4 else "")
    return f"{len(unique)} {one if len(unique) == 1 else several or one + 's'} ({shown})"
