"""A recording as named columns with units: CSV, Parquet, NumPy's .npz, pandas and xarray."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from footfall.errors import optional_package
from footfall.files.parquet import write_table
from footfall.measure import cop, overall_cop, zmp
from footfall.record import COLUMNS, Record
from footfall.robot.model import BALL, FREE, HINGE, SLIDE

if TYPE_CHECKING:
    import pandas
    import xarray


XYZ, QUATERNION = ("x", "y", "z"), ("qw", "qx", "qy", "qz")


class NamedColumn(NamedTuple):
    """One number per sample."""

    name: str
    unit: str  # "" for pure numbers
    values: np.ndarray  # (T,)

    @property
    def title(self) -> str:
        """The heading in a table: ``left_knee.position [rad]``."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns(rec: Record) -> list[NamedColumn]:
    """Time, joints, controls, feet, pressure centres, contact points and signals, in this order.

    Names are ``joint.quantity``, ``actuator.control``, ``foot.quantity.axis`` and ``foot.point.quantity.axis``.
    """
    found = [NamedColumn("time", "s", rec.time)]
    found += joint_positions(rec) + joint_velocities(rec)
    found += [NamedColumn(f"{name}.control", "", rec.ctrl[:, i]) for i, name in enumerate(rec.robot.actuator_names)]
    centre = cop(rec)
    for f, foot in enumerate(rec.robot.feet):
        found += _vectors(f"{foot.name}.force", "N", rec.foot_force[:, f])
        found += _vectors(f"{foot.name}.cop", "m", centre[:, f])
    found += _vectors("cop", "m", overall_cop(rec))
    found += _vectors("zmp", "m", zmp(rec))
    for p, name in enumerate(rec.point_names):
        found += _vectors(f"{name}.force", "N", rec.force[:, p])
        found += _vectors(f"{name}.position", "m", rec.position[:, p])
        found += _vectors(f"{name}.velocity", "m/s", rec.velocity[:, p])
        found.append(NamedColumn(f"{name}.gap", "m", rec.gap[:, p]))
        found.append(NamedColumn(f"{name}.mode", "", rec.mode[:, p]))
    found.append(NamedColumn("status", "", rec.status))
    for name, values in rec.signals.items():
        unit = rec.info.get("signals", {}).get(name, "")
        for place in np.ndindex(values.shape[1:]):
            parts = ".".join(str(i) for i in place)
            found.append(NamedColumn(f"{name}.{parts}" if parts else name, unit, values[:, *place]))
    return found


def joint_positions(rec: Record) -> list[NamedColumn]:
    """The columns of ``qpos``, joint by joint."""
    place, turn = [(axis, "m") for axis in XYZ], [(axis, "") for axis in QUATERNION]
    parts = {FREE: [*place, *turn], BALL: turn, SLIDE: [("position", "m")], HINGE: [("position", "rad")]}
    return _by_joint(rec, rec.qpos, rec.robot.model.jnt_qposadr, parts)


def joint_velocities(rec: Record) -> list[NamedColumn]:
    """The columns of ``qvel``, joint by joint; the angular velocity of a free joint is in its body's frame, as in
    MuJoCo.
    """
    place, turn = [(f"v{axis}", "m/s") for axis in XYZ], [(f"w{axis}", "rad/s") for axis in XYZ]
    parts = {FREE: [*place, *turn], BALL: turn, SLIDE: [("velocity", "m/s")], HINGE: [("velocity", "rad/s")]}
    return _by_joint(rec, rec.qvel, rec.robot.model.jnt_dofadr, parts)


def _by_joint(
    rec: Record, values: np.ndarray, address: np.ndarray, parts: dict[int, list[tuple[str, str]]]
) -> list[NamedColumn]:
    """The columns of an array with their names and units, which are ``parts`` by the kind of joint."""
    return [
        NamedColumn(f"{name}.{part}", unit, values[:, int(address[j]) + i])
        for j, name in enumerate(rec.robot.joint_names)
        for i, (part, unit) in enumerate(parts[int(rec.robot.model.jnt_type[j])])
    ]


def _vectors(name: str, unit: str, values: np.ndarray) -> list[NamedColumn]:
    return [NamedColumn(f"{name}.{axis}", unit, values[:, i]) for i, axis in enumerate(XYZ)]


# ---- CSV: empty cells where a quantity is not defined ---------------------------------------------------------------


def write_csv(rec: Record, path: Path) -> None:
    """Write numbers with all digits: they are read back to the last bit."""
    table = columns(rec)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([column.title for column in table])
        for row in zip(*(column.values.tolist() for column in table), strict=True):
            out.writerow(["" if isinstance(x, float) and math.isnan(x) else x for x in row])


# ---- Parquet, for DuckDB, Polars and pandas -------------------------------------------------------------------------


def write_parquet(rec: Record, path: Path) -> None:
    """One row per sample; a column is called as in CSV files, ``left.force.z [N]``."""
    found = columns(rec)
    units = json.dumps({one.title: one.unit for one in found})
    said = {"robot": rec.robot.name, "law": rec.law.name, "ground": rec.ground.kind, "dt_s": repr(rec.dt)}
    write_table(path, {one.title: one.values for one in found}, {**said, "units": units}, max(1, len(rec)))


# ---- NumPy ----------------------------------------------------------------------------------------------------------


def write_npz(rec: Record, path: Path) -> None:
    """``description`` is a JSON object: units, robot, law, ground, names of joints, actuators, feet."""
    description = {
        "units": {
            **{name: column.unit for name, column in COLUMNS.items()},
            "foot_force": "N",
            "cop": "m",
            "zmp": "m",
            **{f"signal_{name}": unit for name, unit in rec.info.get("signals", {}).items()},
        },
        "robot": rec.robot.name,
        "mass_kg": rec.robot.mass,
        "law": rec.law.to_dict(),
        "ground": str(rec.ground),
        "friction": [rec.ground.static_friction, rec.ground.dynamic_friction],
        "dt_s": rec.dt,
        "joints": list(rec.robot.joint_names),
        "actuators": list(rec.robot.actuator_names),
        "feet": [foot.name for foot in rec.robot.feet],
        "points": list(rec.point_names),
        "point_foot": rec.robot.point_foot.tolist() + [-1] * len(rec.other_points),
        "failure": None if rec.failure is None else rec.failure.message,
    }
    arrays = {name: getattr(rec, name) for name in (*COLUMNS, "foot_force", "cop", "zmp")}
    arrays |= {f"signal_{name}": values for name, values in rec.signals.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, description=json.dumps(description), **arrays)


# ---- pandas and xarray ----------------------------------------------------------------------------------------------


def to_pandas(rec: Record) -> pandas.DataFrame:
    """A table with a row per sample, indexed by time (s); names as in the CSV, units in ``frame.attrs["units"]``."""
    pandas = optional_package("pandas")
    found = columns(rec)
    time = pandas.Index(found[0].values, name="time")
    frame = pandas.DataFrame({one.name: one.values for one in found[1:]}, index=time)
    frame.attrs["units"] = {one.name: one.unit for one in found}
    return frame


def to_xarray(rec: Record) -> xarray.Dataset:
    """The arrays with named axes (time, point, xyz, ...), units, and the names of points and joints."""
    xarray = optional_package("xarray")
    variables: dict[str, Any] = {}
    for name, column in COLUMNS.items():
        if name != "time":
            variables[name] = (("time", *column.axes), getattr(rec, name), {"units": column.unit})
    variables["cop"] = (("time", "foot", "xyz"), cop(rec), {"units": "m"})
    variables["zmp"] = (("time", "xyz"), zmp(rec), {"units": "m"})
    units = rec.info.get("signals", {})
    for name, values in rec.signals.items():
        axes = tuple(f"{name}_{i}" for i in range(values.ndim - 1))
        variables[f"signal_{name}"] = (("time", *axes), values, {"units": units.get(name, "")})
    coordinates: dict[str, Any] = {
        "time": ("time", rec.time, {"units": "s"}),
        "xyz": list("xyz"),
        "foot": [foot.name for foot in rec.robot.feet],
        "nu": list(rec.robot.actuator_names),
    }
    about = {"robot": rec.robot.name, "law": str(rec.law), "dt": rec.dt}
    return xarray.Dataset(variables, coordinates, about)
