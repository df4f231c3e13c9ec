"""A recorded walk from the files of a laboratory: markers and force plates become the tables of a walk.

Markers become joints (see ``markers``), low-passed at 6 Hz; the direction of walking becomes x; which foot stands on
which plate follows from where it presses. On a treadmill the belt's speed, that of the feet that stand on it, is added.
Heel strikes beside the plates are those instants at which the heel is farthest ahead of the hips (Zeni et al. 2008),
less how much these differ from the forces on the plates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import FootfallError, warn
from footfall.files.measured import Measured
from footfall.files.motion import load_forces, load_motion
from footfall.gait.human.events import SHORTEST, STANDS, Stance, find_stances
from footfall.gait.human.markers import joint_places

CUTOFF = 6.0  # Hz, of the markers
LONGEST_GAP = 0.15  # s, that is filled
#: N below which a pressure centre is not believed, and m from the foot beyond which it is not that foot's.
PRESSED, NEAR = 50.0, 0.35
#: m that the pressure centre may move in one stance: beyond, two feet stand on the plate.
LONGEST_FOOT = 0.4
LONGEST_STANCE = 1.5  # s
#: m that the hips must travel, or else it is a treadmill.
TRAVELS = 0.8
#: s and m between heel strikes of one foot, and that its heel moves to and fro.
STRIKES, SWING = 0.5, 0.15
MARKERS, FORCES = (".trc", ".c3d"), (".forces", ".mot", ".sto", ".csv", ".tsv", ".txt")


class Walked(NamedTuple):
    """The tables of a walk, as ``footfall.gait.human.data.derive`` describes them, and its stances."""

    joints: dict[str, np.ndarray]
    forces: dict[str, np.ndarray]
    stances: list[Stance]


def raw_files(source: Path, forces: Path | None = None) -> tuple[Path, Path] | None:
    """The file of the markers and that of the forces, None where there are none; a .c3d file holds both."""
    if source.is_dir():
        found = [file for ending in MARKERS for file in sorted(source.glob(f"*{ending}"))]
        if len(found) > 1:
            names = ", ".join(file.name for file in found)
            raise FootfallError(f"{source} holds several recordings, {names}: name the file of one")
        if not found:
            return None
        source = found[0]
    elif source.suffix.lower() not in MARKERS:
        return None
    if forces is not None:
        return source, forces
    beside = [source.with_suffix(ending) for ending in FORCES]
    others = [file for file in sorted(source.parent.glob("*")) if file.suffix.lower() in FORCES[:3]]
    found = [file for file in beside if file.is_file()] or (others if len(others) == 1 else [])
    if not found and source.suffix.lower() == ".c3d":
        return source, source
    if not found:
        raise FootfallError(
            f"which file has the forces of {source.name}? Name it: footfall human-walk ... --forces FILE"
        )
    return source, found[0]


def read_walk(markers: Path, forces: Path, names: Mapping[str, str] | None = None, up: str | None = None) -> Walked:
    """Joints, forces and stances of a recorded walk; ``names`` of markers as ``joint_places`` takes them."""
    plates = load_forces(forces, pressure=True, up=up)
    motion = load_motion(markers, up=up)
    if up is None:
        motion = _standing(motion, names or {})
    places = joint_places(motion.z_up(), names or {})
    time, places = _filled(motion, places)
    turn = _heading(places)
    places = {name: place @ turn.T for name, place in places.items()}
    feet = {side: 0.5 * (places[f"{side}_heel"] + places[f"{side}_mt"]) for side in "RL"}
    if np.median(places["R_hip"][:, 1] - places["L_hip"][:, 1]) > 0.0:
        _say(f"{motion.source}: its markers of the right side lie to the left, and were swapped")
        places = {f"{'L' if name[0] == 'R' else 'R'}{name[1:]}": place for name, place in places.items()}
        feet = {"R": feet["L"], "L": feet["R"]}
    table, floor = _table(plates, turn, time, feet)
    speed = _belt(time, places, table)
    joints = {"time_s": time}
    for name, place in places.items():
        joints[f"{name}_x_m"], joints[f"{name}_z_m"] = place[:, 0] + speed * time, place[:, 2] - floor
    table["copx_m"] = table["copx_m"] + speed * table["time_s"]
    stances = find_stances(table, float(time[-1]))
    return Walked(joints, table, sorted([*stances, *_other_strikes(joints, stances)], key=lambda one: one.start))


def _say(text: str) -> None:
    warn(text)


def _standing(motion: Measured, names: Mapping[str, str]) -> Measured:
    """The same with that axis up along which the hips are above the ankles."""
    places = joint_places(motion, names)
    above = np.nanmedian(np.mean([places[f"{s}_hip"] - places[f"{s}_ankle"] for s in "RL"], axis=0), axis=0)
    return replace(motion, up="y" if abs(above[1]) > abs(above[2]) else "z")


def _filled(motion: Measured, places: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Time and places where all joints are known, short gaps filled by splines, low-passed."""
    from scipy.interpolate import CubicSpline

    seen = np.all([np.isfinite(place).all(axis=1) for place in places.values()], axis=0)
    if seen.sum() < 20:
        never = min(places, key=lambda name: np.isfinite(places[name]).sum())
        raise FootfallError(f"{motion.source}: there are too few frames in which all joints are seen; fewest: {never}")
    first, last = (int(np.flatnonzero(seen)[i]) for i in (0, -1))
    time = motion.time[first : last + 1]
    channels: dict[str, np.ndarray] = {}
    for name, place in places.items():
        own = place[first : last + 1].copy()
        known = np.isfinite(own).all(axis=1)
        edges = np.flatnonzero(known)
        widest = int(np.argmax(np.diff(time[edges])))
        begin, end = time[edges[widest]], time[edges[widest + 1]]
        if end - begin > LONGEST_GAP + frame_time(time):
            raise FootfallError(
                f"{motion.source}: {name} is not seen from {begin:.3f} to {end:.3f} s, too long to fill: cut the "
                "recording there, or name another marker"
            )
        own[~known] = CubicSpline(time[known], own[known])(time[~known])
        channels |= {f"{name}.{axis}": own[:, k] for k, axis in enumerate("xyz")}
    whole = Measured(time, channels, dict.fromkeys(channels, "m"), "z", motion.source).low_passed(CUTOFF)
    return time, {name: whole.vector(name) for name in places}


def frame_time(time: np.ndarray) -> float:
    """The mean time between two frames, s."""
    return float((time[-1] - time[0]) / (len(time) - 1))


def _heading(places: Mapping[str, np.ndarray]) -> np.ndarray:
    """(3, 3) the rotation about z that turns the direction of walking into x."""
    hips = 0.5 * (places["R_hip"] + places["L_hip"])
    along = (hips[-1] - hips[0])[:2]
    toes = np.mean([places[f"{s}_mt"] - places[f"{s}_heel"] for s in "RL"], axis=(0, 1))[:2]
    if np.linalg.norm(along) < TRAVELS:
        along = toes
    elif along @ toes < 0.0:
        raise FootfallError("the walker goes backwards: toes point against the direction of the hips")
    c, s = along / np.linalg.norm(along)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def _table(
    plates: Measured, turn: np.ndarray, time: np.ndarray, feet: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], float]:
    """Rows of forces, one for each sample of each stance, and the height of the plates."""
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("time_s", "plate", "fx", "fy", "fz", "cx", "cy")}
    whose: list[str] = []
    heights = []
    names = [name.removesuffix(".force") for name in plates.vectors if name.endswith(".force")]
    for number, name in enumerate(names, start=1):
        if f"{name}.cop" not in plates.vectors:
            raise FootfallError(f"{plates.source} has no pressure centre of '{name}' (such as {name}.cop in m)")
        force, centre = plates.vector(f"{name}.force") @ turn.T, plates.vector(f"{name}.cop") @ turn.T
        inside = (plates.time >= time[0]) & (plates.time <= time[-1])
        stands = np.flatnonzero((force[:, 2] > STANDS) & inside)
        for own in np.split(stands, np.flatnonzero(np.diff(stands) > 1) + 1):
            if own.size < 2 or plates.time[own[-1]] - plates.time[own[0]] < SHORTEST:
                continue
            foot = _whose(plates, name, own, force, centre, time, feet)
            if foot is None:
                continue
            low = force[own, 2] < PRESSED
            columns = (plates.time[own], np.full(own.size, float(number)), *force[own].T, *centre[own, :2].T)
            for key, values in zip(rows, columns, strict=True):
                rows[key].append(np.where(low, np.nan, values) if key in ("cx", "cy") else values)
            whose += [foot] * own.size
            heights.append(float(np.nanmedian(centre[own, 2])))
    if not whose:
        raise FootfallError(f"no foot of the markers stands on a plate of {plates.source}: are time and axes the same?")
    keys = ("time_s", "plate", "fx_N", "fy_N", "fz_N", "copx_m", "copy_m")
    table = {key: np.concatenate(rows[name]) for key, name in zip(keys, rows, strict=True)}
    return table | {"foot": np.array(whose)}, float(np.median(heights))


def _whose(
    plates: Measured,
    name: str,
    own: np.ndarray,
    force: np.ndarray,
    centre: np.ndarray,
    time: np.ndarray,
    feet: Mapping[str, np.ndarray],
) -> str | None:
    """Which foot presses during samples of a plate; None, and a warning, where that is not one foot."""
    begin, end = plates.time[own[0]], plates.time[own[-1]]
    said = f"{plates.source}: '{name}' from {begin:.2f} to {end:.2f} s is left out:"
    pressed = own[force[own, 2] > 2.0 * PRESSED]
    if end - begin > LONGEST_STANCE or not pressed.size:
        _say(f"{said} it is loaded for {end - begin:.2f} s")
        return None
    place = centre[pressed]
    moved = {side: _at(plates.time[pressed], time, feet[side])[:, :2] for side in "RL"}
    away = {side: float(np.median(np.linalg.norm(place[:, :2] - moved[side], axis=1))) for side in "RL"}
    foot = min(away, key=lambda side: away[side])
    travel = np.ptp((place[:, :2] - moved[foot]), axis=0).max()
    if away[foot] > NEAR:
        _say(f"{said} its pressure centre is {away[foot]:.2f} m from the nearer foot")
        return None
    if travel > LONGEST_FOOT:
        _say(f"{said} its pressure centre moves by {travel:.2f} m beside the foot, as if two feet stood on it")
        return None
    return foot


def _at(when: np.ndarray, time: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(when, time, place[:, k]) for k in range(place.shape[1])])


def _belt(time: np.ndarray, places: Mapping[str, np.ndarray], table: Mapping[str, np.ndarray]) -> float:
    """Speed of a treadmill's belt, m/s: that of feet flat on it; 0 where the walker travels."""
    hips = 0.5 * (places["R_hip"] + places["L_hip"])
    if np.linalg.norm((hips[-1] - hips[0])[:2]) >= TRAVELS:
        return 0.0
    speeds = []
    for side in "RL":
        rate = np.gradient(places[f"{side}_heel"][:, 0], time)
        load = np.zeros(time.size)
        for plate in np.unique(table["plate"]):
            rows = (table["plate"] == plate) & (table["foot"] == side)
            if rows.any():
                load = np.maximum(load, np.interp(time, table["time_s"][rows], table["fz_N"][rows]))
        # The heel lies on the belt in the first half of stance, at which it is lowest.
        low = places[f"{side}_heel"][:, 2] < np.quantile(places[f"{side}_heel"][:, 2], 0.35)
        speeds += rate[(load > 0.5 * load.max()) & low].tolist()
    speed = -float(np.median(speeds)) if speeds else 0.0
    if speed > 0.1:
        _say(f"the walker stays in place: a treadmill of {speed:.2f} m/s, which is added")
        return speed
    return 0.0


def _other_strikes(joints: Mapping[str, np.ndarray], stances: list[Stance]) -> list[Stance]:
    """Heel strikes that no plate saw, by the markers, as stances without forces."""
    from scipy.signal import find_peaks

    time = joints["time_s"]
    hips = 0.5 * (joints["R_hip_x_m"] + joints["L_hip_x_m"])
    found = []
    for side in "RL":
        ahead = joints[f"{side}_heel_x_m"] - hips
        peaks, _ = find_peaks(ahead, distance=max(1, round(STRIKES / frame_time(time))), prominence=SWING)
        own = np.array([stance.start for stance in stances if stance.foot == side])
        nearest = [own[np.abs(own - time[k]).argmin()] for k in peaks] if own.size else []
        late = [time[k] - strike for k, strike in zip(peaks, nearest, strict=False) if abs(time[k] - strike) < 0.2]
        off = float(np.median(late)) if late else 0.0
        for k in peaks:
            if not own.size or np.abs(own - (time[k] - off)).min() > 0.5 * STRIKES:
                found.append(Stance(side, float(time[k] - off), 0.0, np.zeros(0, dtype=int), False))
    return found
