"""Draw frames of a robot in a viser scene."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.measure.support import corners_of
from footfall.show.frames import COM_COLOR, COP_COLOR, MODE_COLORS, ZMP_COLOR, Frame
from footfall.show.geometry import SEGMENTS, Mesh, ground_mesh, used
from footfall.solve.contacts import OPEN

if TYPE_CHECKING:
    from footfall.ground import Ground

GROUND_COLORS, TILE = ((196, 203, 212), (176, 184, 194)), 0.5  # two greys, m
SUPPORT_COLOR = (61, 127, 176)
GHOST = 0.35  # opacity of what one can see through


@dataclass(frozen=True)
class Layers:
    """What is drawn besides the robot and its ground; whether one can see through the robot; length of forces."""

    forces: bool = True
    cones: bool = False
    cop: bool = True
    zmp: bool = True
    com: bool = True
    support: bool = True
    clear: bool = False
    force_gain: float = 1.0


class Painter:
    """One robot in a viser scene: what changes from frame to frame is its poses, arrows and markers only.

    ``place`` is its sideways place in m, ``ghost`` a colour that makes it translucent; ``size`` (m) is that
    of the robot, ``scale`` (m/N) the length of forces, ``friction`` the width of cones.
    """

    def __init__(
        self,
        scene: Any,
        name: str,
        meshes: dict[int, Mesh],
        *,
        feet: int,
        size: float,
        scale: float,
        friction: float,
        place: float = 0.0,
        ghost: tuple[int, int, int] | None = None,
        label: str | None = None,
    ) -> None:
        self.size, self.scale, self.friction = size, scale, friction
        self.layers = Layers()
        self.frame: Frame | None = None
        scene.add_frame(name, show_axes=False, position=(0.0, place, 0.0))
        self.bodies = [_Body(scene, f"{name}/body_{body}", mesh, ghost) for body, mesh in meshes.items()]
        self.label = scene.add_label(f"{name}/label", label) if label else None
        # viser takes an arrow of no length for an error, so a first one is drawn out of sight until there are forces.
        self.arrows = scene.add_arrows(
            f"{name}/forces",
            np.array([[[0, 0, 0], [0, 0, 0.1]]]),
            np.array([MODE_COLORS[1]], dtype=np.uint8),
            shaft_radius=0.0045 * size,
            head_radius=0.011 * size,
            head_length=0.03 * size,
            visible=False,
        )
        cone = _cone()
        self.cones = scene.add_batched_meshes_simple(
            f"{name}/cones",
            *cone,
            batched_wxyzs=np.array([[1.0, 0, 0, 0]]),
            batched_positions=np.zeros((1, 3)),
            batched_scales=np.ones((1, 3)),
            batched_colors=np.array([MODE_COLORS[1]], dtype=np.uint8),
            opacity=0.3,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            lod="off",
            visible=False,
        )

        def ball(what: str, radius: float, color: tuple[int, int, int]) -> Any:
            # The default is 3 subdivisions, 1280 triangles; half of that is round enough for a marker.
            return scene.add_icosphere(
                f"{name}/{what}", radius=radius * size, color=color, subdivisions=2, cast_shadow=False, visible=False
            )

        self.cops = [ball(f"cop_{f}", 0.009, COP_COLOR) for f in range(feet if feet > 1 else 0)]
        self.overall_cop = ball("cop", 0.015, COP_COLOR)
        self.zmp = scene.add_box(
            f"{name}/zmp", dimensions=(0.022 * size,) * 3, color=ZMP_COLOR, cast_shadow=False, visible=False
        )
        self.com, self.com_ground = ball("com", 0.02, COM_COLOR), ball("com_ground", 0.008, COM_COLOR)

        def lines(what: str, color: tuple[int, int, int]) -> Any:
            return scene.add_line_segments(
                f"{name}/{what}", np.zeros((1, 2, 3)), color, thickness=2.5, thickness_units="screen", visible=False
            )

        self.plumb, self.support = lines("plumb", COM_COLOR), lines("support", SUPPORT_COLOR)

    def draw(self, frame: Frame) -> None:
        """Show a frame."""
        self.frame = frame
        for body, position, quaternion in zip(self.bodies, frame.body_position, frame.body_quaternion, strict=True):
            body.move(position, quaternion)
        self._draw_forces(frame)
        on = self.layers
        for f, handle in enumerate(self.cops):
            _place(handle, frame.cop[f], on.cop)
        _place(self.overall_cop, frame.overall_cop, on.cop)
        _place(self.zmp, frame.zmp, on.zmp)
        _place(self.com, frame.com, on.com)
        _place(self.com_ground, frame.com_ground, on.com)
        _segments(self.plumb, np.stack([frame.com, frame.com_ground])[None], on.com)
        corners = corners_of(frame.point[frame.mode != OPEN]) + np.array([0.0, 0.0, 0.0015 * self.size])
        edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        _segments(self.support, edges, on.support)
        if self.label is not None:
            self.label.position = frame.com + np.array([0.0, 0.0, 0.6 * self.size])

    def _draw_forces(self, frame: Frame) -> None:
        on = self.layers
        arrow = frame.force * (self.scale * on.force_gain)
        shown = (frame.mode != OPEN) & (np.linalg.norm(arrow, axis=1) > 1e-6 * self.size)
        colors = np.array(MODE_COLORS, dtype=np.uint8)[frame.mode[shown]]
        self.arrows.visible = bool(on.forces and shown.any())
        if self.arrows.visible:
            base = frame.point[shown]
            self.arrows.points = np.stack([base, base + arrow[shown]], axis=1)
            self.arrows.colors = colors
        height = np.einsum("pi,pi->p", arrow, frame.normal)
        pressed = shown & (height > 0.0)
        self.cones.visible = bool(on.cones and pressed.any())
        if self.cones.visible:
            high = height[pressed, None]
            self.cones.batched_positions = frame.point[pressed]
            self.cones.batched_wxyzs = _turns(frame.normal[pressed])
            self.cones.batched_scales = high * [self.friction, self.friction, 1.0]
            self.cones.batched_colors = np.array(MODE_COLORS, dtype=np.uint8)[frame.mode[pressed]]

    def show(self, **changes: Any) -> None:
        """Change the layers, see :class:`Layers`, and draw again."""
        self.layers = replace(self.layers, **changes)
        if "clear" in changes:
            for body in self.bodies:
                body.clear(self.layers.clear)
        if self.frame is not None:
            self.draw(self.frame)


def add_ground(
    scene: Any, name: str, ground: Ground, extent: float, strip: tuple[float, float], place: float = 0.0
) -> None:
    """Draw the ground with tiles of half a metre, cut to a strip of y (m), moved sideways to ``place`` (m)."""
    import trimesh
    from PIL import Image

    vertices, faces = ground_mesh(ground, extent, strip)
    tiles = np.array(GROUND_COLORS, dtype=np.uint8)[np.indices((2, 2)).sum(axis=0) % 2]
    image = Image.fromarray(np.kron(tiles, np.ones((64, 64, 1), dtype=np.uint8)))
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=image, metallicFactor=0.0, roughnessFactor=1.0, doubleSided=True
    )
    corners = vertices[faces].reshape(-1, 3)  # every triangle with its own corners: stairs have edges
    visual = trimesh.visual.TextureVisuals(uv=corners[:, :2] / (2 * TILE), material=material)
    triangles = np.arange(len(corners)).reshape(-1, 3)
    mesh = trimesh.Trimesh(corners, triangles, visual=visual, process=False)
    scene.add_mesh_trimesh(name, mesh, position=(0.0, place, 0.0), cast_shadow=False)


class _Body:
    """One body in a viser scene: a mesh for each of its colours, moved as one."""

    def __init__(self, scene: Any, name: str, mesh: Mesh, ghost: tuple[int, int, int] | None) -> None:
        self.handle = scene.add_frame(name, show_axes=False)
        self.parts = []
        color_of = mesh.colors[mesh.faces[:, 0]]  # a triangle has one colour
        for i, color in enumerate(np.unique(color_of, axis=0)):
            vertices, faces = used(mesh.vertices, mesh.faces[(color_of == color).all(axis=1)])
            own = None if color[3] == 255 else float(color[3]) / 255
            part = scene.add_mesh_simple(
                f"{name}/{i}",
                vertices,
                faces,
                color=tuple(int(c) for c in color[:3]) if ghost is None else ghost,
                opacity=own if ghost is None else GHOST,
                cast_shadow=ghost is None,
            )
            self.parts.append((part, part.opacity))

    def move(self, position: np.ndarray, quaternion: np.ndarray) -> None:
        self.handle.position, self.handle.wxyz = position, quaternion

    def clear(self, on: bool) -> None:
        """Make it translucent, or as it was."""
        for part, own in self.parts:
            part.opacity = GHOST if on else own


def _place(handle: Any, position: np.ndarray, wanted: bool) -> None:
    handle.visible = bool(wanted and np.isfinite(position).all())
    if handle.visible:
        handle.position = position


def _segments(handle: Any, points: np.ndarray, wanted: bool) -> None:
    handle.visible = bool(wanted and len(points) and np.isfinite(points).all())
    if handle.visible:
        handle.points = points


def _cone() -> tuple[np.ndarray, np.ndarray]:
    """A cone with its tip at the origin, 1 m high along z, 1 m wide at the top in radius, open there."""
    angle = np.linspace(0.0, 2 * np.pi, SEGMENTS, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), np.ones(SEGMENTS)], axis=1)
    index = 1 + np.arange(SEGMENTS)
    return np.vstack([np.zeros(3), rim]), np.stack([np.zeros(SEGMENTS, dtype=int), np.roll(index, -1), index], axis=1)


def _turns(normal: np.ndarray) -> np.ndarray:
    """(N, 4) the shortest turns that bring z to unit vectors (N, 3), as quaternions w, x, y, z."""
    x, y, z = normal.T
    turn = np.stack([1.0 + z, -y, x, np.zeros_like(z)], axis=1)
    turn[z < -1.0 + 1e-12] = [0.0, 1.0, 0.0, 0.0]
    return turn / np.linalg.norm(turn, axis=1, keepdims=True)
