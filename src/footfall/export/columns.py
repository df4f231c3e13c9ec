"""A recording as named columns with units, for formats that are tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.measure import cop, overall_cop, zmp

if TYPE_CHECKING:
    from footfall.record import Record

FREE, BALL, SLIDE = (
    int(kind) for kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_SLIDE)
)
XYZ, QUATERNION = ("x", "y", "z"), ("qw", "qx", "qy", "qz")


class NamedColumn(NamedTuple):
    """One number per sample."""

    name: str
    unit: str  # "" for pure numbers
    values: np.ndarray  # (T,)

    @property
    def title(self) -> str:
        """As the head of a table has it: ``left_knee.position [rad]``."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns(rec: Record) -> list[NamedColumn]:
    """Time, joints, controls, feet, pressure centres, contact points and signals, in this order.

    Names are ``joint.quantity``, ``actuator.control``, ``foot.quantity.axis`` and ``foot.point.quantity.axis``.
    """
    found = [NamedColumn("time", "s", rec.time)]
    found += joint_positions(rec) + joint_velocities(rec)
    for i in range(rec.robot.model.nu):
        name = rec.robot.model.actuator(i).name or f"actuator{i}"
        found.append(NamedColumn(f"{name}.control", "", rec.ctrl[:, i]))
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
    """What ``qpos`` holds, joint by joint."""
    found = []
    for j, name in enumerate(rec.robot.joint_names):
        kind, at = int(rec.robot.model.jnt_type[j]), int(rec.robot.model.jnt_qposadr[j])
        if kind == FREE:
            parts = [*((axis, "m") for axis in XYZ), *((axis, "") for axis in QUATERNION)]
        elif kind == BALL:
            parts = [(axis, "") for axis in QUATERNION]
        else:
            parts = [("position", "m" if kind == SLIDE else "rad")]
        found += [NamedColumn(f"{name}.{part}", unit, rec.qpos[:, at + i]) for i, (part, unit) in enumerate(parts)]
    return found


def joint_velocities(rec: Record) -> list[NamedColumn]:
    """What ``qvel`` holds, joint by joint; a free joint turns in its body's frame, as MuJoCo has it."""
    found = []
    for j, name in enumerate(rec.robot.joint_names):
        kind, at = int(rec.robot.model.jnt_type[j]), int(rec.robot.model.jnt_dofadr[j])
        turns = [(f"w{axis}", "rad/s") for axis in XYZ]
        if kind == FREE:
            parts = [*((f"v{axis}", "m/s") for axis in XYZ), *turns]
        elif kind == BALL:
            parts = turns
        else:
            parts = [("velocity", "m/s" if kind == SLIDE else "rad/s")]
        found += [NamedColumn(f"{name}.{part}", unit, rec.qvel[:, at + i]) for i, (part, unit) in enumerate(parts)]
    return found


def _vectors(name: str, unit: str, values: np.ndarray) -> list[NamedColumn]:
    return [NamedColumn(f"{name}.{axis}", unit, values[:, i]) for i, axis in enumerate(XYZ)]
