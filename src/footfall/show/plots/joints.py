"""Joints over time: a panel for each, left and right of a pair in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.control.posture import Posture
from footfall.errors import RecordingError
from footfall.measure import joint_torques
from footfall.show.panels import ABOVE, BELOW, Curve, Panel, Runs

if TYPE_CHECKING:
    from footfall.record import Record

SLIDE, HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
SIDE = re.compile(r"^(left|right|l|r)[_\-. ]|[_\-. ](left|right|l|r)$", re.IGNORECASE)


Values = Callable[["Record"], np.ndarray]


class Joint(NamedTuple):
    """An actuated joint: which side of the robot, if it says so, and what it is called there."""

    id: int
    side: str
    name: str
    slides: bool


def tracking(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Positions of the actuated joints; dotted what the controller, or a position servo, aims at."""
    first = next(iter(runs.values()))
    aims = _aims(first)
    quantity = Quantity("position", ("rad", "m"), 0.01, lambda rec: rec.qpos[:, rec.robot.model.jnt_qposadr])
    found = []
    for panel, group in zip(_panels(runs, quantity), _groups(first), strict=True):
        own = tuple(
            Curve("reference", first.time, aims[joint.id], dash=2, width=0.9, role="aim")
            for joint in group
            if joint.id in aims
        )
        found.append(replace(panel, curves=panel.curves + own))
    return found


def torque(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """What the actuators apply to the joints they act on."""
    values: Values = lambda rec: joint_torques(rec)[:, rec.robot.model.jnt_dofadr]  # noqa: E731
    return _panels(runs, Quantity("torque", ("N m", "N"), 0.1, values))


class Quantity(NamedTuple):
    """What is drawn of joints: its name, its units for hinges and slides, the least height of a panel, its values."""

    name: str
    units: tuple[str, str]
    narrow: float
    values: Values  # (T, joints)


def _panels(runs: Runs, quantity: Quantity) -> list[Panel]:
    """A panel for each group of joints: colours for sides, or for recordings, whose sides differ in dash."""
    first = next(iter(runs.values()))
    groups = _groups(first)
    if not groups:
        raise RecordingError(f"{first.robot.name} has no actuated joints to plot")
    tables = {label: quantity.values(rec) for label, rec in runs.items()}
    return [_panel(runs, tables, group, quantity) for group in groups]


def _panel(runs: Runs, tables: Mapping[str, np.ndarray], group: list[Joint], quantity: Quantity) -> Panel:
    alone, curves = len(runs) == 1, []
    for r, (label, rec) in enumerate(runs.items()):
        for s, joint in enumerate(group):
            side = joint.side
            name = (side or quantity.name) if alone else f"{label}, {side}" if side else label
            color, dash, width = (s, 0, BELOW if s == 0 else ABOVE) if alone and len(group) > 1 else (r, s, 1.2)
            curves.append(Curve(name, rec.time, tables[label][:, joint.id], color, dash, width))
    name, unit = group[0].name.replace("_", " "), quantity.units[group[0].slides]
    return Panel(
        title=f"{quantity.name.capitalize()} of {name}",
        label=quantity.name,
        unit=quantity.units[0],
        heading=name if unit == quantity.units[0] else f"{name} ({unit})",
        curves=tuple(curves),
        narrow=quantity.narrow,
    )


def _groups(rec: Record) -> list[list[Joint]]:
    """The actuated hinges and slides; those that differ in side only together, left first."""
    model = rec.robot.model
    found: dict[str, list[Joint]] = {}
    for name in rec.robot.actuated:
        joint = rec.robot.joint_names.index(name)
        if model.jnt_type[joint] not in (SLIDE, HINGE):
            continue
        side = SIDE.search(name)
        word = (side[1] or side[2]).lower() if side else ""
        short = SIDE.sub("", name) if side else name
        found.setdefault(short, []).append(Joint(joint, word, short, bool(model.jnt_type[joint] == SLIDE)))
    return list(found.values())


def _aims(rec: Record) -> dict[int, np.ndarray]:
    """(T,) rad or m, where each joint shall be, by joint: of the controller's reference, else of a servo's control."""
    model = rec.robot.model
    wanted = rec.signals.get("q_reference")
    name = str(rec.info.get("controller", ""))
    if wanted is None and (name == "posture" or name.startswith("Posture(target=None")):
        target = Posture().gains(rec.robot, rec.ground, rec.dt).reshape(model.nu, -1)[:, 2]
        wanted = np.broadcast_to(target, (len(rec), model.nu))
    if wanted is not None and wanted.shape == (len(rec), model.nu):
        return {int(model.actuator_trnid[i, 0]): wanted[:, i] for i in range(model.nu)}
    return {joint: rec.ctrl[:, actuator] for joint, actuator in _servos(rec).items()}


def _servos(rec: Record) -> dict[int, int]:
    """The actuator that holds each joint at its control, by joint."""
    model = rec.robot.model
    direct = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    return {
        int(model.actuator_trnid[i, 0]): i
        for i in range(model.nu)
        if model.actuator_trntype[i] in direct
        and model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        and np.isclose(model.actuator_gainprm[i, 0], -model.actuator_biasprm[i, 1])
        and model.actuator_gainprm[i, 0] != 0.0
        and model.actuator_gear[i, 0] == 1.0
    }
