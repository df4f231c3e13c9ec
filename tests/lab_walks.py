"""A made-up walker, written down as laboratories do: markers in a .trc file, forces of plates in a .mot file."""

from __future__ import annotations

import numpy as np

from footfall.gait import measured_walk
from footfall.gait.human.body import evaluate

MARKER_RATE, PLATE_RATE, DURATION = 100.0, 500.0, 3.2
MASS, WIDTH = 60.0, 0.12  # kg, and m between the feet
PLUG_IN = {"hip": "HJC", "knee": "KNE", "ankle": "ANK", "heel": "HEE", "mt": "TOE"}


def walker():
    """Joints (T, 3) m, and force (S, 3) N and pressure centre of each foot, of the walk that ships; x forward, z up."""
    walk = measured_walk()
    time, fine = (np.arange(round(DURATION * rate)) / rate for rate in (MARKER_RATE, PLATE_RATE))
    joints = {}
    for side, shift, y in (("L", 0.0, 0.5 * WIDTH), ("R", 0.5, -0.5 * WIDTH)):

        def places(at, shift=shift, y=y):
            phase = at / walk.stride_time
            own = phase + shift
            hip = np.column_stack(
                [walk.speed * at + evaluate(walk.pelvis["x"], phase), y + 0 * at, evaluate(walk.pelvis["z"], phase)]
            )
            thigh, shank, foot = (walk.angle(name, own) for name in ("thigh", "shank", "foot"))
            down = lambda angle: np.column_stack([-np.sin(angle), 0 * angle, -np.cos(angle)])  # noqa: E731
            ahead = np.column_stack([np.cos(foot), 0 * foot, -np.sin(foot)])
            knee = hip + walk.thigh * down(thigh)
            ankle = knee + walk.shank * down(shank)
            heel = ankle + walk.ankle_height * down(foot) * 0.6 - 0.05 * ahead
            return {"hip": hip, "knee": knee, "ankle": ankle, "heel": heel, "mt": heel + 0.19 * ahead}

        joints |= {f"{side}_{name}": place for name, place in places(time).items()}
        own = fine / walk.stride_time + shift
        force = MASS * 9.81 * np.column_stack([walk.ground_force(axis, own) for axis in "xyz"])
        force[:, 1] *= 1.0 if side == "R" else -1.0
        # The foot is planted: its pressure centre is ahead of where the ankle was at the middle of stance.
        middle = (np.floor(own) + 0.4 * walk.stance - shift) * walk.stride_time
        ankle = places(middle)["ankle"]
        share = np.mod(own, 1.0) / walk.stance
        known = np.nan_to_num(walk.pressure, nan=0.0)
        centre = ankle + np.column_stack([np.interp(share, np.linspace(0, 1, 51), known), 0 * own, 0 * own])
        centre[:, 2] = 0.0
        joints |= {f"{side}_force": force, f"{side}_cop": centre}
    return time, fine, joints


def turned(vectors, way):
    """From x forward, y left, z up into the axes of a laboratory."""
    x, y, z = vectors.T
    return {"y up": np.column_stack([x, z, -y]), "z up, towards -y": np.column_stack([y, -x, z])}[way]


def write_trc(path, time, joints, way, names=PLUG_IN):
    labels = [f"{side}{name}" for side in "RL" for name in names.values()]
    columns = [1e3 * turned(joints[f"{side}_{joint}"], way) for side in "RL" for joint in names]
    head = "PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
    head += f"{MARKER_RATE}\t{MARKER_RATE}\t{len(time)}\t{len(labels)}\tmm\n"
    axes = "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(10))
    head += "Frame#\tTime\t" + "\t\t\t".join(labels) + f"\n\t\t{axes}\n\n"
    rows = [
        "\t".join([str(k + 1), f"{t:.3f}", *(f"{v:.4f}" for v in row)])
        for k, (t, row) in enumerate(zip(time, np.hstack(columns), strict=True))
    ]
    path.write_text(head + "\n".join(rows) + "\n")


def write_mot(path, fine, joints, way):
    """Forces in turn on four plates, R L R L, by stance, as overground; each with its pressure centre."""
    values, names = [], []
    for number, (side, which) in enumerate((("L", 0), ("R", 0), ("L", 1), ("R", 1))):
        own = fine / measured_walk().stride_time + (0.5 if side == "R" else 0.0)
        on = np.floor(own) == which + (1 if side == "R" else 0)
        force = np.where(on[:, None], joints[f"{side}_force"], 0.0)
        centre = np.where(on[:, None], joints[f"{side}_cop"], 0.0)
        values += [turned(force, way), turned(centre, way)]
        names += [f"ground_force_{number}_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    table = np.column_stack([fine, *values])
    head = f"grf\nversion=1\nnRows={len(fine)}\nnColumns={table.shape[1]}\ninDegrees=yes\nendheader\n"
    rows = "\n".join("\t".join(f"{v:.5f}" for v in row) for row in table)
    path.write_text(head + "\t".join(["time", *names]) + "\n" + rows + "\n")


def write_tables(folder, time, fine, joints, *, unit="m", turn=1.0, gap=()):
    """The walk as joints.csv and grf.csv: in a unit of places, towards ``turn`` x."""
    scale = {"m": 1.0, "mm": 1e3}[unit]
    names = [(side, name) for side in "RL" for name in PLUG_IN]
    places = [scale * joints[f"{side}_{name}"] * [turn, 1.0, 1.0] for side, name in names]
    lines = [",".join(["time_s", *(f"{side}_{name}_{axis}_{unit}" for side, name in names for axis in "xz")])]
    for k, t in enumerate(time):
        cells = [f"{place[k, axis]:.5f}" for place in places for axis in (0, 2)]
        if k in gap:
            cells[2:4] = ["", ""]
        lines.append(",".join([f"{t:.4f}", *cells]))
    (folder / "joints.csv").write_text("\n".join(lines) + "\n")
    lines = ["time_s,foot,plate,fx_N,fy_N,fz_N,copx_m,copy_m"]
    for plate, side in enumerate("RL"):
        force, centre = joints[f"{side}_force"], joints[f"{side}_cop"]
        for k in np.flatnonzero(force[:, 2] > 20.0):
            x, y, z = force[k] * [turn, turn, 1.0]
            u, v, _ = turn * centre[k]
            lines.append(f"{fine[k]:.4f},{side},{plate},{x:.3f},{y:.3f},{z:.3f},{u:.5f},{v:.5f}")
    (folder / "grf.csv").write_text("\n".join(lines) + "\n")
