"""Which markers of a laboratory are which joints: by the names of the usual marker sets, or as the user says.

Known are the names of Plug-in Gait (RASI, RKNE, RANK, RHEE, RTOE), of Cortex and OpenSim (R.ASIS, R.Knee.Lat, R.Heel,
R.MT5) and of the International Society of Biomechanics (R_IAS, R_FLE, R_FAL, R_FCC, R_FM1), with a subject's name and a
colon before them, and any case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.files.measured import Measured

#: Names of markers without their side; of a joint the first row with a marker that was seen is taken, all of its parts.
CENTRES = {
    "hip": (("hjc", "hipjc", "hipcentre", "hipcenter", "hipjointcentre", "hipjointcenter"),),
    "knee": (
        ("kjc", "kneejc", "kneecentre", "kneecenter"),
        ("kne", "knee", "kneelat", "kneelateral", "latknee", "lfc", "fle", "lfe", "kneeout", "femlat"),
    ),
    "ankle": (
        ("ajc", "anklejc", "anklecentre", "anklecenter"),
        ("ank", "ankle", "anklelat", "anklelateral", "latankle", "lmal", "fal", "malleolus", "mallat", "ankleout"),
    ),
    "heel": (("hee", "heel", "cal", "calc", "calcaneus", "fcc", "heelback", "heelcal"),),
    "mt": (
        ("mt1", "mth1", "mtp1", "d1mt", "met1", "meta1", "mt1h", "fm1", "toemed", "toe1", "firstmt"),
        ("toe", "mt2", "mth2", "mtp2", "met2", "fm2", "d2mt", "toe2", "secondmt"),
    ),
}
#: The other side of a joint, whose middle with the first is its centre.
MEDIAL = {
    "knee": ("kneemed", "kneemedial", "medknee", "knm", "mkne", "knemed", "mfc", "fme", "mfe", "kneein", "femmed"),
    "ankle": ("ankmed", "anklemed", "anklemedial", "medankle", "mank", "mmal", "tam", "malmed", "anklein"),
    "mt": ("mt5", "mth5", "mtp5", "d5mt", "met5", "meta5", "fm5", "toelat", "toe5", "fifthmt"),
}
PELVIS = {"asis": ("asis", "asi", "ias"), "psis": ("psis", "psi", "ips"), "trochanter": ("gtr", "gt", "gtroc", "troc",
          "trochanter", "ftc", "greatertrochanter")}  # fmt: skip
SACRUM = ("sacr", "vsacral", "sacrum", "sacral", "sac", "s1")


def joint_places(motion: Measured, given: Mapping[str, str]) -> dict[str, np.ndarray]:
    """(T, 3) m of each joint: ``R_hip``, ``R_knee``, ``R_ankle``, ``R_heel``, ``R_mt`` and the same of L.

    ``given`` names markers where names are others: ``{"R_knee": "KneeOut+KneeIn"}``, the middle of which it is.
    """
    known = _by_stem(motion)
    found: dict[str, np.ndarray] = {}
    for key, names in given.items():
        if key not in (wanted := [f"{side}_{joint}" for side in "RL" for joint in CENTRES]):
            raise FootfallError(f"there is no joint '{key}' to give a marker for: {did_you_mean(key, wanted)}")
        found[key] = np.mean([motion.vector(name.strip()) for name in names.split("+")], axis=0)
    for side in "RL":
        for joint in CENTRES:
            if f"{side}_{joint}" not in found:
                place = _joint(known, side, joint)
                if place is None:
                    raise FootfallError(
                        f"{motion.source} has no marker that is known as the {joint} of side {side}; name it: "
                        f"--marker {side}_{joint}=NAME, or NAME+NAME for the middle of two; its markers are "
                        f"{', '.join(motion.vectors)}"
                    )
                found[f"{side}_{joint}"] = place
    return found


def _joint(known: Mapping[tuple[str, str], np.ndarray], side: str, joint: str) -> np.ndarray | None:
    for names in CENTRES[joint]:
        own = next((known[side, name] for name in names if (side, name) in known), None)
        if own is None:
            continue
        if names[0].endswith("jc"):
            return own
        other = next((known[side, name] for name in MEDIAL.get(joint, ()) if (side, name) in known), None)
        return own if other is None else 0.5 * (own + other)
    if joint == "mt":
        return next((known[side, name] for name in MEDIAL["mt"] if (side, name) in known), None)
    return _hip(known, side) if joint == "hip" else None


def _hip(known: Mapping[tuple[str, str], np.ndarray], side: str) -> np.ndarray | None:
    """The hip by the pelvis (Harrington et al. 2007, regression by its width and depth), or the trochanter."""

    def pelvis(kind: str, of: str) -> np.ndarray | None:
        return next((known[of, name] for name in PELVIS[kind] if (of, name) in known), None)

    front = [pelvis("asis", of) for of in "RL"]
    back = [one for one in (pelvis("psis", of) for of in "RL") if one is not None]
    back += [known["", name] for name in SACRUM if ("", name) in known][:1] if len(back) < 2 else []
    right, left = front
    if right is None or left is None or not back:
        return pelvis("trochanter", side)
    middle, rear = 0.5 * (right + left), np.mean(back, axis=0)
    across = _unit(right - left)
    forward = _unit((middle - rear) - across * np.sum((middle - rear) * across, axis=1, keepdims=True))
    upward = np.cross(across, forward)
    width, depth = (np.linalg.norm(a - b, axis=1, keepdims=True) for a, b in ((right, left), (middle, rear)))
    sideways = (0.33 * width + 7.3e-3) * (1.0 if side == "R" else -1.0)
    return middle - (0.24 * depth + 9.9e-3) * forward - (0.30 * width + 10.9e-3) * upward + sideways * across


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _by_stem(motion: Measured) -> dict[tuple[str, str], np.ndarray]:
    """Markers that were seen, by side (R, L, or "" in the middle) and name without it."""
    stems = {name for table in CENTRES.values() for row in table for name in row}
    stems |= {name for row in (*MEDIAL.values(), *PELVIS.values()) for name in row}
    found: dict[tuple[str, str], np.ndarray] = {}
    for name in motion.vectors:
        if motion.vector_unit(name) not in ("m", ""):
            continue
        place = motion.vector(name)
        if np.isfinite(place).all(axis=1).sum() < 2:
            continue
        found.setdefault(_side_and_stem(name, stems), place)
    return found


def _side_and_stem(name: str, stems: set[str]) -> tuple[str, str]:
    tokens = [one.lower() for one in re.findall(r"[A-Za-z]+|\d+", name.rpartition(":")[2])]
    if len(tokens) > 1 and tokens[0] == "v":  # computed, not seen: as good as a marker
        tokens = tokens[1:]
    for words, side in ((("r", "right"), "R"), (("l", "left"), "L")):
        for word in words:
            if word in tokens and len(tokens) > 1:
                rest = [one for one in tokens if one != word]
                return side, "".join(rest)
    whole = "".join(tokens)
    for begin, side in (("right", "R"), ("left", "L"), ("r", "R"), ("l", "L")):
        if whole.startswith(begin) and whole.removeprefix(begin) in stems:
            return side, whole.removeprefix(begin)
        if whole.endswith(begin) and whole.removesuffix(begin) in stems:
            return side, whole.removesuffix(begin)
    return "", whole
