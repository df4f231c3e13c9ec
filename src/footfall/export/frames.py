"""A recording for data analysis: pandas and xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footfall.errors import optional_package
from footfall.export.columns import columns
from footfall.measure import cop, zmp
from footfall.record import Record
from footfall.record.record import COLUMNS

if TYPE_CHECKING:
    import pandas
    import xarray


def to_pandas(rec: Record) -> pandas.DataFrame:
    """A table with a row per sample, indexed by time (s); names as in the CSV, units in ``frame.attrs["units"]``."""
    pandas = optional_package("pandas", "this needs pandas: pip install pandas")
    found = columns(rec)
    time = pandas.Index(found[0].values, name="time")
    frame = pandas.DataFrame({one.name: one.values for one in found[1:]}, index=time)
    frame.attrs["units"] = {one.name: one.unit for one in found}
    return frame


def to_xarray(rec: Record) -> xarray.Dataset:
    """The arrays with named axes (time, point, xyz, ...), units, and the names of points and joints."""
    xarray = optional_package("xarray", "this needs xarray: pip install xarray")
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
        "nu": [rec.robot.model.actuator(i).name or f"actuator{i}" for i in range(rec.robot.model.nu)],
    }
    about = {"robot": rec.robot.name, "law": str(rec.law), "dt": rec.dt}
    return xarray.Dataset(variables, coordinates, about)
