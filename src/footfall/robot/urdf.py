"""URDF files for MuJoCo: read leniently, repaired, with their meshes in memory, a free root and a motor for each joint.

The text is read as ROS and Drake read it. Repairs are made where MuJoCo would refuse a file, or ignore what it says:
inertias, limits, shapes, colours, roots. Meshes in formats that MuJoCo cannot read are converted.
"""

from __future__ import annotations

import io
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.parsers import expat

import mujoco
import numpy as np

from footfall.errors import RobotError, warn
from footfall.robot.model import HINGE, SLIDE, some
from footfall.robot.rotations import matrix_of

MESH_FORMATS = (".stl", ".obj", ".msh")  # what MuJoCo reads
CONVERTED = (".dae", ".stl", ".ply", ".glb", ".gltf", ".off")  # what trimesh turns into a binary STL
MOST_FACES = 200_000  # MuJoCo's limit for one STL
FLAT = 1e-5  # thickness below which a mesh is flat, as a share of its length
SLAB = 1e-3  # thickness that a flat mesh gets, as a share of its length
FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # of a binary STL
#: How Collada's axes become x to the right, z up and -y towards the reader, by the up axis of a file.
TO_Z = {
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
}
PACKAGE_REACH = 6  # folders above a file in which a package is looked for


def find_mesh(file: str, folder: Path, *, own_package: bool = False, others: Iterable[Path] = ()) -> Path | None:
    """The file that a mesh's name refers to, None if it is missing.

    A path is relative to ``folder``, or to one of ``others``. ``package://name/rest`` lies in a folder ``name`` beside
    or above ``folder``; with ``own_package``, the package may have been renamed, and ``rest`` lies in a folder above.
    """
    scheme, _, plain = file.rpartition("://")
    parts = PurePosixPath(plain.replace("\\", "/")).parts
    if scheme in ("package", "model"):
        parts = parts[1:] if parts[:1] == ("/",) else parts  # some files say package:///name
        above = list((folder / "_").resolve().parents)[:PACKAGE_REACH]
        tails = (parts, parts[1:]) if own_package else (parts,)
        candidates = [place.joinpath(*tail) for tail in tails for place in above if tail]
    else:
        candidates = [place / plain.replace("\\", "/") for place in (folder, *others)]
    return next((place for place in candidates if place.is_file()), None)


def packages(files: Iterable[str]) -> set[str]:
    """Names of the packages in the names of mesh files."""
    return {
        file.split("://", 1)[1].lstrip("/").split("/", 1)[0]
        for file in files
        if file.startswith(("package://", "model://"))
    }


def is_readable(path: Path, content: bytes) -> bool:
    """Whether MuJoCo reads a mesh file of this name and content; it reads no STL in ASCII."""
    suffix = path.suffix.lower()
    if suffix == ".stl":
        count = struct.unpack_from("<I", content, 80)[0] if len(content) >= 84 else 0
        return 0 < count <= MOST_FACES and len(content) >= 84 + 50 * count
    return suffix in MESH_FORMATS


def as_stl(path: Path, content: bytes, where: str, *, upright: bool = True) -> bytes:
    """A mesh file as a binary STL, in m; a mesh with more faces than MuJoCo takes becomes its convex hull.

    ``upright`` turns Collada files so that their up axis is z.
    """
    suffix = path.suffix.lower()
    if suffix not in CONVERTED:
        raise RobotError(f"cannot read '{path}', the {where}: known are {', '.join((*MESH_FORMATS, *CONVERTED))}")
    try:
        import trimesh

        if suffix == ".dae":
            import collada  # noqa: F401  trimesh reads .dae with it
    except ImportError as missing:
        raise RobotError(
            f"'{path}', the {where}, is read by trimesh and pycollada: pip install 'footfall[meshes]' ({missing})"
        ) from missing
    try:
        mesh = trimesh.load_mesh(io.BytesIO(content), file_type=suffix[1:])
        if isinstance(mesh, trimesh.Scene):
            mesh = mesh.to_mesh()
        if len(mesh.faces) > MOST_FACES:
            mesh = mesh.convex_hull
        if suffix == ".dae":
            unit, axis = collada_frame(content)
            mesh.apply_scale(unit)
            if upright and axis in TO_Z:
                mesh.vertices = mesh.vertices @ TO_Z[axis].T
    except Exception as error:  # trimesh's readers raise anything on a broken file
        raise RobotError(f"cannot read '{path}', the {where}: {type(error).__name__}: {error}") from error
    if not len(mesh.faces):
        raise RobotError(f"'{path}', the {where}, has no triangles")
    return bytes(mesh.export(file_type="stl"))


def with_thickness(stl: bytes) -> bytes:
    """A binary STL, turned into a thin slab if it is flat, since MuJoCo makes no hull of a flat mesh."""
    faces = _faces_of(stl)
    count, corners = len(faces), faces["corners"].reshape(-1, 3).astype(float)
    across, _, along = np.linalg.eigh(np.cov(corners.T))[1].T
    length = np.ptp(corners @ along)
    if np.ptp(corners @ across) > FLAT * length:
        return stl
    slab = np.concatenate([faces, faces])
    half = 0.5 * SLAB * length * across
    slab["corners"][:count] += half.astype(np.float32)
    slab["corners"][count:] -= half.astype(np.float32)
    return stl[:80] + struct.pack("<I", 2 * count) + slab.tobytes()


def collada_frame(content: bytes) -> tuple[float, str]:
    """Metres per unit of a .dae file, and its up axis: X_UP, Y_UP or Z_UP (the default here, and of damaged files)."""
    try:
        asset = ElementTree.fromstring(content).find("{*}asset")
    except ElementTree.ParseError:
        asset = None  # :func:`as_stl` reports the error
    unit = None if asset is None else asset.find("{*}unit")
    axis = None if asset is None else asset.findtext("{*}up_axis")
    return 1.0 if unit is None else float(unit.get("meter", "1")), (axis or "Z_UP").strip()


def _faces_of(stl: bytes) -> np.ndarray:
    """(F,) faces of a binary STL."""
    return np.frombuffer(stl, FACE, struct.unpack_from("<I", stl, 80)[0], 84)


def add_asset(assets: dict[str, bytes], file: str, content: bytes) -> str:
    """Store a file by its name, with a number in front if another file has that name; returns the name."""
    base = PurePosixPath(file.replace("\\", "/")).name
    name, count = base, 1
    while name in assets and assets[name] != content:
        count += 1
        name = f"{count}_{base}"
    assets[name] = content
    return name


COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
DECLARATION = re.compile(r"^\s*<\?xml\b.*?\?>", re.DOTALL)
ENCODING = re.compile(rb"^[^>]*\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
FIRST_ELEMENT = re.compile(r"<([A-Za-z_][^\s/>]*)")


def root_name(path: Path) -> str:
    """The name of the root element of an XML file, empty where it has none."""
    found = FIRST_ELEMENT.search(_text(path))
    return found[1] if found else ""


def read_tree(path: Path) -> ElementTree.Element:
    """The root element of a URDF, with prefixes of other tools (``drake:``) as part of the names.

    Comments and the XML declaration are not checked, and a prefix need not be declared, as in other readers.
    """
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(_text(path), True)
    except expat.ExpatError as error:
        raise RobotError(f"'{path}' is not well-formed XML: {error}") from error
    return builder.close()


def _text(path: Path) -> str:
    """The text of an XML file without comments and declaration; line numbers are kept."""
    content = path.read_bytes()
    named = ENCODING.match(content)
    for encoding in (named[1].decode() if named else "utf-8-sig", "utf-8-sig", "latin-1"):
        try:
            text = content.decode(encoding)
            break
        except (LookupError, UnicodeDecodeError):
            continue
    text = DECLARATION.sub("", text.removeprefix("\ufeff"))
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def read_urdf(path: Path, skip: bool = False) -> mujoco.MjSpec:
    """The spec of a URDF, with a free joint at its root, a motor per joint, and its meshes in memory; ``skip`` leaves
    out missing meshes.
    """
    robot = read_tree(path)
    if robot.tag != "robot":
        raise RobotError(f"'{path}' is not a URDF: its root element is <{robot.tag}>, not <robot>")
    values = (value for element in robot.iter() for value in element.attrib.values())
    if any("${" in value for value in values) or any(element.tag.startswith("xacro:") for element in robot.iter()):
        raise RobotError(f"'{path}' is a template: expand it first, as in xacro {path.name} > robot.urdf")
    compiler = _element(_element(robot, "mujoco"), "compiler")
    from_geoms = compiler.get("inertiafromgeom") == "true"
    notes = repaired(robot, path, inertias=not from_geoms)
    assets, told = _take_meshes(robot, path, compiler, skip)
    # Links stay separate (a sole is often a link of its own), and meshes are found here.
    compiler.attrib.update(fusestatic="false", strippath="false", balanceinertia="true")
    compiler.attrib.setdefault("discardvisual", "false")
    if notes + told:
        warn(f"'{path.name}': {'; '.join(notes + told)}")
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"), assets=assets)
    links = {link.get("name") for link in robot.iter("link")}
    for root in spec.worldbody.bodies:
        if "world" not in links and not root.joints:
            root.add_freejoint(name="base" if spec.joint("base") is None else "floating_base")
    if not from_geoms:
        for geom in spec.geoms:  # a URDF link without <inertial> has no mass; MuJoCo would fill it with water
            geom.density = 0
        for mesh in spec.meshes:  # needs no volume, which a flat mesh lacks
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    if not spec.actuators:
        _add_motors(spec, {j.get("name", "") for j in robot.iter("joint") if j.find("mimic") is not None})
    return spec


def _element(parent: ElementTree.Element, tag: str) -> ElementTree.Element:
    """The first element of that name in another, made where there is none."""
    found = parent.find(tag)
    return ElementTree.SubElement(parent, tag) if found is None else found


def _add_motors(spec: mujoco.MjSpec, followers: set[str]) -> None:
    """A motor for each joint that does not mimic another, limited by its effort."""
    for joint in spec.joints:
        if int(joint.type) in (HINGE, SLIDE) and joint.name not in followers:
            motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.set_to_motor()
            if joint.actfrcrange[1] > joint.actfrcrange[0]:
                motor.ctrlrange, motor.ctrllimited = joint.actfrcrange, mujoco.mjtLimited.mjLIMITED_TRUE


def _take_meshes(
    robot: ElementTree.Element, path: Path, compiler: ElementTree.Element, skip: bool
) -> tuple[dict[str, bytes], list[str]]:
    """Read all meshes into memory, rename them in the URDF accordingly, and leave out visual ones that are missing or
    of another format; returns the meshes, and notes for a warning.
    """
    meshdir = compiler.attrib.pop("meshdir", "")
    shapes = [
        (link, shape, mesh)
        for link in robot.iter("link")
        for tag in ("visual", "collision")
        for shape in link.findall(tag)
        if (mesh := shape.find("geometry/mesh")) is not None
    ]
    # If only one package is named, it is the file's own, even if its folder has been renamed.
    own_package = len(packages(mesh.get("filename", "") for _, _, mesh in shapes)) == 1
    left_out, lost = [], []
    taken: list[_Taken] = []
    for link, shape, mesh in shapes:
        file = mesh.get("filename", "")
        found = find_mesh(file, path.parent / meshdir, own_package=own_package)
        if found is None and meshdir:  # written for MuJoCo, which strips the path off a URDF's files
            found = find_mesh(PurePosixPath(file).name, path.parent / meshdir)
        where = f"{shape.tag} mesh of link '{link.get('name')}' in '{path}'"
        if shape.tag == "visual" and (found is None or found.suffix.lower() not in MESH_FORMATS):
            left_out.append(PurePosixPath(file).name)
            link.remove(shape)
            continue
        if found is None:
            if not skip:
                looked = f"looked in '{path.parent / meshdir}' and above it"
                raise RobotError(f"cannot find '{file}', the {where}; {looked}; meshes='skip' does without")
            lost.append(f"{PurePosixPath(file).name} of link '{link.get('name')}'")
            link.remove(shape)
            continue
        taken.append(_Taken(link, shape, mesh, found, found.read_bytes(), where))
    turned = [one for one in taken if one.file.suffix.lower() == ".dae" and collada_frame(one.content)[1] in TO_Z]
    upright = _is_upright(robot, turned)
    notes = []
    if left_out:
        notes.append(f"{listed(left_out, 'visual mesh', 'visual meshes')} left out: missing, or of another format")
    if turned:
        how = "turned so that their up axis is z" if upright else "left as they are, whatever their up axis"
        meshes = listed([one.file.name for one in turned], "Collada mesh", "Collada meshes")
        notes.append(f"{meshes} {how}: joints and centres of mass are {'' if upright else 'not '}nearer to them turned")
    assets: dict[str, bytes] = {}
    for one in taken:
        content, file = one.content, one.mesh.get("filename", "")
        if not is_readable(one.file, content):
            content = as_stl(one.file, content, one.where, upright=upright)
            file = f"{PurePosixPath(file).stem}.stl"
        if one.shape.tag != "visual" and PurePosixPath(file).suffix.lower() == ".stl":
            content = with_thickness(content)
        one.mesh.set("filename", add_asset(assets, file, content))
    if lost:
        notes.append(f"{listed(lost, 'collision mesh', 'collision meshes')} skipped: these links touch nothing")
    return assets, notes


class _Taken(NamedTuple):
    """A mesh that a shape of a link needs."""

    link: ElementTree.Element
    shape: ElementTree.Element
    mesh: ElementTree.Element
    file: Path
    content: bytes
    where: str  # in words


def _is_upright(robot: ElementTree.Element, meshes: list[_Taken]) -> bool:
    """Whether Collada meshes whose up axis is not z are to be turned, as the format says, or left, as in RViz.

    Authors rely on either. They are turned if that brings the joints and centres of mass of links nearer to the
    bounding boxes of their meshes; otherwise they are left, since exporters often write a wrong up axis of y.
    """
    beside = np.zeros(2)
    for one in meshes:
        stored = _faces_of(as_stl(one.file, one.content, one.where, upright=False))["corners"].reshape(-1, 3)
        axes = TO_Z[collada_frame(one.content)[1]]
        scale = _vector(one.mesh.get("scale", "1 1 1"))
        places = [place - _vector(_origin(one.shape, "xyz")) for place in _places_of(robot, one.link)]
        quat = np.zeros(4)
        mujoco.mju_euler2Quat(quat, _vector(_origin(one.shape, "rpy")), "XYZ")
        turn = matrix_of(quat)
        for i, corners in enumerate((stored.astype(float), stored.astype(float) @ axes.T)):
            low, high = np.sort([(corners * scale).min(axis=0), (corners * scale).max(axis=0)], axis=0)
            beside[i] += sum(np.linalg.norm(np.maximum(0.0, np.maximum(low - p, p - high))) for p in places @ turn)
    return bool(beside[1] < beside[0] - 1e-9)


def _places_of(robot: ElementTree.Element, link: ElementTree.Element) -> list[np.ndarray]:
    """Positions of the joints of a link and of its centre of mass, in its frame, m."""
    below = [joint for joint in robot.findall("joint") if _link(joint, "parent") == link.get("name")]
    inertial = [one for one in link.findall("inertial") if one.find("origin") is not None]
    return [np.zeros(3), *(_vector(_origin(one, "xyz")) for one in (*below, *inertial))]


def _origin(element: ElementTree.Element, key: str) -> str:
    origin = element.find("origin")
    return "0 0 0" if origin is None else origin.get(key, "0 0 0")


def _vector(text: str) -> np.ndarray:
    numbers = np.array([_number(one) for one in text.split()])
    return numbers if numbers.shape == (3,) and np.isfinite(numbers).all() else np.zeros(3)


def _number(text: str) -> float:
    """The number that a text is; NaN of other texts, which MuJoCo reports."""
    try:
        return float(text)
    except ValueError:
        return np.nan


LEAST_MASS = 1e-3  # kg, given to a moving link without mass
LEAST_INERTIA = 1e-6  # kg m2, about each axis, given to the same link
LEAST_GYRATION = 1e-3  # m, radius of gyration given to a link whose own is below ...
IMPOSSIBLE = 1e-5  # m, ... which no part of a robot has, about any axis ...
MUJOCOS_LEAST = 1e-14  # kg m2, ... or whose inertia is below MuJoCo's least
SHAPES = ("box", "cylinder", "capsule", "sphere", "mesh")  # those of a URDF that MuJoCo reads
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


#: Notes on repairs for a warning, each with the kind of element that is counted and named in it.
REPAIRS = {
    "limp": ("{} held that no motor moves, and that have no mass", "joint"),
    "light": (f"{LEAST_MASS * 1e3:g} g given to {{}} that moved without mass", "link"),
    "impossible": ("repaired {} that no body can have", "inertia"),
    "twice": ("of several <inertial> in {} the first is taken", "link"),
    "equal": ("no limits for {} whose lower and upper ones are equal", "joint"),
    "swapped": ("limits of {} interchanged, upper with lower", "joint"),
    "empty": ("{} without shapes whose size is 0", "link"),
}


def repaired(robot: ElementTree.Element, path: Path, *, inertias: bool) -> list[str]:
    """Repair the elements of a URDF, its inertias only if ``inertias``; returns notes for a warning."""
    done: dict[str, list[str]] = {kind: [] for kind in (*REPAIRS, "unknown")}
    _check_links(robot, path)
    _drop_repeated_inertials(robot, done)
    _free_dummy_root(robot)
    if inertias:
        _repair_inertias(robot, path, done)
    _repair_colours(robot)
    _drop_repeated_name(robot)
    _repair_limits(robot, done)
    _repair_shapes(robot, path, done)
    notes = [text.format(listed(done[kind], one)) for kind, (text, one) in REPAIRS.items() if done[kind]]
    unknown = ", ".join(dict.fromkeys(done["unknown"]))
    return [*notes, f"visual shapes left out: {unknown}"] if unknown else notes


def _check_links(robot: ElementTree.Element, path: Path) -> None:
    """Refuse joints between links that are not in the file; a parent link "world" is added if missing."""
    links = {link.get("name", "") for link in robot.findall("link")}
    if "world" not in links and any(_link(joint, "parent") == "world" for joint in robot.findall("joint")):
        robot.insert(0, ElementTree.Element("link", name="world"))
        links.add("world")
    for joint in robot.findall("joint"):
        for end in ("parent", "child"):
            if (named := _link(joint, end)) not in links:
                lacks = f"link '{named}', which the file does not have" if named else "no link at all"
                raise RobotError(f"joint '{joint.get('name', '')}' of '{path}' has as its {end} {lacks}")


def _repair_limits(robot: ElementTree.Element, done: dict[str, list[str]]) -> None:
    """Remove limits that are equal, by which exporters mean no limits, and swap limits in the wrong order.

    MuJoCo would ignore both, the second without a warning.
    """
    for joint in robot.findall("joint"):
        limit = joint.find("limit")
        if limit is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        lower, upper = limit.get("lower", "0"), limit.get("upper", "0")
        width = _number(upper) - _number(lower)
        if width == 0.0:
            done["equal"] += [joint.get("name", "")] if limit.attrib.keys() & {"lower", "upper"} else []
            limit.attrib.pop("lower", None)
            limit.attrib.pop("upper", None)
        elif width < 0.0:
            done["swapped"].append(joint.get("name", ""))
            limit.attrib.update(lower=upper, upper=lower)


def _repair_colours(robot: ElementTree.Element) -> None:
    """Remove colours that are not four numbers, for which MuJoCo would refuse the robot."""
    for material in robot.iter("material"):
        for colour in material.findall("color"):
            colour.set("rgba", colour.get("rgba", "").replace(",", " "))
            if not re.fullmatch(r"\s*(?:[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*){4}", colour.get("rgba", "")):
                material.remove(colour)


def _repair_shapes(robot: ElementTree.Element, path: Path, done: dict[str, list[str]]) -> None:
    """Remove shapes of size zero, which mark places, and visual shapes of kinds that MuJoCo does not have."""
    for link in robot.iter("link"):
        name = link.get("name", "")
        for shape in (*link.findall("visual"), *link.findall("collision")):
            kinds = shape.findall("geometry/*")
            for one in kinds:
                one.tag = one.tag.removeprefix("drake:")
            sizes = [one.get(key, "").split() for one in kinds for key in ("size", "radius", "length")]
            if any(_number(number) == 0.0 for size in sizes for number in size):
                link.remove(shape)
                done["empty"].append(name)
            elif kinds and kinds[0].tag not in SHAPES:
                if shape.tag == "collision":
                    known = f"known are {', '.join(SHAPES)}"
                    raise RobotError(f"a collision shape of link '{name}' in '{path}' is <{kinds[0].tag}>: {known}")
                link.remove(shape)
                done["unknown"].append(kinds[0].tag)


def _drop_repeated_inertials(robot: ElementTree.Element, done: dict[str, list[str]]) -> None:
    """Keep the first <inertial> of every link, as ROS does."""
    for link in robot.iter("link"):
        for further in link.findall("inertial")[1:]:
            link.remove(further)
            done["twice"].append(link.get("name", ""))


def _repair_inertias(robot: ElementTree.Element, path: Path, done: dict[str, list[str]]) -> None:
    """Make every inertia physically possible."""
    mass_of = {}
    for link in robot.iter("link"):
        name, inertial = link.get("name", ""), link.find("inertial")
        mass, inertia = _inertial(link)
        if not np.isfinite([mass, *inertia.ravel()]).all() or mass < 0:
            raise RobotError(f"link '{name}' of '{path}' has a mass of {mass:g} kg: it must be a number >= 0")
        mass_of[name] = mass
        if inertial is not None and mass == 0 and not inertia.any():
            link.remove(inertial)  # the link only marks a place
        elif inertial is not None:
            moments, axes = np.linalg.eigh(inertia)
            if moments[0] <= max(mass * IMPOSSIBLE**2, MUJOCOS_LEAST) or mass == 0:
                done["impossible"].append(name)
                moments = np.maximum(moments, max(mass * LEAST_GYRATION**2, 100.0 * MUJOCOS_LEAST))
                _set_inertia(link, mass or LEAST_MASS, axes @ np.diag(moments) @ axes.T)
            elif moments[0] + moments[1] < moments[2] * (1 - 1e-6):
                done["impossible"].append(name)  # the largest is wrong: MuJoCo would take the mean of all three
                moments[2] = moments[0] + moments[1]
                _set_inertia(link, mass, axes @ np.diag(moments) @ axes.T)
    if not any(mass_of.values()):
        raise RobotError(f"no link of '{path}' has a mass: a robot that moves needs <inertial> in its links")
    _hold_limp(robot, mass_of, done)
    for link in _massless(robot, mass_of):
        done["light"].append(link.get("name", ""))
        _set_inertia(link, LEAST_MASS, np.eye(3) * LEAST_INERTIA)


def _hold_limp(robot: ElementTree.Element, mass_of: dict[str, float], done: dict[str, list[str]]) -> None:
    """Hold joints without effort, as of many fingers, that only move what has no mass: with a mass made up for them no
    spring of a contact would be stable.
    """
    joints = [joint for joint in robot.findall("joint") if joint.get("type") in ("revolute", "continuous", "prismatic")]
    after = {_link(joint, "child"): _link(joint, "parent") for joint in robot.findall("joint")}
    efforts = [[limit.get("effort", "").strip() for limit in joint.findall("limit")[:1]] for joint in joints]
    driven = [_link(joint, "child") for joint, its in zip(joints, efforts, strict=True) if its not in (["0"], ["0.0"])]
    heavy = _carried_by([*driven, *(name for name, mass in mass_of.items() if mass)], after)
    limp = {joint.get("name"): joint for joint in joints if _link(joint, "child") not in heavy}
    leaders = [(joint.get("name"), mimic.get("joint")) for joint in joints for mimic in joint.findall("mimic")]
    for own, joint in limp.items():
        if all(follower in limp for follower, leader in leaders if leader == own):
            joint.set("type", "fixed")
            done["limp"].append(own or "")
            for tag in ("mimic", "limit"):
                for element in joint.findall(tag):
                    joint.remove(element)


def _massless(robot: ElementTree.Element, mass_of: dict[str, float]) -> list[ElementTree.Element]:
    """Moving links without mass, whose rigidly fixed links below have none either."""
    joints = [(j.get("type"), _link(j, "parent"), _link(j, "child")) for j in robot.findall("joint")]
    children = {child for _, _, child in joints}
    roots = [] if "world" in mass_of else [name for name in mass_of if name not in children]
    moving = [*roots, *(child for kind, _, child in joints if kind != "fixed")]
    fixed = {child: parent for kind, parent, child in joints if kind == "fixed"}
    heavy = _carried_by([name for name, mass in mass_of.items() if mass], fixed)
    return [link for name in moving if name not in heavy for link in robot.iter("link") if link.get("name") == name]


def _carried_by(links: Iterable[str], above: Mapping[str, str]) -> set[str]:
    """These links and all that they hang on, by the link above each."""
    found: set[str] = set()
    for link in links:
        while link and link not in found:
            found.add(link)
            link = above.get(link, "")
    return found


def _free_dummy_root(robot: ElementTree.Element) -> None:
    """Rename a massless root that only has floating joints to "world": MuJoCo allows floating bodies only there."""
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
    """Mass and inertia matrix of a link, in the frame of its <inertial>; zero without one."""
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
    return f"{len(unique)} {one if len(unique) == 1 else several or one + 's'} ({some(unique)})"
