"""Joints over time: a panel for each, left and right of a pair in one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RecordingError
from footfall.measure import joint_torques
from footfall.show.plots.common import Runs, at_least, legend, line, line_style, of_pair, show_all_time
from footfall.show.style import WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from footfall.record import Record

SLIDE, HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
SIDE = re.compile(r"^(left|right|l|r)[_\-. ]|[_\-. ](left|right|l|r)$", re.IGNORECASE)

#: Panels side by side: of six joints or fewer, and of more.
FEW, MANY = 3, 4


Values = Callable[["Record"], np.ndarray]


class Joint(NamedTuple):
    """An actuated joint: which side of the robot, if it says so, and what it is called there."""

    id: int
    side: str
    name: str
    slides: bool


def tracking(figure: Figure, runs: Runs) -> None:
    """Positions of the actuated joints; dotted what a position servo aims at."""
    axes = _panels(figure, runs, lambda rec: rec.qpos[:, rec.robot.model.jnt_qposadr], "position", ("rad", "m"), 0.01)
    first = next(iter(runs.values()))
    servos = _servos(first)
    for ax, group in zip(axes, _groups(first), strict=False):
        for joint in group:
            if joint.id in servos:
                line(ax, first, first.ctrl[:, servos[joint.id]], color="black", linestyle=":", linewidth=0.9,
                     label="aim")  # fmt: skip
    legend(figure, axes)


def torque(figure: Figure, runs: Runs) -> None:
    """What the actuators apply to the joints they act on."""
    axes = _panels(
        figure, runs, lambda rec: joint_torques(rec)[:, rec.robot.model.jnt_dofadr], "torque", ("N m", "N"), 0.1
    )
    legend(figure, axes)


def _panels(
    figure: Figure,
    runs: Runs,
    values: Callable[[Record], np.ndarray],
    what: str,
    units: tuple[str, str],
    span: float,
) -> list[Axes]:
    """A panel for each group of joints: colours for sides, or for recordings, whose sides differ in dash."""
    first = next(iter(runs.values()))
    groups = _groups(first)
    if not groups:
        raise RecordingError(f"{first.robot.name} has no actuated joints to plot")
    columns = min(FEW if len(groups) <= 2 * FEW else MANY, len(groups))
    rows = -(-len(groups) // columns)
    figure.set_size_inches(WIDTH, 0.9 + 1.5 * rows)
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).ravel())
    show_all_time(panels[0], runs)
    tables = {label: values(rec) for label, rec in runs.items()}
    for i, (ax, group) in enumerate(zip(panels, groups, strict=False)):
        for r, (label, rec) in enumerate(runs.items()):
            for s, joint in enumerate(group):
                name = (joint.side or what) if len(runs) == 1 else f"{label}, {joint.side}" if joint.side else label
                style = of_pair(s) if len(runs) == 1 and len(group) > 1 else line_style(r, s)
                line(ax, rec, tables[label][:, joint.id], label=name, **style)
        sliding = group[0].slides
        ax.set_title(group[0].name.replace("_", " ") + (f" ({units[1]})" if sliding else ""))
        if i % columns == 0:
            ax.set_ylabel(f"{what} ({units[0]})")
        at_least(ax, span)
        if i + columns >= len(groups):  # the lowest of its column has the times
            ax.set_xlabel("time (s)")
            ax.tick_params(labelbottom=True)
    for ax in panels[len(groups) :]:
        ax.set_visible(False)
    return panels[: len(groups)]


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
