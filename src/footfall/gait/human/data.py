"""How a man walks and which forces the ground applies: a small table, derived from one recorded pass.

The recording is ``walk1`` of Marcos Duarte (BMClab, UFABC; github.com/demotu/BMC), CC-BY 4.0, here processed further:
:func:`derive` makes the table ``human_walk.json`` from the processed files. One person, one pass, two strides and three
clean stances: no norm of any population.

Angles are rotations about y (left) of segments in the sagittal plane, rad: a thigh or shank leans forward at its upper
end, a foot has its toes down, where positive. The cycle begins with heel strike. Forces are those of the ground on the
foot over its stance, in body weights: x forward, y to the other leg, z up.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import FootfallError
from footfall.gait.human.series import evaluate, fit

HARMONICS = 10  # of the stride; 9 Hz, beyond the 6 Hz at which the markers were filtered
SAMPLES = 101  # over stride and stance
STANCE = 51  # of the force curves kept
SEGMENTS = ("thigh", "shank", "foot")
ATTRIBUTION = (
    "Marcos Duarte, BMClab (UFABC), github.com/demotu/BMC, data/walk1, commit 1f1c1ab, CC-BY 4.0; modified: "
    "averaged over strides and stances, made periodic, as Fourier coefficients and curves in body weights"
)


@dataclass(frozen=True)
class MeasuredWalk:
    """The mean walk. Series are Fourier coefficients over the stride (see ``human_series``), curves run over stance.

    Attributes:
        speed, stride_time: m/s and s, of the subject.
        leg: m, from hip to ground with the leg straight: thigh, shank and height of the ankle.
        thigh, shank, ankle_height: m.
        step_width: m, between the feet.
        segments: series of thigh, shank, foot and trunk (pelvis less its mean), rad.
        spread: half the range between the two strides at 0, 2, ... 98 % of the stride, rad, for thigh, shank, foot and
            trunk.
        pelvis: series of the middle of the hips: x less its mean speed, and z, m.
        force: ``x``, ``y``, ``z`` over stance, body weights, at 51 equally spaced instants.
        force_spread: half the range between the three stances.
        pressure: how far the pressure centre lies ahead of the ankle, as it is in mid-stance, m (NaN: not measured).
        stance: stance over stride, from forces above 20 to 30 N.
    """

    attribution: str
    mass: float
    speed: float
    stride_time: float
    leg: float
    thigh: float
    shank: float
    ankle_height: float
    step_width: float
    segments: dict[str, np.ndarray]
    spread: dict[str, np.ndarray]
    pelvis: dict[str, np.ndarray]
    force: dict[str, np.ndarray]
    force_spread: dict[str, np.ndarray]
    pressure: np.ndarray
    stance: float

    def angle(self, segment: str, phase: np.ndarray) -> np.ndarray:
        """Angle of a segment at phases of the stride (cycles), rad."""
        return evaluate(self.segments[segment], phase)

    def ground_force(self, axis: str, phase: np.ndarray) -> np.ndarray:
        """Mean force on a foot at phases of its stride (cycles), body weights; zero in swing."""
        share = np.mod(phase, 1.0) / self.stance
        return np.interp(share, np.linspace(0, 1, STANCE), self.force[axis], right=0.0)


@cache
def measured_walk() -> MeasuredWalk:
    """The table that comes with Footfall."""
    return from_dict(json.loads((files("footfall.gait.human") / "human_walk.json").read_text(encoding="utf-8")))


def derive(folder: Path | str) -> MeasuredWalk:
    """The table from the processed recording: ``motion.csv``, ``joints.csv``, ``grf.csv``, ``subject.json``."""
    folder = Path(folder)
    try:
        subject = json.loads((folder / "subject.json").read_text(encoding="utf-8"))
        motion, joints, forces = (_read(folder / f"{name}.csv") for name in ("motion", "joints", "grf"))
    except OSError as error:
        raise FootfallError(f"cannot derive the walk: {error}") from error
    phase = np.linspace(0, 1, SAMPLES)
    strides: dict[str, list[np.ndarray]] = {name: [] for name in (*SEGMENTS, "trunk", "x", "z")}
    for stride in subject["strides"]:
        at = stride["t0"] + phase * stride["time"]
        for name in SEGMENTS:
            strides[name].append(np.radians(_at(motion, f"{stride['foot']}_{name}_deg", at)))
        strides["trunk"].append(np.radians(_at(motion, "trunk_pitch_proxy_deg", at)))
        x = _at(motion, "pelvis_x_m", at)
        strides["x"].append(x - x[0] - phase * (x[-1] - x[0]))
        strides["z"].append(_at(motion, "pelvis_z_m", at))
    series = {name: fit(phase[:-1], _periodic(np.mean(runs, axis=0))[:-1], HARMONICS) for name, runs in strides.items()}
    series["x"][0] = 0.0
    spread = {name: 0.5 * np.ptp(strides[name], axis=0)[:-1:2] for name in (*SEGMENTS, "trunk")}
    lengths = {
        name: float(np.mean([side[key] for side in subject["segments"].values()]))
        for name, key in (("thigh", "thigh_m"), ("shank", "shank_m"), ("ankle_height", "ankle_height_footflat_m"))
    }
    curves, pressure = _stances(subject, forces, joints)
    return MeasuredWalk(
        attribution=ATTRIBUTION,
        mass=subject["mass_kg"],
        speed=subject["speed_m_s"],
        stride_time=float(np.mean([s["time"] for s in subject["strides"]])),
        leg=sum(lengths.values()),
        **lengths,
        step_width=subject["step_width_m"],
        segments={name: series[name] for name in (*SEGMENTS, "trunk")},
        spread=spread,
        pelvis={"x": series["x"], "z": series["z"]},
        force={axis: np.mean(runs, axis=0) for axis, runs in curves.items()},
        force_spread={axis: 0.5 * np.ptp(runs, axis=0) for axis, runs in curves.items()},
        pressure=np.mean(pressure, axis=0),
        stance=float(np.mean([s["duration_s"] for s in subject["stances"] if s["clean"]]))
        / float(np.mean([s["time"] for s in subject["strides"]])),
    )


def _stances(
    subject: dict[str, Any], forces: dict[str, np.ndarray], joints: dict[str, np.ndarray]
) -> tuple[dict[str, list[np.ndarray]], list[np.ndarray]]:
    """The clean stances: forces in body weights and pressure centres ahead of the ankle, over stance."""
    curves: dict[str, list[np.ndarray]] = {"x": [], "y": [], "z": []}
    pressure = []
    weight = subject["mass_kg"] * subject["g"]
    share = np.linspace(0, 1, STANCE)
    for stance in subject["stances"]:
        if not stance["clean"]:
            continue
        own = {name: values[forces["plate"] == stance["plate"]] for name, values in forces.items()}
        at = stance["t_start_s"] + share * stance["duration_s"]
        inwards = 1.0 if stance["foot"] == "R" else -1.0
        for axis, sign in (("x", 1.0), ("y", inwards), ("z", 1.0)):
            curves[axis].append(sign * np.interp(at, own["time_s"], own[f"f{axis}_N"]) / weight)
        middle = stance["t_start_s"] + 0.4 * stance["duration_s"]
        ankle = float(_at(joints, f"{stance['foot']}_ankle_x_m", np.array([middle]))[0])
        pressure.append(np.interp(at, own["time_s"], own["copx_m"]) - ankle)
    return curves, pressure


def _at(table: dict[str, np.ndarray], name: str, time: np.ndarray) -> np.ndarray:
    from scipy.interpolate import CubicSpline

    return CubicSpline(table["time_s"], table[name])(time)


def _periodic(values: np.ndarray) -> np.ndarray:
    """The same with its end drawn to its beginning, by equal amounts at every instant."""
    ramp = np.linspace(-0.5, 0.5, len(values))
    return values - ramp * (values[-1] - values[0])


def _read(path: Path) -> dict[str, np.ndarray]:
    """Columns by name, numbers where they are such, NaN where blank."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for name in rows[0]:
        texts = [row[name] or "nan" for row in rows]
        columns[name] = np.array(texts) if name == "foot" else np.array(texts, dtype=float)
    return columns


def as_text(walk: MeasuredWalk) -> str:
    """The table as it is kept: JSON, numbers to 1e-6, a list in one line."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, np.ndarray):
            return [None if np.isnan(v) else round(float(v), 6) for v in value]
        return round(value, 6) if isinstance(value, float) else value

    text = json.dumps({key: plain(value) for key, value in asdict(walk).items()}, indent=1)
    return re.sub(r"\[[^\]]*\]", lambda found: " ".join(found[0].split()), text) + "\n"


def from_dict(table: dict[str, Any]) -> MeasuredWalk:
    """What ``as_text`` wrote, decoded."""

    def array(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: array(one) for key, one in value.items()}
        return np.array(value, dtype=float) if isinstance(value, list) else value

    return MeasuredWalk(**{key: array(value) for key, value in table.items()})
