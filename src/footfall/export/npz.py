"""NumPy's .npz: the arrays of a recording under their names, pressure centres, and what they are as JSON text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from footfall.record import COLUMNS

if TYPE_CHECKING:
    from footfall.record import Record


def write(rec: Record, path: Path) -> None:
    """``description`` is a JSON object: units, robot, law, ground, names of joints, actuators, feet."""
    model = rec.robot.model
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
        "actuators": [model.actuator(i).name for i in range(model.nu)],
        "feet": [foot.name for foot in rec.robot.feet],
        "points": list(rec.point_names),
        "point_foot": rec.robot.point_foot.tolist() + [-1] * len(rec.other_points),
        "failure": None if rec.failure is None else rec.failure.message,
    }
    arrays = {name: getattr(rec, name) for name in (*COLUMNS, "foot_force", "cop", "zmp")}
    arrays |= {f"signal_{name}": values for name, values in rec.signals.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, description=json.dumps(description), **arrays)
