"""Data for drawing a recording: meshes of bodies, poses, forces and special points, at the rate of a screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.engine.replay import replay_places
from footfall.errors import RecordingError
from footfall.measure import cop, momentum, overall_cop, zmp
from footfall.measure.common import once
from footfall.record import COLUMNS, Record
from footfall.robot import Robot
from footfall.robot.rotations import matrix_of
from footfall.standing import at_home, scratch_data

# ---- triangles: the geoms of a MuJoCo model as one mesh per body, and the ground ------------------------------------


#: Corners of a full circle; enough that an outline looks round on a screen.
SEGMENTS = 24
#: MuJoCo shows the geoms of these groups unless set otherwise; the others are for collision.
SHOWN_GROUPS = (0, 1, 2)
#: The colour MuJoCo gives a geom that has none, and what is drawn in its place.
COLOURLESS, NEUTRAL = (0.5, 0.5, 0.5, 1.0), (0.62, 0.66, 0.71, 1.0)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with a normal and a colour at every vertex."""

    vertices: np.ndarray  # (V, 3) m
    normals: np.ndarray  # (V, 3) unit vectors, outwards
    faces: np.ndarray  # (F, 3) indices, counter-clockwise seen from outside
    colors: np.ndarray  # (V, 4) red, green, blue, opacity, 0 to 255


Shape = tuple[np.ndarray, np.ndarray, np.ndarray]  # vertices, normals, faces


def body_meshes(model: mujoco.MjModel) -> dict[int, Mesh]:
    """The mesh of each visible body, in the body's frame, by its id.

    Planes and height fields are left out: they are endless or ground, and the ground is drawn by ``Ground.mesh``. Of a
    body with visual geoms those are drawn, and not the shapes it collides with; of one that has neither these nor
    others in a group that is shown, all are: its meshes may be missing.
    """
    flat = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
    solid = [geom for geom in range(model.ngeom) if model.geom_type[geom] not in flat]
    dressed = {int(model.geom_bodyid[g]) for g in solid if _visual(model, g)}
    seen = {int(model.geom_bodyid[g]) for g in solid if model.geom_group[g] in SHOWN_GROUPS}
    parts: dict[int, list[Mesh]] = {}
    for geom in solid:
        body = int(model.geom_bodyid[geom])
        if body in seen and model.geom_group[geom] not in SHOWN_GROUPS:
            continue
        if body in dressed and not _visual(model, geom):
            continue
        color = _color(model, geom)
        shape = shape_of(model, geom)
        if shape is None or color[3] == 0:
            continue
        rotation = matrix_of(model.geom_quat[geom])
        vertices, normals, faces = shape
        part = Mesh(
            vertices @ rotation.T + model.geom_pos[geom],
            normals @ rotation.T,
            faces,
            np.broadcast_to(color, (len(vertices), 4)),
        )
        parts.setdefault(body, []).append(part)
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
    # A pair as one number: NumPy sorts those much faster than rows.
    corners = model.mesh_face[own].ravel() * np.int64(len(normals)) + model.mesh_facenormal[own].ravel()
    pairs, faces = np.unique(corners, return_inverse=True)
    position, normal = np.divmod(pairs, max(1, len(normals)))
    return positions[position].astype(float), normals[normal].astype(float), faces.reshape(-1, 3)


# ---- fewer triangles -------------------------------------------------------------------------------------------


def simplified(mesh: Mesh, most: int) -> Mesh:
    """A mesh of about ``most`` triangles at the most: vertices that share a cell of a grid become one.

    Vertices whose normals look different ways stay apart, so that edges remain sharp.
    """
    if len(mesh.faces) <= most:
        return mesh
    low, size = mesh.vertices.min(axis=0), float(np.ptp(mesh.vertices, axis=0).max()) or 1.0
    looking = (np.sign(np.round(mesh.normals)).astype(np.int64) + 1) @ 3 ** np.arange(3)
    for cells in 2 ** np.arange(12, 0, -1):
        grid = np.floor((mesh.vertices - low) / size * cells).astype(np.int64)
        key = (grid @ (cells + 1) ** np.arange(3)) * 27 + looking  # one number for cell and look
        _, first, member = np.unique(key, return_index=True, return_inverse=True)
        faces = member.reshape(-1)[mesh.faces]
        a, b, c = faces.T
        faces = _each_once(faces[(a != b) & (b != c) & (c != a)], len(first))
        if len(faces) <= most:
            return Mesh(mesh.vertices[first], mesh.normals[first], faces, mesh.colors[first])
    return mesh


def _each_once(faces: np.ndarray, vertices: int) -> np.ndarray:
    """The triangles without duplicates of the same orientation."""
    begin = faces.argmin(axis=1)[:, None]
    turned = np.take_along_axis(faces, (begin + np.arange(3)) % 3, axis=1)
    return faces[np.unique(turned @ vertices ** np.arange(3), return_index=True)[1]]


# ---- frames ---------------------------------------------------------------------------------------------------------

#: Pictures per second: what a screen shows.
RATE = 60.0
#: Colour-blind safe (Okabe and Ito), by mode: open grey, stick green, slide orange. Feet take blue and vermilion.
MODE_COLORS = ((140, 140, 140), (0, 158, 115), (230, 159, 0))
COP_COLOR, ZMP_COLOR, COM_COLOR, PUSH_COLOR = (204, 121, 167), (86, 180, 233), (59, 69, 84), (194, 24, 91)


class Frame(NamedTuple):
    """One moment of a robot with B drawn bodies and P contact points; world frame, m and N. NaN where undefined."""

    time: Any  # s
    body_position: np.ndarray  # (B, 3)
    body_quaternion: np.ndarray  # (B, 4) w, x, y, z
    point: np.ndarray  # (P, 3)
    force: np.ndarray  # (P, 3)
    mode: np.ndarray  # (P,)
    normal: np.ndarray  # (P, 3)
    cop: np.ndarray  # (feet, 3)
    overall_cop: np.ndarray  # (3,)
    zmp: np.ndarray  # (3,)
    com: np.ndarray  # (3,)
    com_ground: np.ndarray  # (3,) below the centre of mass
    push_point: np.ndarray  # (pushes, 3) centres of mass of the bodies that are pushed


class Sizes(NamedTuple):
    """How large a robot is in its home pose, m."""

    size: float  # the longest side of the box around it
    girth: float  # its longest horizontal side
    height: float  # its vertical side
    reach: float  # half the diagonal of its base


@dataclass(frozen=True, eq=False)
class Scene:
    """A recording made ready to be drawn: F frames."""

    recording: Record  # what it shows
    samples: np.ndarray  # (F,) which samples of the recording the frames are
    meshes: dict[int, Mesh]  # what is drawn of each body, by body id
    frames: Frame  # the arrays of :class:`Frame`, each with a leading axis F
    sizes: Sizes


def make_scene(recording: Record, *, rate: float = RATE, most: int | None = None) -> Scene:
    """Choose the samples to show, ``rate`` per second (at most ``most``), and compute what is drawn of them."""
    samples = display_samples(recording.time, rate, most)
    meshes = _meshes(recording.robot)
    return Scene(recording, samples, meshes, frames_at(recording, samples), robot_sizes(recording.robot, meshes))


def frames_at(recording: Record, samples: np.ndarray) -> Frame:
    """The frames of these samples (F,), each array with a leading axis F."""
    # Each sample is taken with its successor, so that measures have true accelerations without evaluating all samples.
    follower = np.minimum(samples + 1, len(recording) - 1)
    pairs = np.stack([samples, follower], axis=1).ravel()
    columns: dict[str, Any] = {name: getattr(recording, name)[pairs] for name in COLUMNS}
    shown = replace(recording, **columns, signals={})
    with np.errstate(invalid="ignore", divide="ignore"):  # the last sample has no successor
        com, zero_moment = momentum(shown).com[::2], zmp(shown)[::2]
    if len(samples) > 1:
        zero_moment[-1] = zero_moment[-2]
    bodies, data = list(_meshes(recording.robot)), scratch_data(recording.robot.model)
    position, quaternion = body_poses(recording.robot.model, recording.qpos[samples], bodies)
    (centres,) = replay_places(data, recording.qpos[samples], [data.xipos])
    pushed = [data.body(push.body).id for push in recording.pushes]
    return Frame(
        time=recording.time[samples],
        body_position=position,
        body_quaternion=quaternion,
        point=recording.position[samples],
        force=recording.force[samples],
        mode=recording.mode[samples],
        normal=np.array(shown.normal[::2]),
        cop=cop(shown)[::2],
        overall_cop=overall_cop(shown)[::2],
        zmp=zero_moment,
        com=com,
        com_ground=np.column_stack([com[:, :2], recording.ground.height(com[:, 0], com[:, 1])]),
        push_point=centres.reshape(len(samples), -1, 3)[:, pushed],
    )


@once
def _meshes(robot: Robot) -> dict[int, Mesh]:
    """What is drawn of each body, once for all recordings of a robot."""
    return body_meshes(robot.model)


def display_samples(time: np.ndarray, rate: float, most: int | None = None) -> np.ndarray:
    """Indices of samples about ``1 / rate`` s apart, the first and the last among them."""
    if len(time) == 0:
        raise RecordingError("the recording has no samples, so there is nothing to show")
    count = int(np.ceil((time[-1] - time[0]) * rate)) + 1
    count = min(count, len(time), most or len(time))
    wanted = np.linspace(time[0], time[-1], max(count, 1))
    after = np.clip(np.searchsorted(time, wanted), 1, max(1, len(time) - 1))
    if len(time) == 1:
        return np.zeros(1, dtype=int)
    nearest = np.where(wanted - time[after - 1] <= time[after] - wanted, after - 1, after)
    return np.unique(nearest)


def body_poses(model: mujoco.MjModel, qpos: np.ndarray, bodies: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (F, B, 3) m and quaternions (F, B, 4) of ``bodies`` in the poses ``qpos`` (F, nq)."""
    data = scratch_data(model)
    position, quaternion = replay_places(data, qpos, [data.xpos, data.xquat])
    return position.reshape(len(qpos), -1, 3)[:, bodies], quaternion.reshape(len(qpos), -1, 4)[:, bodies]


def force_scale(scenes: Sequence[Scene]) -> float:
    """Length of arrows, m/N, the same for all that is shown together: the robot's weight is as long as the robot is
    high.

    Less where hard impacts would leave the picture.
    """
    scales = []
    for scene in scenes:
        forces = np.linalg.norm(scene.frames.force, axis=-1).max(axis=1, initial=0.0)
        long = max(scene.recording.robot.weight, float(np.quantile(forces, 0.99)) / 1.2)
        scales.append(scene.sizes.size / (long or 1.0))
    return float(min(scales))


def robot_sizes(robot: Robot, meshes: Mapping[int, Mesh]) -> Sizes:
    """The sizes of a robot that is drawn so."""
    model, data = robot.model, at_home(robot)
    corners = [np.zeros((0, 3))]
    for body, mesh in meshes.items():
        if model.body_weldid[body] != 0:
            corners.append(mesh.vertices @ data.xmat[body].reshape(3, 3).T + data.xpos[body])
    spread = np.ptp(np.concatenate(corners), axis=0) if len(corners) > 1 else np.zeros(3)
    least = 0.05 * float(spread.max()) or 0.05  # a robot without geoms still has arrows and markers
    spread = np.maximum(spread, least)
    width, depth, height = map(float, spread)
    return Sizes(max(width, depth, height), max(width, depth), height, 0.5 * math.hypot(width, depth))


def extent(scenes: Sequence[Scene]) -> float:
    """Side of the square of ground around the origin that contains the motion, with a margin, m."""
    reach = max(float(np.nanmax(np.abs(s.frames.com[:, :2]), initial=0.0)) for s in scenes)
    return 2 * (reach + 4 * max(s.sizes.size for s in scenes))


def labelled(
    recordings: Record | Sequence[Record] | Mapping[str, Record], what: str, labels: Sequence[str] | None = None
) -> dict[str, Record]:
    """What is shown, by its label: what was given as a mapping, or else the law where laws differ."""
    if isinstance(recordings, Mapping):
        labels, recordings = list(recordings), list(recordings.values())
    runs = [recordings] if isinstance(recordings, Record) else list(recordings)
    if not runs:
        raise RecordingError(f"{what} needs at least one recording")
    if labels is None:
        laws = [rec.law.name for rec in runs]
        with_robots = [f"{rec.robot.name}, {rec.law.name}" for rec in runs]
        numbered = [f"{i + 1}: {law}" for i, law in enumerate(laws)]
        labels = next(names for names in (laws, with_robots, numbered) if len(set(names)) == len(names))
    if len(labels) != len(runs):
        raise RecordingError(f"{len(labels)} labels were given for {len(runs)} recordings")
    if len(set(labels)) < len(runs):
        raise RecordingError(f"labels must differ, got {', '.join(labels)}")
    return dict(zip(map(str, labels), runs, strict=True))
