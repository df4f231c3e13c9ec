"""Plots over time: ground reaction forces, contact points, their modes, joints, energy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from footfall import measure
from footfall.control.posture import Posture
from footfall.errors import RecordingError
from footfall.files.measured import Measured
from footfall.measure import joint_torques
from footfall.measure.common import normal_force, tangential, threshold
from footfall.measure.forces import measured_feet
from footfall.record import Record
from footfall.robot.facing import axis_words
from footfall.robot.model import AT_JOINT, HINGE, SLIDE
from footfall.show.panels import (
    ABOVE,
    BELOW,
    FEET,
    GREY,
    NO_RUN,
    Curve,
    Limit,
    ModeRow,
    Panel,
    Runs,
    each_foot,
    each_run,
)
from footfall.standing import at_home

# ---- ground reaction forces -----------------------------------------------------------------------------------------


#: Line styles of what was measured, and of peaks between samples.
DOTTED, PEAK = 2, 3


def grf(runs: Runs, *, measured: Measured | None = None) -> list[Panel]:
    """Vertical, forward and sideways force: each foot and their sum of one recording, the sums of several.

    Where steps were left out the curves are means until the next sample, and beside them stands the force at the peak
    load. ``measured`` forces (see ``footfall.load_forces``) are laid over them, dotted.
    """
    first = next(iter(runs.values()))
    theirs = _measured(first, measured, alone=len(runs) == 1) if measured is not None else []
    shown = [(rec, curve, rec.total_force, rec.peak_total_force) for rec, curve in each_run(runs)]
    if len(runs) == 1:
        shown = [(rec, c, rec.foot_force[:, f], rec.peak_foot_force[:, f]) for rec, f, c in each_foot(runs)]
    weight = first.robot.weight
    found = []
    ways = (*axis_words(first.robot.forward), "vertical")
    for axis, letter in ((2, "z"), (0, "x"), (1, "y")):
        way = ways[axis]
        curves = [curve._replace(values=mean[:, axis]) for _, curve, mean, _ in shown]
        curves += [
            curve._replace(name=f"{curve.name}, peak", values=peak[:, axis], dash=PEAK, width=0.8)
            for rec, curve, _, peak in shown
            if not rec.every_step
        ]
        if len(runs) == 1 and len(first.robot.feet) > 1:
            curves.append(Curve("total", first.time, first.total_force[:, axis], GREY, width=0.8))
        curves += [curve._replace(values=force[:, axis]) for curve, force in theirs]
        up = axis == 2 and weight > 0.0
        panel = Panel(
            title=f"Ground reaction force, {way}, {letter}",
            label=f"{way}, {letter}",
            unit="N",
            curves=tuple(curves),
            limits=(Limit(weight, "weight"),) if up else (),
            zero=up,
            narrow=0.02 * (weight or 1.0),
            whole=(weight, "of weight") if up else None,
        )
        found.append(panel)
    return found


def _measured(rec: Record, measured: Measured, *, alone: bool) -> list[tuple[Curve, np.ndarray]]:
    """A curve without values, and the measured force (T, 3) N, for each foot that was measured, in its colour.

    Beside several recordings, which show their sums, it is the sum alone, in a colour of none; single feet where it is
    not known.
    """
    names = [foot.name for foot in rec.robot.feet]
    force = {name: measured.vector(f"{name}.force") for name, _ in measured_feet(rec, measured)}
    if not alone and "total" not in force and set(names) <= set(force):
        force["total"] = np.sum([force[name] for name in names], axis=0)
    shown = ["total"] if not alone and "total" in force else list(force)
    found = []
    for name in shown:
        color = FEET[names.index(name) % len(FEET)] if alone and name in names else GREY
        curve = Curve(f"{name}, measured", measured.time, np.empty(0), color, DOTTED, run=NO_RUN, measured=True)
        found.append((curve._replace(part="" if name == "total" else f", {name}"), force[name]))
    return found


# ---- contact points: the worst of each foot -------------------------------------------------------------------------


#: Least normal force for a ratio of forces, as a share of the robot's weight.
PRESSED = 1e-3

Values = Callable[["Record"], np.ndarray]
Worst = Callable[..., np.ndarray]


def normal(runs: Runs) -> list[Panel]:
    """Normal force of the most loaded point."""
    about = Panel(title="Normal force", label="normal force", unit="N", zero=True)
    return [_of_worst(runs, about, normal_force, "largest", np.max)]


def friction(runs: Runs) -> list[Panel]:
    """Largest ratio of tangential over normal force of loaded points, with the ground's coefficients."""
    ground = next(iter(runs.values())).ground
    lines = [Limit(ground.static_friction, "static friction"), Limit(ground.dynamic_friction, "dynamic friction")]
    if ground.static_friction == ground.dynamic_friction:
        lines = [Limit(ground.dynamic_friction, "friction")]
    about = Panel(
        title="Friction used: tangential over normal force",
        label="force ratio",
        unit="",
        limits=tuple(lines),
        zero=True,
    )
    return [_of_worst(runs, about, _ratio, "largest", np.fmax.reduce)]


def penetration(runs: Runs) -> list[Panel]:
    """Depth of the deepest point in the ground."""
    about = Panel(title="Depth in the ground", label="depth", unit="mm", zero=True, narrow=1e-3)
    return [_of_worst(runs, about, lambda rec: np.maximum(0.0, -1e3 * rec.gap), "deepest", np.max)]


def heights(runs: Runs) -> list[Panel]:
    """Height of the lowest point over the ground, negative inside."""
    about = Panel(title="Height over the ground", label="height", unit="mm", limits=(Limit(0.0, ""),), narrow=0.01)
    return [_of_worst(runs, about, lambda rec: 1e3 * rec.gap, "lowest", np.min)]


def _ratio(rec: Record) -> np.ndarray:
    load = normal_force(rec)
    pressed = load > max(PRESSED * rec.robot.weight, threshold(rec))
    size = np.linalg.norm(tangential(rec, rec.force), axis=-1)
    return np.where(pressed, size / np.where(pressed, load, 1.0), np.nan)


def _of_worst(runs: Runs, about: Panel, values: Values, which: str, worst: Worst) -> Panel:
    """The ``worst`` value of all points of each foot of one recording, or of each of several recordings."""
    if len(runs) > 1:
        curves = [curve._replace(values=worst(values(rec), axis=1)) for rec, curve in each_run(runs)]
        return replace(about, title=f"{about.title}, {which} point", curves=tuple(curves))
    table = values(next(iter(runs.values())))
    curves = [
        curve._replace(values=worst(table[:, rec.foot(rec.robot.feet[f].name)], axis=1))
        for rec, f, curve in each_foot(runs)
    ]
    return replace(about, title=f"{about.title}, {which} point of each foot", curves=tuple(curves))


def point_names(rec: Record, foot: int) -> list[str]:
    """What the points of a foot are called: "front left" of four corners, of one alone nothing, else "point 1", ...."""
    local = sole_frame(rec, foot)
    count = len(local)
    if count == 1:
        return [""]
    along, across = local[:, 0] - local[:, 0].mean(), local[:, 1] - local[:, 1].mean()
    if count == 2 and np.ptp(along) > np.ptp(across):
        return ["heel" if x < 0 else "toe" for x in along]
    named = [
        f"{'front' if x > 0 else 'rear'} {'left' if y > 0 else 'right'}" for x, y in zip(along, across, strict=True)
    ]
    return named if count == 4 and len(set(named)) == 4 else [f"point {i + 1}" for i in range(count)]


def sole_frame(rec: Record, foot: int, points: np.ndarray | None = None) -> np.ndarray:
    """(N, 3) m, points of a foot's body, turned as the foot stands at home: x forward. Left out, its contact points."""
    own = rec.robot.feet[foot]
    data = at_home(rec.robot)
    return np.asarray(own.points if points is None else points) @ data.body(own.body).xmat.reshape(3, 3).T


# ---- contact modes --------------------------------------------------------------------------------------------------


#: More rows than this are named in short.
MANY = 12


def modes(runs: Runs) -> list[Panel]:
    """Open, stick or slide: a row for each point of one recording, for each foot of several."""
    rows = []
    for label, rec in runs.items():
        for f, foot in enumerate(rec.robot.feet):
            mode = rec.mode[:, rec.foot(foot.name)]
            if len(runs) == 1:
                named = point_names(rec, f)
                if rec.robot.point_count > MANY:
                    named = [f"{_initials(foot.name)} {p + 1}" for p in range(len(named))]
                elif len(rec.robot.feet) > 1:
                    named = [f"{foot.name}, {name}".removesuffix(", ") for name in named]
                rows += [ModeRow(name, rec.time, mode[:, p], p == 0) for p, name in enumerate(named)]
            else:
                name = f"{label}, {foot.name}" if len(rec.robot.feet) > 1 else label
                rows.append(ModeRow(name, rec.time, mode.max(axis=1), f == 0))
    return [Panel(title="Contact modes", label="", unit="", rows=tuple(rows))]


def _initials(name: str) -> str:
    parts = name.replace("-", "_").split("_")
    return name if len(name) <= 6 else "".join(part[:1] for part in parts).upper()


# ---- joints: a panel for each, left and right of a pair in one ------------------------------------------------------


SIDE = re.compile(r"^(left|right|l|r)[_\-. ]|[_\-. ](left|right|l|r)$", re.IGNORECASE)


class Joint(NamedTuple):
    """An actuated joint: which side of the robot, if it says so, and what it is called there."""

    id: int
    side: str
    name: str
    slides: bool


def tracking(runs: Runs) -> list[Panel]:
    """Positions of the actuated joints; dotted what the controller, or a position servo, aims at."""
    first = next(iter(runs.values()))
    aims = _aims(first)
    quantity = Quantity("position", ("rad", "m"), 0.01, lambda rec: rec.qpos[:, rec.robot.model.jnt_qposadr])
    found = []
    for panel, group in zip(_joint_panels(runs, quantity), _groups(first), strict=True):
        own = tuple(
            Curve("reference", first.time, aims[joint.id], dash=2, width=0.9, role="aim")
            for joint in group
            if joint.id in aims
        )
        found.append(replace(panel, curves=panel.curves + own))
    return found


def torque(runs: Runs) -> list[Panel]:
    """What the actuators apply to the joints they act on."""
    values: Values = lambda rec: joint_torques(rec)[:, rec.robot.model.jnt_dofadr]  # noqa: E731
    return _joint_panels(runs, Quantity("torque", ("N m", "N"), 0.1, values))


class Quantity(NamedTuple):
    """What is drawn of joints: its name, its units for hinges and slides, the least height of a panel, its values."""

    name: str
    units: tuple[str, str]
    narrow: float
    values: Values  # (T, joints)


def _joint_panels(runs: Runs, quantity: Quantity) -> list[Panel]:
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
    gain, bias = model.actuator_gainprm[:, 0], model.actuator_biasprm[:, 1]
    servos = np.isin(model.actuator_trntype, AT_JOINT) & (gain != 0.0) & np.isclose(gain, -bias)
    held = np.flatnonzero(servos & (model.actuator_gear[:, 0] == 1.0))  # at its control, and not at a multiple of it
    return {int(model.actuator_trnid[i, 0]): rec.ctrl[:, i] for i in held}


# ---- energy ---------------------------------------------------------------------------------------------------------


def energy(runs: Runs) -> list[Panel]:
    """Kinetic and potential energy, works since the first sample; of several recordings a panel for each quantity."""
    own = {label: measure.energy(rec) for label, rec in runs.items()}
    if len(runs) > 1:
        quantities = {
            "mechanical energy": {label: one.mechanical - one.mechanical[:1] for label, one in own.items()},
            "work of the ground": {label: one.contact_work for label, one in own.items()},
            "work of actuators": {label: one.actuator_work for label, one in own.items()},
        }
        return [
            _joules(
                f"{name.capitalize()} since the start",
                name,
                [curve._replace(values=values[curve.name]) for _, curve in each_run(runs)],
            )
            for name, values in quantities.items()
        ]
    (rec,), (one,) = runs.values(), own.values()
    shown = {
        "kinetic": one.kinetic,
        "potential, since the start": one.potential - one.potential[:1],
        "work of actuators": one.actuator_work,
        "work of the ground": one.contact_work,
        "lost": one.dissipated,
    }
    curves = [Curve(name, rec.time, values, i) for i, (name, values) in enumerate(shown.items())]
    return [
        _joules("Energy", "energy", curves[:2]),
        _joules("Work and loss since the start", "since the start", curves[2:]),
    ]


def _joules(title: str, label: str, curves: list[Curve]) -> Panel:
    return Panel(title=title, label=label, unit="J", curves=tuple(curves), narrow=1e-3)
