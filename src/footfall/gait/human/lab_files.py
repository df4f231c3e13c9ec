"""A recorded walk from the files of a laboratory or from tables, its stances and strides, and the walker's dimensions.

Known are the names of markers of Plug-in Gait (RASI, RKNE, RANK, RHEE, RTOE), of Cortex and OpenSim (R.ASIS,
R.Knee.Lat, R.Heel, R.MT5) and of the International Society of Biomechanics (R_IAS, R_FLE, R_FAL, R_FCC, R_FM1), with a
subject's name and a colon before them, in any case. Joints are low-passed at 6 Hz; the direction of walking becomes x;
the foot on a plate is the one nearest to the pressure centre. Heel strikes beside the plates are the instants at which
the heel is farthest ahead of the hips (Zeni et al. 2008), corrected by the mean difference between these instants and
the forces on the plates.

Tables are columns by name, as the files of a recording have them; see ``footfall.gait.human.data.derive``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from footfall.errors import FootfallError, did_you_mean, optional_package, warn
from footfall.files.measured import Measured
from footfall.files.motion import load_forces, load_motion
from footfall.files.tables import read_columns

Table = Mapping[str, np.ndarray]
GRAVITY = 9.81  # m/s2
STANDS = 20.0  # N, load above which a foot is in stance
#: Shortest pause in one plate's samples that ends a stance, s.
PAUSE = 0.05
#: Largest force at the beginning or end of a complete stance, as a share of its maximum.
CUT = 0.35
SHORTEST = 0.2  # s, of a stance
DIGITS = 4  # decimals of times in s: a twentieth of the time between two samples of the plates
#: Shares of stance between which the foot lies flat.
FLAT = (0.2, 0.5)
JOINTS = ("hip", "knee", "ankle", "heel", "mt")


class Stance(NamedTuple):
    """One foot on one plate: its times (s), its rows of the force table, and whether its forces are complete."""

    foot: str
    start: float
    duration: float
    rows: np.ndarray
    clean: bool


class Stride(NamedTuple):
    """From one heel strike of a foot to its next, s."""

    foot: str
    start: float
    time: float


def find_stances(forces: Table, end: float) -> list[Stance]:
    """The stances, a foot on a plate above 20 N, by start; ``end`` (s) is the end of the recording."""
    found = []
    for plate in np.unique(forces["plate"]):
        for foot in "RL":
            rows = np.flatnonzero((forces["plate"] == plate) & (forces["foot"] == foot) & (forces["fz_N"] > STANDS))
            for own in np.split(rows, np.flatnonzero(np.diff(forces["time_s"][rows]) > PAUSE) + 1):
                if not own.size:
                    continue
                start, stop = (float(forces["time_s"][i]) for i in (own[0], own[-1]))
                if stop - start < SHORTEST:
                    continue
                load = forces["fz_N"][own]
                whole = max(load[0], load[-1]) < CUT * load.max() and stop < end
                clean = bool(whole and ("clean" not in forces or np.all(forces["clean"][own] == 1)))
                found.append(Stance(foot, start, round(stop - start, DIGITS), own, clean))
    if not any(stance.clean for stance in found):
        raise FootfallError("the recording has no whole stance on a plate")
    return sorted(found, key=lambda stance: stance.start)


def find_strides(stances: Sequence[Stance], time: np.ndarray) -> list[Stride]:
    """From each heel strike to the next of the same foot, with one of the other foot between them."""
    found = []
    for first, other, last in zip(stances, stances[1:], stances[2:], strict=False):
        if first.foot == last.foot != other.foot and time[0] <= first.start and last.start <= time[-1]:
            length = round(last.start - first.start, DIGITS)
            found.append(Stride(first.foot, round(first.start, DIGITS), length))
    if not found:
        raise FootfallError("the recording has no whole stride: three heel strikes in turn, R L R or L R L, are needed")
    return found


def segment_angles(joints: Table, stances: Sequence[Stance]) -> dict[str, np.ndarray]:
    """Angles (deg) of the segments from their ends, and the middle of the hips (m); the trunk is assumed upright."""
    found = {"time_s": joints["time_s"], "trunk_pitch_proxy_deg": np.zeros_like(joints["time_s"])}
    for axis in "xz":
        found[f"pelvis_{axis}_m"] = 0.5 * (joints[f"R_hip_{axis}_m"] + joints[f"L_hip_{axis}_m"])
    for side in "RL":
        place = {name: tuple(joints[f"{side}_{name}_{axis}_m"] for axis in "xz") for name in JOINTS}
        for name, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
            dx, dz = (a - b for a, b in zip(place[upper], place[lower], strict=True))
            found[f"{side}_{name}_deg"] = np.degrees(np.arctan2(dx, dz))
        dx, dz = (a - b for a, b in zip(place["mt"], place["heel"], strict=True))
        pitch = np.degrees(np.arctan2(-dz, dx))
        found[f"{side}_foot_deg"] = pitch - np.mean(pitch[_flat(joints, stances, side)])
    return found


def measure_subject(
    joints: Table, forces: Table, stances: Sequence[Stance], strides: Sequence[Stride]
) -> dict[str, Any]:
    """Mass (kg), speed (m/s), width of the steps and lengths of the legs (m)."""
    clean = [stance for stance in stances if stance.clean]
    impulse = np.mean([np.trapezoid(forces["fz_N"][s.rows], forces["time_s"][s.rows]) for s in clean])
    hips = 0.5 * (joints["R_hip_x_m"] + joints["L_hip_x_m"])
    speeds = [np.ptp(np.interp([s.start, s.start + s.time], joints["time_s"], hips)) / s.time for s in strides]
    segments = {}
    for side in "RL":
        height = float(np.mean(joints[f"{side}_ankle_z_m"][_flat(joints, stances, side)]))
        segments[side] = {f"{name}_m": float(np.mean(own)) for name, own in _segments(joints, side)}
        segments[side]["ankle_height_footflat_m"] = height
    return {
        # The mean impulses of two feet carry the weight over a stride.
        "mass_kg": float(2.0 * impulse / (GRAVITY * np.mean([stride.time for stride in strides]))),
        "speed_m_s": float(np.mean(speeds)),
        "step_width_m": _step_width(forces, clean),
        "segments": segments,
    }


def _segments(joints: Table, side: str) -> Iterator[tuple[str, np.ndarray]]:
    """Thigh and shank of a side, and how long they are in each sample, m."""
    for name, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
        yield name, np.hypot(*(joints[f"{side}_{upper}_{x}_m"] - joints[f"{side}_{lower}_{x}_m"] for x in "xz"))


def _flat(joints: Table, stances: Sequence[Stance], side: str) -> np.ndarray:
    """The samples at which a foot lies flat."""
    time = joints["time_s"]
    flat = np.zeros(time.size, dtype=bool)
    for one in stances:
        if one.foot == side and one.clean:
            flat |= (time >= one.start + FLAT[0] * one.duration) & (time <= one.start + FLAT[1] * one.duration)
    if not flat.any():
        raise FootfallError(f"the recording has no whole stance of foot {side} on a plate")
    return flat


def _step_width(forces: Table, stances: Sequence[Stance]) -> float:
    """Distance between the pressure centres of left and right feet, m; 0.1 m if these are not known."""
    if "copy_m" not in forces:
        return 0.1
    left, right = ([np.nanmedian(forces["copy_m"][s.rows]) for s in stances if s.foot == side] for side in "LR")
    return float(abs(np.mean(left) - np.mean(right))) if left and right else 0.1


#: Names of markers without their side, by joint; the first that is in the recording is used.
CENTRES = {
    "hip": ("hjc", "hipjc", "hipcentre", "hipcenter", "hipjointcentre", "hipjointcenter"),
    "knee": ("kjc", "kneejc", "kneecentre", "kneecenter", "kne", "knee", "kneelat", "kneelateral", "latknee", "lfc",
             "fle", "lfe", "kneeout", "femlat"),
    "ankle": ("ajc", "anklejc", "anklecentre", "anklecenter", "ank", "ankle", "anklelat", "anklelateral", "latankle",
              "lmal", "fal", "malleolus", "mallat", "ankleout"),
    "heel": ("hee", "heel", "cal", "calc", "calcaneus", "fcc", "heelback", "heelcal"),
    "mt": ("mt1", "mth1", "mtp1", "met1", "meta1", "fm1", "toe", "mt2", "mth2", "mtp2", "met2", "fm2", "mt5", "mth5",
           "mtp5", "met5", "meta5", "fm5"),
}  # fmt: skip
PELVIS = {"asis": ("asis", "asi", "ias"), "psis": ("psis", "psi", "ips"), "trochanter": ("gtr", "gt", "gtroc", "troc",
          "trochanter", "ftc", "greatertrochanter")}  # fmt: skip
SACRUM = ("sacr", "vsac", "vsacral", "sacrum", "sacral", "sac", "s1")

#: Markers with positions by side (R, L, or "" in the middle) and name without the side.
Markers = Mapping[tuple[str, str], np.ndarray]


def joint_places(motion: Measured, given: Mapping[str, str]) -> dict[str, np.ndarray]:
    """(T, 3) m of each joint: ``R_hip``, ``R_knee``, ``R_ankle``, ``R_heel``, ``R_mt`` and the same of L.

    ``given`` maps joints to markers with other names, or to the middle of two: ``{"R_knee": "KneeOut+KneeIn"}``.
    """
    known = _by_stem(motion)
    found: dict[str, np.ndarray] = {}
    for key, names in given.items():
        if key not in (wanted := [f"{side}_{joint}" for side in "RL" for joint in CENTRES]):
            raise FootfallError(f"there is no joint '{key}' to give a marker for: {did_you_mean(key, wanted)}")
        found[key] = np.mean([motion.vector(name.strip()) for name in names.split("+")], axis=0)
    for joint in ("ankle", *(one for one in CENTRES if one != "ankle")):
        for side in "RL":
            if f"{side}_{joint}" not in found:
                place = _first(known, side, CENTRES[joint])
                place = _hip(known, side, found["R_ankle"]) if place is None and joint == "hip" else place
                if place is None:
                    raise FootfallError(
                        f"{motion.source} has no marker that is known as the {joint} of side {side}; name it: "
                        f"--marker {side}_{joint}=NAME, or NAME+NAME for the middle of two; its markers are "
                        f"{', '.join(motion.vectors)}"
                    )
                found[f"{side}_{joint}"] = place
    return found


def _first(known: Markers, side: str, names: Sequence[str]) -> np.ndarray | None:
    """The first of these markers that is known on that side."""
    return next((known[side, name] for name in names if (side, name) in known), None)


def _hip(known: Markers, side: str, ankle: np.ndarray) -> np.ndarray | None:
    """The hip from the pelvis (Harrington et al. 2007, regression by its width and depth), or from the trochanter.

    It is below the pelvis, towards the ``ankle``, even if markers of both sides are exchanged.
    """
    right, left = (_first(known, of, PELVIS["asis"]) for of in "RL")
    back = [one for one in (_first(known, of, PELVIS["psis"]) for of in "RL") if one is not None]
    sacrum = _first(known, "", SACRUM)
    back += [sacrum] if len(back) < 2 and sacrum is not None else []
    if right is None or left is None or not back:
        return _first(known, side, PELVIS["trochanter"])
    middle, rear = 0.5 * (right + left), np.mean(back, axis=0)
    across = _unit(right - left)
    forward = _unit((middle - rear) - across * np.sum((middle - rear) * across, axis=1, keepdims=True))
    upward = np.cross(across, forward)
    upward *= np.sign(np.nanmedian(np.sum((middle - ankle) * upward, axis=1)))
    width, depth = (np.linalg.norm(a - b, axis=1, keepdims=True) for a, b in ((right, left), (middle, rear)))
    sideways = (0.33 * width + 7.3e-3) * (1.0 if side == "R" else -1.0)
    return middle - (0.24 * depth + 9.9e-3) * forward - (0.30 * width + 10.9e-3) * upward + sideways * across


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _by_stem(motion: Measured) -> dict[tuple[str, str], np.ndarray]:
    """The markers with positions."""
    stems = {name for row in (*CENTRES.values(), *PELVIS.values()) for name in row}
    found: dict[tuple[str, str], np.ndarray] = {}
    for name in motion.vectors:
        place = motion.vector(name)
        if motion.vector_unit(name) in ("m", "") and np.isfinite(place).all(axis=1).sum() >= 2:
            found.setdefault(_side_and_stem(name, stems), place)
    return found


def _side_and_stem(name: str, stems: set[str]) -> tuple[str, str]:
    """Side and rest of a name, as of "S7:RASI", "R.Knee.Lat", "L_FLE" or "heel right"."""
    whole = re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower())
    for word, side in (("right", "R"), ("left", "L"), ("r", "R"), ("l", "L")):
        for rest in (whole.removeprefix(word), whole.removesuffix(word)):
            if rest != whole and rest in stems:
                return side, rest
    return "", whole


#: Endings of the names of columns, by SI unit; angles are in degrees.
ENDINGS = {"m": "m", "s": "s", "N": "N", "rad": "deg"}
#: Bounds on the length of a thigh or shank, m: below a toddler's and above any adult's.
SHORTEST_SEGMENT, LONGEST_SEGMENT = 0.1, 1.0
#: Largest ratio of the length of thigh and shank to the greatest height of the hip: knees always bent by 60 degrees.
LONGEST_LEG = 1.15
#: Largest ratio between the lengths of a segment on both sides; skin moves markers by 2 or 3 cm of 40.
SIDES_DIFFER = 1.2


def read_tables(folder: Path) -> tuple[Table, Table, Table | None]:
    """Positions of joints, forces, and angles of segments if there are: ``joints.csv``, ``grf.csv`` and ``motion.csv``
    of a folder; see ``footfall.gait.human.data.derive``.
    """
    places = [f"{side}_{joint}_{axis}_m" for side in "RL" for joint in JOINTS for axis in "xz"]
    joints = _read(folder / "joints.csv", ["time_s", *places])
    loads = _read(folder / "grf.csv", ["time_s", "foot", "plate", "fx_N", "fy_N", "fz_N", "copx_m"])
    motion = _read(folder / "motion.csv", ["time_s"]) if (folder / "motion.csv").is_file() else None
    source = str(folder / "joints.csv")
    whole, filled = fill_gaps(source, joints["time_s"], {name: joints[name][:, None] for name in places}, 2)
    joints = {name: own[whole] for name, own in joints.items()} | {name: own[:, 0] for name, own in filled.items()}
    check_lengths(source, joints)
    if sum(float(np.median(joints[f"{side}_mt_x_m"] - joints[f"{side}_heel_x_m"])) for side in "RL") < 0.0:
        raise FootfallError(f"{source}: the toes point towards -x, and a walk leads towards x")
    return joints, loads, motion


def _read(path: Path, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """Columns by name and SI unit, as in ``R_hip_x_m``; NaN where blank. The ``wanted`` ones must be among them."""
    values, units, _, _, texts = read_columns(path)
    columns = {name: np.array(own) for name, own in texts.items()}
    for name, own in values.items():
        unit = units[name]
        ending = f"_{ENDINGS[unit]}" if unit in ENDINGS else ""
        columns[f"{name}{ending}"] = np.degrees(own) if unit == "rad" else own
    if missing := [name for name in wanted if name not in columns]:
        raise FootfallError(f"{path} has no column '{missing[0]}', and {len(missing)} of its columns are missing")
    return columns


def fill_gaps(
    source: str, time: np.ndarray, places: Mapping[str, np.ndarray], least: int
) -> tuple[slice, dict[str, np.ndarray]]:
    """The part (a slice) from the first to the last of at least ``least`` samples in which all places (T, k) are known,
    and the places there, with splines over short gaps.
    """
    CubicSpline = optional_package("scipy.interpolate").CubicSpline

    known = {name: np.isfinite(own).all(axis=1) for name, own in places.items()}
    seen = np.flatnonzero(np.all(list(known.values()), axis=0))
    if len(seen) < least:
        never = min(known, key=lambda name: known[name].sum())
        raise FootfallError(f"{source}: there are too few samples in which all joints are known; fewest: {never}")
    whole = slice(int(seen[0]), int(seen[-1]) + 1)
    when, found = time[whole], {}
    for name, place in places.items():
        own, there = place[whole].copy(), known[name][whole]
        widest = int(np.argmax(np.diff(when[there])))
        begin, end = when[there][widest : widest + 2]
        if end - begin > LONGEST_GAP + frame_time(when):
            raise FootfallError(
                f"{source}: {name} is not known from {begin:.3f} to {end:.3f} s, too long to fill: cut the recording "
                "there, or name another marker"
            )
        own[~there] = CubicSpline(when[there], own[there])(when[~there])
        found[name] = own
    return whole, found


def check_lengths(source: str, joints: Table) -> None:
    """Refuse an impossible skeleton: segments too short or long, sides that differ, legs too long for the hip's
    height.
    """
    lengths = {side: {name: float(np.median(own)) for name, own in _segments(joints, side)} for side in "RL"}
    for side, own in lengths.items():
        for name, length in own.items():
            if not SHORTEST_SEGMENT < length < LONGEST_SEGMENT:
                raise FootfallError(
                    f"{source}: the {name} of side {side} is {length:.3g} m long: names of columns end in the unit of "
                    "places, such as _m or _mm"
                )
        leg, high = sum(own.values()), float(np.max(joints[f"{side}_hip_z_m"]))
        if leg > LONGEST_LEG * high:
            raise FootfallError(
                f"{source}: thigh and shank of side {side} are {leg:.3f} m long, and the hip is never higher than "
                f"{high:.3f} m: is z up and 0 on the ground, and is each marker on its own bone?"
            )
    for name, right in lengths["R"].items():
        left = lengths["L"][name]
        if max(right, left) > SIDES_DIFFER * min(right, left):
            raise FootfallError(
                f"{source}: the {name} is {right:.3f} m long on side R and {left:.3f} m on side L: a marker of one "
                "side is on another bone, or has the name of the other side"
            )


CUTOFF = 6.0  # Hz, of the markers' low pass
LONGEST_GAP = 0.15  # s, longest gap that is filled
#: Least load for a valid pressure centre, N, and largest distance between it and its foot, m.
PRESSED, NEAR = 50.0, 0.35
#: Largest motion of the pressure centre relative to one foot in a stance, m; if larger, two feet are on the plate.
LONGEST_FOOT = 0.4
LONGEST_STANCE = 1.5  # s
#: Least travel of the hips, m.
TRAVELS = 0.8
#: Least time between heel strikes of one foot, s, and least amplitude of its heel relative to the hips, m.
STRIKES, SWING = 0.5, 0.15
MARKERS, FORCES = (".trc", ".c3d"), (".mot", ".csv")


def forces_of(markers: Path) -> Path:
    """The file of forces beside a file of markers, of the same name; a .c3d file holds both."""
    beside = [*map(markers.with_suffix, FORCES), *[markers] * (markers.suffix.lower() == ".c3d")]
    found = next((file for file in beside if file.is_file()), None)
    if found is None:
        raise FootfallError(
            f"which file has the forces of {markers.name}? Name it: footfall human-walk ... --forces FILE"
        )
    return found


def read_walk(
    markers: Path, forces: Path, names: Mapping[str, str], up: Literal["y", "z"] | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[Stance]]:
    """Joints and forces of a recorded walk, as in its tables, and its stances; ``names`` of markers as ``joint_places``
    takes them.
    """
    plates = load_forces(forces, pressure=True, up=up)
    motion = load_motion(markers, up=up)
    if up is None:
        motion = _standing(motion, names)
    places = joint_places(motion.z_up(), names)
    time, places = _filled(motion, places)
    turn = _heading(places)
    places = {name: place @ turn.T for name, place in places.items()}
    if np.median(places["R_hip"][:, 1] - places["L_hip"][:, 1]) > 0.0:
        warn(f"{motion.source}: its markers of the right side lie to the left, and were swapped")
        places = {f"{'L' if name[0] == 'R' else 'R'}{name[1:]}": place for name, place in places.items()}
    feet = {side: 0.5 * (places[f"{side}_heel"] + places[f"{side}_mt"]) for side in "RL"}
    table, floor = _table(plates, turn, time, feet)
    joints = {"time_s": time}
    for name, place in places.items():
        joints[f"{name}_x_m"], joints[f"{name}_z_m"] = place[:, 0], place[:, 2] - floor
    check_lengths(motion.source, joints)
    stances = find_stances(table, float(time[-1]))
    return joints, table, sorted([*stances, *_other_strikes(joints, stances)], key=lambda one: one.start)


def _standing(motion: Measured, names: Mapping[str, str]) -> Measured:
    """The motion with the upward axis along which the hips are above the ankles."""
    places = joint_places(motion, names)
    above = np.nanmedian(np.mean([places[f"{s}_hip"] - places[f"{s}_ankle"] for s in "RL"], axis=0), axis=0)
    return replace(motion, up="y" if abs(above[1]) > abs(above[2]) else "z")


def _filled(motion: Measured, places: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Time and positions, low-passed, where all joints are known, with short gaps filled."""
    whole, filled = fill_gaps(motion.source, motion.time, places, 20)
    channels = {f"{name}.{axis}": own[:, k] for name, own in filled.items() for k, axis in enumerate("xyz")}
    time = motion.time[whole]
    smooth = Measured(time, channels, dict.fromkeys(channels, "m"), "z", motion.source).low_passed(CUTOFF)
    return time, {name: smooth.vector(name) for name in places}


def frame_time(time: np.ndarray) -> float:
    """The mean time between two frames, s."""
    return float((time[-1] - time[0]) / (len(time) - 1))


def _heading(places: Mapping[str, np.ndarray]) -> np.ndarray:
    """(3, 3) the rotation about z that turns the direction of walking into x."""
    hips = 0.5 * (places["R_hip"] + places["L_hip"])
    along = (hips[-1] - hips[0])[:2]
    toes = np.mean([places[f"{s}_mt"] - places[f"{s}_heel"] for s in "RL"], axis=(0, 1))[:2]
    if np.linalg.norm(along) < TRAVELS:
        raise FootfallError("the walker stays in place: a walk on a treadmill is not read")
    if along @ toes < 0.0:
        raise FootfallError("the walker goes backwards: toes point against the direction of the hips")
    c, s = along / np.linalg.norm(along)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def _table(
    plates: Measured, turn: np.ndarray, time: np.ndarray, feet: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], float]:
    """Rows of forces, one for each sample of each stance, and the height of the plates."""
    rows, whose, heights = list[np.ndarray](), list[str](), list[float]()
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
            place = np.where(force[own, 2:] < PRESSED, np.nan, centre[own, :2])
            rows.append(np.column_stack([plates.time[own], np.full(own.size, float(number)), force[own], place]))
            whose += [foot] * own.size
            heights.append(float(np.nanmedian(centre[own, 2])))
    if not whose:
        raise FootfallError(f"no foot of the markers stands on a plate of {plates.source}: are time and axes the same?")
    keys = ("time_s", "plate", "fx_N", "fy_N", "fz_N", "copx_m", "copy_m")
    table = dict(zip(keys, np.vstack(rows).T, strict=True))
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
    """The foot on a plate during the samples ``own``; None, with a warning, if it is not one foot."""
    begin, end = plates.time[own[0]], plates.time[own[-1]]
    said = f"{plates.source}: '{name}' from {begin:.2f} to {end:.2f} s is left out:"
    pressed = own[force[own, 2] > 2.0 * PRESSED]
    if end - begin > LONGEST_STANCE or not pressed.size:
        warn(f"{said} it is loaded for {end - begin:.2f} s")
        return None
    beside = {
        side: centre[pressed, :2] - np.column_stack([np.interp(plates.time[pressed], time, at) for at in foot.T[:2]])
        for side, foot in feet.items()
    }
    away = {side: float(np.median(np.linalg.norm(place, axis=1))) for side, place in beside.items()}
    foot = min(away, key=lambda side: away[side])
    travel = np.ptp(beside[foot], axis=0).max()
    if away[foot] > NEAR:
        warn(f"{said} its pressure centre is {away[foot]:.2f} m from the nearer foot")
    elif travel > LONGEST_FOOT:
        warn(f"{said} its pressure centre moves by {travel:.2f} m beside the foot, as if two feet stood on it")
    else:
        return foot
    return None


def _other_strikes(joints: Mapping[str, np.ndarray], stances: list[Stance]) -> list[Stance]:
    """Heel strikes beside the plates, by the markers, as stances without forces."""
    find_peaks = optional_package("scipy.signal").find_peaks

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
