"""Mesh files that a model names: found, and converted where MuJoCo cannot read their format."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from footfall.errors import RobotError

MESH_FORMATS = (".stl", ".obj", ".msh")  # what MuJoCo reads
CONVERTED = (".dae", ".stl", ".ply", ".glb", ".gltf", ".off")  # what trimesh turns into a binary STL
MOST_FACES = 200_000  # that MuJoCo takes of one STL
FLAT = 1e-5  # share of a mesh's length: corners that lie in a layer this thin lie in a plane
SLAB = 1e-3  # thickness that a flat mesh gets, as a share of its length
FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # of a binary STL
#: How Collada's axes become x to the right, z up and -y towards the reader, by the up axis of a file.
TO_Z = {
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
}
PACKAGE_REACH = 6  # folders above a file in which a package is looked for


def find_mesh(file: str, folder: Path, *, own_package: bool = False, others: Iterable[Path] = ()) -> Path | None:
    """The file that is meant, None where it is missing. Another file of the same name is never used instead.

    A path is relative to ``folder``, or to one of ``others``. ``package://name/rest`` lies in a folder ``name`` beside
    or above ``folder``; with ``own_package``, the package may have been renamed, and ``rest`` lies in a folder above.
    """
    scheme, _, plain = file.rpartition("://")
    parts = PurePosixPath(plain.replace("\\", "/")).parts
    if scheme in ("package", "model"):
        parts = parts[1:] if parts[:1] == ("/",) else parts  # package:///name, as some have it
        above = list((folder / "_").resolve().parents)[:PACKAGE_REACH]
        tails = (parts, parts[1:]) if own_package else (parts,)
        candidates = [place.joinpath(*tail) for tail in tails for place in above if tail]
    else:
        candidates = [place / plain.replace("\\", "/") for place in (folder, *others)]
    return next((place for place in candidates if place.is_file()), None)


def packages(files: Iterable[str]) -> set[str]:
    """Names of the packages that mesh files are said to lie in."""
    return {
        file.split("://", 1)[1].lstrip("/").split("/", 1)[0]
        for file in files
        if file.startswith(("package://", "model://"))
    }


def is_readable(path: Path, content: bytes) -> bool:
    """Whether MuJoCo reads a mesh file of this name and content: it reads only binary STL."""
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
    """A binary STL whose corners lie in a plane as a thin slab, others as they are: MuJoCo makes no hull of a plane."""
    corners = corners_of(stl)
    count = len(corners) // 3
    faces = np.frombuffer(stl, FACE, count, 84)
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
    """Metres per unit of a .dae file, and its up axis: X_UP, Y_UP or Z_UP, which it is if the file gives none."""
    import xml.etree.ElementTree as ElementTree

    asset = ElementTree.fromstring(content).find("{*}asset")
    unit = None if asset is None else asset.find("{*}unit")
    axis = None if asset is None else asset.findtext("{*}up_axis")
    return 1.0 if unit is None else float(unit.get("meter", "1")), (axis or "Z_UP").strip()


def corners_of(stl: bytes) -> np.ndarray:
    """(N, 3) corners of the triangles of a binary STL."""
    count = struct.unpack_from("<I", stl, 80)[0]
    return np.frombuffer(stl, FACE, count, 84)["corners"].reshape(-1, 3).astype(float)


def add_asset(assets: dict[str, bytes], file: str, content: bytes) -> str:
    """Store a file by its name, or a numbered one if another file has it already; return that name."""
    base = PurePosixPath(file.replace("\\", "/")).name
    name, count = base, 1
    while name in assets and assets[name] != content:
        count += 1
        name = f"{count}_{base}"
    assets[name] = content
    return name
