"""Triangles to draw: the geoms of a MuJoCo model as one mesh per body, and the ground."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

#: Corners of a full circle; enough that an outline looks round on a screen.
SEGMENTS = 24
#: MuJoCo shows the geoms of these groups unless set otherwise; the others are for collision.
SHOWN_GROUPS = (0, 1, 2)
#: The colour MuJoCo gives a geom that has none, and what is drawn in its place.
COLOURLESS, NEUTRAL = (0.5, 0.5, 0.5, 1.0), (0.62, 0.66, 0.71, 1.0)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with a normal and a colour at every vertex.

    Attributes:
        vertices: (V, 3) m.
        normals: (V, 3) unit vectors, outwards.
        faces: (F, 3) indices, counter-clockwise seen from outside.
        colors: (V, 4) red, green, blue, opacity, 0 to 255.
    """

    vertices: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    colors: np.ndarray


Shape = tuple[np.ndarray, np.ndarray, np.ndarray]  # vertices, normals, faces


def body_meshes(model: mujoco.MjModel) -> dict[int, Mesh]:
    """What is drawn of each body that has something to draw, in the body's frame, by its id.

    Planes and height fields are left out: they are endless or ground, and the ground is drawn by ``Ground.mesh``. Of a
    body with visual geoms those are drawn, and not the shapes it collides with.
    """
    dressed = {int(model.geom_bodyid[g]) for g in range(model.ngeom) if _visual(model, g)}
    shown = [
        g
        for g in range(model.ngeom)
        if model.geom_group[g] in SHOWN_GROUPS and (_visual(model, g) or int(model.geom_bodyid[g]) not in dressed)
    ]
    parts: dict[int, list[Mesh]] = {}
    for geom in shown or range(model.ngeom):
        color = _color(model, geom)
        shape = shape_of(model, geom)
        if shape is None or color[3] == 0:
            continue
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
        rotation = turn.reshape(3, 3)
        vertices, normals, faces = shape
        part = Mesh(
            vertices @ rotation.T + model.geom_pos[geom],
            normals @ rotation.T,
            faces,
            np.broadcast_to(color, (len(vertices), 4)),
        )
        parts.setdefault(int(model.geom_bodyid[geom]), []).append(part)
    return {body: merged(meshes) for body, meshes in sorted(parts.items())}


def _visual(model: mujoco.MjModel, geom: int) -> bool:
    """Whether a geom is only there to be seen: in group 1, where MuJoCo puts those of a URDF, or 2, as models do."""
    touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
    return not touches and model.geom_group[geom] in (1, 2)


def merged(meshes: Iterable[Mesh]) -> Mesh:
    """All triangles in one mesh."""
    meshes = list(meshes)
    first = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.faces + start for m, start in zip(meshes, first, strict=False)]),
        np.concatenate([m.colors for m in meshes]),
    )


def _color(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Red, green, blue, opacity: the geom's own where it has them, which MuJoCo puts before its material's."""
    material, rgba = int(model.geom_matid[geom]), model.geom_rgba[geom]
    if material >= 0 and np.allclose(rgba, COLOURLESS):
        rgba = model.mat_rgba[material]
    if np.allclose(rgba, COLOURLESS):
        rgba = np.array(NEUTRAL)
    return np.round(255 * np.clip(rgba, 0.0, 1.0)).astype(np.uint8)


def shape_of(model: mujoco.MjModel, geom: int) -> Shape | None:
    """The surface of a geom in its own frame, m; None of planes and height fields."""
    size = model.geom_size[geom]
    match mujoco.mjtGeom(model.geom_type[geom]):
        case mujoco.mjtGeom.mjGEOM_BOX:
            return box(size)
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            return capsule(size[0], 0.0)
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            return capsule(size[0], size[1])
        case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            return ellipsoid(size)
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            return cylinder(size[0], size[1])
        case mujoco.mjtGeom.mjGEOM_MESH | mujoco.mjtGeom.mjGEOM_SDF:
            return _model_mesh(model, int(model.geom_dataid[geom]))
    return None


# ---- shapes, centred on the origin, with their axis along z --------------------------------------------------


def box(half: np.ndarray) -> Shape:
    """A box of half sizes ``half`` (3,) m."""
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    vertices, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.zeros((4, 3))
            face[:, axis] = side
            # Seen from outside, the two other axes turn counter-clockwise on the positive side only.
            face[:, (axis + 1) % 3] = corner[:, 0]
            face[:, (axis + 2) % 3] = side * corner[:, 1]
            vertices.append(face * half)
            normals.append(np.repeat(side * np.eye(3)[axis][None], 4, axis=0))
    faces = np.concatenate([4 * i + np.array([[0, 1, 2], [0, 2, 3]]) for i in range(6)])
    return np.concatenate(vertices), np.concatenate(normals), faces


def capsule(radius: float, half: float) -> Shape:
    """A capsule of ``radius`` and half length ``half`` between the centres of its caps, m; a sphere if that is 0."""
    rings = SEGMENTS // 2
    polar = np.linspace(0.0, math.pi, rings + 1)
    shift = np.full(rings + 1, -half)
    shift[polar < math.pi / 2] = half
    if half > 0.0:  # the equator belongs to both caps
        middle = rings // 2
        polar, shift = np.insert(polar, middle, math.pi / 2), np.insert(shift, middle, half)
    normals = _turned(np.sin(polar), np.cos(polar))
    vertices = radius * normals + _turned(np.zeros_like(polar), shift)
    return vertices, normals, _bands(len(polar))


def ellipsoid(radii: np.ndarray) -> Shape:
    """An ellipsoid of the three ``radii``, m."""
    normals, _, faces = capsule(1.0, 0.0)
    outward = normals / radii
    return normals * radii, outward / np.linalg.norm(outward, axis=1, keepdims=True), faces


def cylinder(radius: float, half: float) -> Shape:
    """A cylinder of ``radius`` and half length ``half``, m."""
    # Each rim twice, once for the wall and once for its disc, and the middle of the discs.
    vertices = _turned(radius * np.array([0.0, 1, 1, 1, 1, 0]), half * np.array([1.0, 1, 1, -1, -1, -1]))
    normals = _turned(np.array([0.0, 0, 1, 1, 0, 0]), np.array([1.0, 1, 0, 0, -1, -1]))
    return vertices, normals, _bands(6)


def _turned(radius: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(rings * (SEGMENTS + 1), 3) a profile turned about z."""
    angle = np.linspace(0.0, 2 * math.pi, SEGMENTS + 1)
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    return (radius[:, None, None] * rim + z[:, None, None] * np.array([0, 0, 1.0])).reshape(-1, 3)


def _bands(rings: int) -> np.ndarray:
    """Triangles between neighbouring rings, the first ring on top."""
    start = (np.arange(rings - 1)[:, None] * (SEGMENTS + 1) + np.arange(SEGMENTS)).reshape(-1, 1, 1)
    below = SEGMENTS + 1
    return (start + np.array([[0, below, below + 1], [0, below + 1, 1]])).reshape(-1, 3)


def _model_mesh(model: mujoco.MjModel, mesh: int) -> Shape:
    """A mesh of the model, with one vertex for every pair of position and normal that its faces use."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    positions = model.mesh_vert[first : first + count]
    normals = model.mesh_normal[model.mesh_normaladr[mesh] :][: model.mesh_normalnum[mesh]]
    own = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    corners = np.stack([model.mesh_face[own].ravel(), model.mesh_facenormal[own].ravel()], axis=1)
    pairs, faces = np.unique(corners, axis=0, return_inverse=True)
    return (
        positions[pairs[:, 0]].astype(float),
        normals[pairs[:, 1]].astype(float),
        faces.reshape(-1, 3),
    )


# ---- fewer triangles -------------------------------------------------------------------------------------------


def simplified(mesh: Mesh, most: int) -> Mesh:
    """A mesh of about ``most`` triangles at the most: vertices that share a cell of a grid become one.

    Vertices whose normals look different ways stay apart, so that edges remain sharp.
    """
    if len(mesh.faces) <= most:
        return mesh
    low, size = mesh.vertices.min(axis=0), float(np.ptp(mesh.vertices, axis=0).max()) or 1.0
    looking = np.sign(np.round(mesh.normals)).astype(np.int64)
    for cells in 2 ** np.arange(12, 0, -1):
        grid = np.floor((mesh.vertices - low) / size * cells).astype(np.int64)
        _, first, member = np.unique(
            np.concatenate([grid, looking], axis=1), axis=0, return_index=True, return_inverse=True
        )
        faces = member.reshape(-1)[mesh.faces]
        a, b, c = faces.T
        faces = faces[(a != b) & (b != c) & (c != a)]
        if len(faces) <= most:
            return Mesh(mesh.vertices[first], mesh.normals[first], faces, mesh.colors[first])
    return mesh
