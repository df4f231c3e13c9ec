"""A viser server with robots, their ground, and switches for what is drawn."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from typing import Any

import numpy as np

from footfall.errors import FootfallError
from footfall.show.frames import COM_COLOR, COP_COLOR, MODE_COLORS, ZMP_COLOR, Scene, extent, force_scale, lanes
from footfall.show.painter import Painter, add_ground

GHOSTS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
LAYERS = {
    "forces": "Forces",
    "cones": "Friction cones",
    "cop": "Centres of pressure",
    "zmp": "Zero moment point",
    "com": "Centre of mass",
    "support": "Support polygon",
    "clear": "See-through robot",
}


def start_server(host: str, port: int, title: str) -> Any:
    """A viser server, or a sentence that says why there is none."""
    try:
        import viser
    except ImportError as error:
        raise FootfallError('the 3D view needs viser: pip install "footfall[view]"') from error
    # viser would quietly take the next port, and the user look at somebody else's page.
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FootfallError(
                f"the view cannot be served at {host}:{port} ({reason}); choose another port, or 0 for any free one"
            ) from error
    with redirect_stdout(StringIO()):  # it prints a banner; the address is printed by us
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
    # Softer than the default, under which pale things are white.
    server.scene.configure_environment_map("city", environment_intensity=0.6)
    return server


def stop_server(server: Any) -> None:
    """Stop a viser server without its warning."""
    with redirect_stdout(StringIO()):
        server.stop()


def paint(server: Any, scenes: Sequence[Scene], names: Sequence[str], ghosts: bool) -> list[Painter]:
    """The robots and their grounds, and a camera that sees them all."""
    places, width = lanes(scenes)
    if ghosts:
        places = np.zeros(len(scenes))
    side = max(extent(scenes), 2 * width * len(scenes))
    scale, several = force_scale(scenes), len(scenes) > 1
    painters = []
    for i, (scene, name) in enumerate(zip(scenes, names, strict=True)):
        rec = scene.recording
        painters.append(
            Painter(
                server.scene,
                f"/run_{i}",
                scene.meshes,
                feet=len(rec.robot.feet),
                size=scene.size,
                scale=scale,
                friction=rec.ground.static_friction,
                place=float(places[i]),
                ghost=GHOSTS[i % len(GHOSTS)] if ghosts and several else None,
                label=name if several and not ghosts else None,
            )
        )
        if i and ghosts:
            continue
        left = -np.inf if ghosts or i == 0 else -width / 2
        right = np.inf if ghosts or i + 1 == len(scenes) else width / 2
        add_ground(server.scene, f"/ground_{i}", rec.ground, side, (left, right), float(places[i]))
    if ghosts and several:
        rows = "".join(_key(GHOSTS[i % len(GHOSTS)], name) for i, name in enumerate(names))
        server.gui.add_html(f'<div style="padding:0 1em;font-size:.85em">{rows}</div>')
    size = max(s.size for s in scenes)
    middle = np.mean([s.frames.com[0] for s in scenes], axis=0)
    wide = max(size, 0.0 if ghosts else 1.05 * width * len(scenes))
    camera = server.initial_camera
    from_where = np.array([1.5, -0.5 if several and not ghosts else -1.4, 0.0])
    camera.look_at = tuple(middle - np.array([0.0, 0.0, 0.1 * size]))
    camera.position = tuple(middle + wide * from_where + np.array([0.0, 0.0, 0.45 * size]))
    camera.up, camera.fov = (0.0, 0.0, 1.0), 0.7
    return painters


def add_layers(server: Any, painters: Sequence[Painter]) -> None:
    """Switches for what is drawn, the length of forces, and what the colours mean."""
    gui = server.gui

    def change(**what: Any) -> None:
        with server.atomic():
            for painter in painters:
                painter.show(**what)

    with gui.add_folder("Layers"):
        for layer, text in LAYERS.items():
            box = gui.add_checkbox(text, getattr(painters[0].layers, layer))
            box.on_update(lambda event, layer=layer: change(**{layer: bool(event.target.value)}))
        gain = gui.add_slider("Force scale", -3.0, 3.0, 0.25, 0.0, hint="powers of two")
        gain.on_update(lambda event: change(force_gain=2.0 ** float(event.target.value)))
    keys = [
        (MODE_COLORS[1], "force, point sticks"),
        (MODE_COLORS[2], "force, point slides"),
        (COP_COLOR, "centre of pressure (CoP)"),
        (ZMP_COLOR, "zero moment point (ZMP)"),
        (COM_COLOR, "centre of mass"),
    ]
    rows = "".join(_key(color, text) for color, text in keys)
    gui.add_html(f'<div style="padding:0 1em .8em;font-size:.85em">{rows}</div>')


def _key(color: tuple[int, int, int], text: str) -> str:
    swatch = f"display:inline-block;width:.8em;height:.8em;border-radius:2px;background:rgb{color};margin-right:.5em"
    return f'<div><span style="{swatch}"></span>{escape(text)}</div>'
