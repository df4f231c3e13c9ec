"""Trials other than tosses that a law is fitted to: ground forces, single impacts, parts of a log; and their set-up."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.control.replay import Replay, Use
from footfall.errors import SolveError, StudyError, did_you_mean
from footfall.files.measured import Measured
from footfall.files.tables import read_columns
from footfall.logs.difference import apart
from footfall.logs.log import Log
from footfall.measure.common import once
from footfall.measure.forces import measured_feet
from footfall.record import Push
from footfall.robot import Robot, load_robot
from footfall.robot.model import HINGE, SLIDE
from footfall.simulation import Simulation
from footfall.simulation.controls import find_controller, initial_state
from footfall.solve.impacts import Collision
from footfall.standing import at_home, unit_rise
from footfall.study.fit.search import Range
from footfall.study.fit.tosses import TOSS_WEIGHTS, Toss, box, cube, follow, step_of


@dataclass(frozen=True, eq=False)
class ForceTrial:
    """Ground forces measured during a motion that a simulation can repeat.

    Attributes:
        measured: vectors ``FOOT.force`` or ``total.force`` in N with z up, as ``footfall.load_forces`` returns; its
            time counts from the start of the run, s. Gaps (NaN) are not compared.
        qpos, qvel: (nq,) and (nv,) start; left out, where the controller starts, else home on the ground and at rest.
        drop: m, how much higher than ``qpos`` the root starts.
        controller: as of ``Simulation.run``.
        pushes: that acted on the robot.
    """

    measured: Measured
    qpos: Sequence[float] | np.ndarray | None = None
    qvel: Sequence[float] | np.ndarray | None = None
    drop: float = 0.0
    controller: Callable[..., Any] | Any = None
    pushes: Sequence[Push] = field(default=())

    def __post_init__(self) -> None:
        first, last = (float(self.measured.time[i]) for i in (0, -1))
        elsewhere = first > last - first > 0.0  # it begins after more than its duration: times of a laboratory's clock
        if first < 0.0 or last <= 0.0 or elsewhere:
            raise StudyError(
                f"{self.measured.source}: time runs from {first:g} to {last:g} s, "
                "and counts from the start of the run: shift it so that this is 0, with measured.shifted(SECONDS)"
            )


def follow_forces(sim: Simulation, trial: ForceTrial, weight: float | None = None) -> dict[str, np.ndarray]:
    """The difference of the forces in body weights, over all feet that are measured, as long as its root mean square.

    ``weight`` (N) is that of a body; left out, of the simulated one. Where masses are fitted it must not change: a
    heavy robot would have small errors.

    The force of a step is compared at its own time, between steps by straight lines; what is measured with a low pass
    is best compared with a step of about its rate. A run that fails has no force after its end.
    """
    qpos, qvel, controller = trial.qpos, trial.qvel, find_controller(trial.controller, sim.robot)[1]
    if qpos is None and qvel is None:
        qpos, qvel = initial_state(controller, sim.robot, sim.ground)
    qpos = np.array(sim.place() if qpos is None else qpos, dtype=float)
    if trial.drop:
        qpos += trial.drop * unit_rise(sim.robot)
    measured = trial.measured
    rec = sim.run(float(measured.time[-1]), qpos=qpos, qvel=qvel, controller=controller, pushes=trial.pushes)
    missed, count = [], 0
    for foot, simulated in measured_feet(rec, measured):
        theirs = measured.vector(f"{foot}.force")
        axes = np.isfinite(theirs).any(axis=0)  # of load cells the vertical one alone
        known = np.isfinite(theirs[:, axes]).all(axis=1)
        if not axes.any() or not known.any():
            continue
        time = measured.time[known]
        ours = np.column_stack([np.interp(time, rec.time, own, right=0.0) for own in simulated[:, axes].T])
        missed.append((ours - theirs[known][:, axes]).ravel())
        count += int(known.sum())
    if not count:
        raise StudyError(f"{measured.source} has gaps throughout: there is no force to compare")
    body = sim.robot.weight if weight is None else weight
    return {"force_weights": np.concatenate(missed) / (body * np.sqrt(count))}


#: Columns of a table of planar impacts, before and after; the vertical one may be called z or y.
_WHEN = {"before": ("before", "pre", "minus", "0", "in"), "after": ("after", "post", "plus", "1", "out")}


@dataclass(frozen=True, eq=False)
class ImpactTrial:
    """One impact of a body or robot at one point.

    Attributes:
        name: such as "impact 7".
        mass_matrix: (nv, nv).
        jacobian: (3, nv) of the point that touches: two tangents and the normal out of the ground.
        before, after: (nv,) measured velocities.
        rule: of restitution, ``"newton"``, ``"poisson"`` or ``"energetic"``, see ``footfall.solve.impact``.
    """

    name: str
    mass_matrix: np.ndarray
    jacobian: np.ndarray
    before: np.ndarray
    after: np.ndarray
    rule: str = "newton"


def follow_impact(sim: Simulation, trial: ImpactTrial) -> dict[str, np.ndarray]:
    """Error of the velocity after an impact in the norm of the kinetic energy, relative to that before it."""
    if not hasattr(sim.law, "restitution"):
        raise StudyError(f"{sim.law.name} has no restitution to fit to impacts: take time-stepping")
    from footfall.solve.impacts import collide  # on first use, with SciPy

    try:
        found = collide(_collision(trial), sim.ground.dynamic_friction, sim.law.restitution, trial.rule)
    except SolveError as error:
        raise StudyError(f"{trial.name}: {error}") from error
    before, miss = (np.linalg.cholesky(trial.mass_matrix).T @ v for v in (trial.before, found.velocity - trial.after))
    return {"velocity_energy": miss / np.linalg.norm(before)}


@once
def _collision(trial: ImpactTrial) -> Collision:
    """Of a trial, which a fit follows thousands of times."""
    from footfall.solve.impacts import collision

    return collision(trial.mass_matrix, trial.jacobian, trial.before)


def planar_impact(
    arm: Sequence[float],
    before: Sequence[float],
    after: Sequence[float],
    *,
    mass: float,
    inertia: float,
    rule: str = "newton",
    name: str = "impact",
) -> ImpactTrial:
    """An impact in a vertical plane: ``arm`` (x, z) from centre to contact, m; velocities (x, z in m/s, spin in rad/s).

    The spin turns x towards z, so that the contact moves with (vx - w z, vz + w x).
    """
    x, z = (float(one) for one in arm)
    # Sideways there is a mass too, at rest: a contact has two tangents.
    jacobian = np.array([[1.0, 0.0, 0.0, -z], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, x]])
    pre, post = (np.array([v[0], 0.0, v[1], v[2]], dtype=float) for v in (before, after))
    return ImpactTrial(name, np.diag([mass, mass, mass, inertia]), jacobian, pre, post, rule)


def ellipse_arm(semi_axes: Sequence[float], angle: float) -> tuple[float, float]:
    """(x, z) from the centre to the lowest point of an ellipse, m, turned by ``angle`` (rad, x towards z)."""
    a, b = (float(one) for one in semi_axes)
    s, c = float(np.sin(angle)), float(np.cos(angle))
    down = np.array([-s, -c])  # of the ground, in the ellipse's axes
    own = np.array([a * a * down[0], b * b * down[1]]) / np.hypot(a * down[0], b * down[1])
    return c * own[0] - s * own[1], s * own[0] + c * own[1]


def load_impacts(
    path: str | os.PathLike[str],
    *,
    mass: float,
    inertia: float,
    semi_axes: Sequence[float] | None = None,
    rule: str = "newton",
) -> list[ImpactTrial]:
    """Planar impacts of a table, one a row: vx_before, vz_before, w_before, vx_after, vz_after, w_after and rx, rz.

    ``rx``, ``rz``, m, lead from the centre of mass to the contact; of an ellipse with ``semi_axes`` (m, along its own x
    and z) a column ``angle`` does. The vertical may be called y instead of z, the spin omega; pre and post are before
    and after. Impacts that part before they touch are refused, with their row, and tables that are possible only with
    another sign, unit or order of their columns, with what that would be.
    """
    source = Path(path).expanduser()
    try:
        table = read_columns(source)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read impacts from '{source}': {error}") from error
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): values for name, values in table.values.items()}

    def column(*names: str) -> np.ndarray:
        found = next((plain[name] for name in names if name in plain), None)
        if found is None:
            raise StudyError(f"{source} has no column '{names[0]}'; its columns are {', '.join(table.values)}")
        return found

    def velocity(when: str) -> np.ndarray:
        parts = (("vx",), ("vz", "vy"), ("w", "omega", "wy", "wz", "spin", "thetadot", "dtheta"))
        return np.column_stack([column(*(part + end for part in own for end in _WHEN[when])) for own in parts])

    angle = column("angle", "theta", "th", "phi") if semi_axes is not None else None
    arm = None
    if semi_axes is None:
        arm = np.column_stack([column("rx", "cx", "contactx"), column("rz", "ry", "cz", "cy", "contactz", "contacty")])
    rows = _Impacts(velocity("before"), velocity("after"), arm, angle, semi_axes)
    gap = ~np.isfinite(np.column_stack([rows.before, rows.after, rows.arms])).all(axis=1)
    if gap.any():
        raise StudyError(f"{source}: row {int(gap.argmax()) + 1} has a gap")
    _check_impacts(rows, mass, inertia, str(source))
    found = []
    for k, (own, pre, post) in enumerate(zip(rows.arms, rows.before, rows.after, strict=True), start=1):
        if pre[1] + pre[2] * own[0] >= 0.0:
            raise StudyError(
                f"{source}: in row {k} the contact leaves the ground before the impact, with "
                f"{pre[1] + pre[2] * own[0]:.3g} m/s: is the spin's sign that of x towards z, and z up?"
            )
        found.append(planar_impact(own, pre, post, mass=mass, inertia=inertia, rule=rule, name=f"impact {k}"))
    return found


class _Impacts(NamedTuple):
    """Columns of a table of impacts: velocities (N, 3), and where they touch, (N, 2) or the angles of an ellipse."""

    before: np.ndarray
    after: np.ndarray
    arm: np.ndarray | None
    angle: np.ndarray | None
    semi_axes: Sequence[float] | None

    @property
    def arms(self) -> np.ndarray:
        """(N, 2) m, from the centre to the contact."""
        if self.arm is not None:
            return self.arm
        assert self.angle is not None and self.semi_axes is not None
        return np.array([ellipse_arm(self.semi_axes, one) for one in self.angle])

    def scaled(self, x: float = 1.0, z: float = 1.0, spin: float = 1.0, arm: float = 1.0, angle: float = 1.0) -> Any:
        """The same with factors on velocities along x and z, on the spin, and on where they touch."""
        by = np.array([x, z, spin])
        arms = None if self.arm is None else self.arm * arm * np.array([angle, 1.0])
        angles = None if self.angle is None else self.angle * angle
        return self._replace(before=by * self.before, after=by * self.after, arm=arms, angle=angles)

    def mistakes(self) -> dict[str, _Impacts]:
        """Other possible meanings of the columns, by a sentence."""
        degrees, turned = np.pi / 180.0, "the spin is positive from z towards x"
        swapped = [1, 0, 2]
        found = {
            turned: self.scaled(spin=-1.0),
            "the spin is in deg/s": self.scaled(spin=degrees),
            f"the spin is in deg/s, and {turned}": self.scaled(spin=-degrees),
            "the spin is in deg/s, and the angle in degrees": self.scaled(spin=degrees, angle=degrees),
            f"spin and angle are in degrees, and {turned}": self.scaled(spin=-degrees, angle=degrees),
            "the angle is in degrees": self.scaled(angle=degrees),
            "the spin is in rad/s, whatever the head says": self.scaled(spin=1.0 / degrees),
            "spin and angle are in radians, whatever the head says": self.scaled(
                spin=1.0 / degrees, angle=1.0 / degrees
            ),
            "the angle or rx has the other sign": self.scaled(angle=-1.0),
            "vx has the other sign": self.scaled(x=-1.0),
            "z points down": self.scaled(z=-1.0),
            "the columns of vx and vz are interchanged": self._replace(
                before=self.before[:, swapped], after=self.after[:, swapped]
            ),
            "before and after are interchanged": self._replace(before=self.after, after=self.before),
            "rx and rz lead from the contact to the centre": self.scaled(arm=-1.0),
            "rx and rz are in mm": self.scaled(arm=1e-3),
            "velocities are in mm/s": self.scaled(x=1e-3, z=1e-3),
        }
        if self.angle is not None and self.semi_axes is not None:
            found["the semi-axes are interchanged"] = self._replace(semi_axes=self.semi_axes[::-1])
            if min(self.semi_axes) > 1.0:  # m
                found["the semi-axes are in mm"] = self._replace(semi_axes=[1e-3 * one for one in self.semi_axes])
        return found


#: Ratio of violations as read to those with another meaning of the columns, from which this meaning is suggested.
LIKELIER = 2.0


def _check_impacts(rows: _Impacts, mass: float, inertia: float, source: str) -> None:
    """Refuse impacts that are impossible as they are read and possible with another meaning of their columns."""
    own = _impossible(rows, mass, inertia)
    if len(own) < 3:
        return
    others = {what: _impossible(one, mass, inertia) for what, one in rows.mistakes().items()}
    likely = min(others, key=lambda what: float(others[what].mean()))
    gain = own - others[likely]
    if own.mean() > LIKELIER * others[likely].mean() and gain.mean() > 2.0 * gain.std(ddof=1) / np.sqrt(gain.size):
        raise StudyError(
            f"{source}: as they are read these impacts cannot be: impulses that act elsewhere than at the contact, "
            f"contacts that part or sink in, or energy from nowhere, {own.mean():.2g} of the motion in the mean; it is "
            f"{others[likely].mean():.2g} if {likely}"
        )


def _impossible(rows: _Impacts, mass: float, inertia: float) -> np.ndarray:
    """(N,) how far each impact is from one that any law allows, relative to the motion before it, 1 at most.

    The impulse acts at the contact: the part of the change of velocity that no impulse there makes is that along the
    motion (z, -x, 1), which turns the body about the contact. The contact comes in before and does not sink in after,
    and no energy is created.
    """
    x, z = rows.arms.T
    norms = np.array([mass, mass, inertia])
    turning = np.column_stack([z, -x, np.ones_like(x)])
    missed = np.abs(((rows.after - rows.before) * norms * turning).sum(axis=1)) / np.sqrt((turning**2) @ norms)
    before, after = (np.sqrt((one**2) @ norms) for one in (rows.before, rows.after))
    into, out = (one[:, 1] + one[:, 2] * x for one in (rows.before, rows.after))
    wrong = missed + np.sqrt(mass) * (np.maximum(into, 0.0) + np.maximum(-out, 0.0)) + np.maximum(after - before, 0.0)
    return np.minimum(wrong / np.maximum(before, 1e-300), 1.0)


#: Step where the trials do not say otherwise, s, and the longest under a law that finds events within it.
STEP, LONGEST_PERIOD = 1e-3, 1e-2
#: Of impacts alone.
IMPACTS = {"law.restitution": Range(0.0, 1.0, "linear", 0.0), "ground.friction": Range(0.0, 1.5, "linear", 0.3)}

Simulate = Callable[[Simulation, Any], Mapping[str, Any]]  # of numbers, or of arrays whose lengths are the errors


class Kind(NamedTuple):
    """The simulation of a kind of trials."""

    trials: Sequence[Any]
    simulate: Simulate
    weights: Mapping[str, float] | None  # with which errors are added to the loss, each with one if None
    robot: Robot | Callable[..., Robot] | None  # that of the trials, where none is given
    dt: float | None  # s; None for the longest up to 1 ms in which the law is stable
    beside: Mapping[str, Range]  # what is fitted where no parameters are given, beside the law's own
    of_law: bool = True  # whether the law's own are


def _thrown(toss: Toss) -> tuple[Callable[..., Robot], dict[str, Range]]:
    """The body of a toss as a function of its fitted parameters, and their bounds."""
    if toss.size is None and isinstance(toss.inertia, float):
        body = partial(cube, side=toss.width, mass=toss.mass, inertia=toss.inertia, gravity=toss.gravity)
        return body, of_cube(toss.width, toss.mass, toss.inertia)
    sides = (toss.width,) * 3 if toss.size is None else toss.size
    return partial(box, sides, toss.mass, toss.inertia, gravity=toss.gravity), of_box(sides)


def kind_of(data: Sequence[Any], own_robot: bool, events: bool = False, own_way: bool = True) -> Kind:
    """What the trials are; an error where that is not known and the user does not simulate them in their ``own_way``.

    ``own_robot``: they are followed by a robot that the user gives; ``events``: under a law that is driven by events.
    """
    first = data[0]
    if isinstance(first, Toss):
        body, of_body = _thrown(first)
        dt = step_of(first.rate, LONGEST_PERIOD if events else STEP)
        return Kind(data, follow, TOSS_WEIGHTS, body, dt, GROUND if own_robot else {**GROUND, **of_body})
    if isinstance(first, Measured | ForceTrial):
        if not own_robot:
            raise StudyError("whose forces are these? Give robot=, and a ForceTrial where it does not start at home")
        trials = [ForceTrial(one) if isinstance(one, Measured) else one for one in data]
        friction = {"ground.friction": GROUND["ground.friction"]}  # the robot is set down on the ground
        return Kind(trials, follow_forces, None, None, None, friction)
    if isinstance(first, LogTrial):
        robot, friction = first.log.robot, {"ground.friction": Range(0.1, 1.5, "log", 0.7)}
        if own_robot:
            return Kind(data, follow_log, None, None, None, friction)
        return Kind(data, follow_log, None, partial(varied, robot), None, {**friction, **of_robot(robot)})
    if isinstance(first, ImpactTrial):
        return Kind(data, follow_impact, None, load_robot("ball"), STEP, IMPACTS, of_law=False)
    if not own_way:
        raise StudyError(
            "a trial is a Toss, measured forces, a part of a log or an impact, or what simulate= takes, and not a "
            f"{type(first).__name__}"
        )
    return Kind(data, follow, TOSS_WEIGHTS, cube, STEP, GROUND)


def _springs(damping: float) -> dict[str, Range]:
    """Of laws of springs: how deep the robot rests, m, and the damping ratio up to this one; 1 mm and 1 by default."""
    return {
        "law.rest_penetration": Range(2e-5, 5e-3, "log", 1e-3),
        "law.damping_ratio": Range(0.02, damping, "log", 1.0),
    }


#: Of laws. Bounds are wide: a decade or more for stiffness and damping, the whole possible range for restitution and
#: friction. For a law that is not here, parameters must be named.
PRESETS: dict[str, dict[str, Range]] = {
    "spring-damper": _springs(2.0),
    "hunt-crossley": _springs(4.0),
    "distributed": _springs(4.0),
    "linearizing-penalty": {
        "law.kp": Range(50.0, 1e5, "log", 500.0),
        "law.kv": Range(20.0, 2000.0, "log", 250.0),
    },
    "constraint-selection": {"law.v_t": Range(1e-3, 1.0, "log", 0.1)},
    "time-stepping": {
        "law.restitution": Range(0.0, 0.8, "linear", 0.0),
        "law.impact_friction": Range(0.5, 1.0, "linear", 1.0),
    },
    "acceleration-complementarity": {"law.restitution": Range(0.0, 0.8, "linear", 0.0)},
    "mujoco": {
        "law.solref.0": Range(2e-3, 5e-2, "log", 0.02),
        "law.solref.1": Range(0.1, 2.0, "log", 1.0),
        "law.impratio": Range(1.0, 100.0, "log", 1.0),
    },
}
#: Options that a law has beside these. Errors of 0.1 um a step are far below what cameras see, and take two thirds of
#: the time.
OPTIONS: dict[str, dict[str, Any]] = {
    "acceleration-complementarity": {"tolerance": 1e-7},
    "mujoco": {"cone": "elliptic", "solref": [0.02, 1.0]},
}
#: Of a level ground.
GROUND = {"ground.friction": Range(0.03, 1.0, "log", 0.2), "ground.height": Range(-5e-3, 5e-3, "linear", 0.0)}


def of_cube(side: float, mass: float, inertia: float) -> dict[str, Range]:
    """Of a tossed cube of about this side (m), mass (kg) and inertia (kg m2).

    The side may be smaller than measured: rounded corners touch like those of a smaller cube on a ground that is higher
    by the radius, at most 4 % of the side here. The inertia lies between that of a heavy core and that of masses in the
    eight corners.
    """
    square = mass * side**2
    return {
        "robot.side": Range(0.92 * side, 1.01 * side, "linear", side),
        "robot.inertia": Range(square / 12.0, square / 2.0, "log", inertia),
    }


def of_box(sides: Sequence[float]) -> dict[str, Range]:
    """Of a tossed box of these sides (m): how far its corners are rounded, and its inertia relative to that stated."""
    return {
        "robot.rounding": Range(0.0, 0.04 * min(sides), "linear", 0.0),
        "robot.inertia_scale": Range(0.5, 2.0, "log", 1.0),
    }


def preset(law: str, kind: Kind) -> tuple[dict[str, Any], dict[str, Range]]:
    """Options of a law by name, and what is fitted of it and beside it."""
    if not kind.of_law:
        return {}, dict(kind.beside)
    if law not in PRESETS:
        known = did_you_mean(law, PRESETS)
        raise StudyError(f"which parameters of '{law}' shall be fitted? Give parameters=; by themselves, {known}")
    return OPTIONS.get(law, {}), {**PRESETS[law], **kind.beside}


# ---- parts of a log: a run leaves it within a second, but shows in a few tenths of one what law and robot do --------


#: Least time between two samples of a run that are compared with a log, s.
RECORDED = 1e-3


@dataclass(frozen=True, eq=False)
class LogTrial:
    """A part of a log with the state of its base, and what of it is replayed; see :class:`footfall.control.Replay`."""

    log: Log
    whole: Log  # the whole log: delayed torques from before the start act in the part
    start: float  # s, time in the whole log at which it begins
    use: Use | None = None
    kp: float | None = None
    kd: float | None = None


def windows(
    logs: Log | Sequence[Log],
    length: float = 0.3,
    *,
    use: Use | None = None,
    kp: float | None = None,
    kd: float | None = None,
) -> list[LogTrial]:
    """Logs cut into parts of ``length`` s, one after another."""
    found = []
    for log in [logs] if isinstance(logs, Log) else logs:
        if log.position is None:
            raise StudyError(f"{log.source} does not have the place of its base: ff.estimate(log).completed has it")
        starts = np.arange(0.0, float(log.time[-1]) - length + 1e-9, length)
        found += [LogTrial(log.slice(float(at), float(at) + length), log, float(at), use, kp, kd) for at in starts]
    if len(found) < 4:
        raise StudyError(f"a fit needs at least four parts of a log, and {len(found)} of {length:g} s were found")
    return found


def varied(
    robot: Robot, *, mass: float = 1.0, joint_friction: float = 0.0, joint_damping: float = 0.0, delay: float = 0.0
) -> Robot:
    """A robot with masses and inertias times ``mass``, joints with more dry friction (N m) and damping (N m s/rad), and
    motors that act ``delay`` s late, as :func:`follow_log` replays them.
    """
    model = copy.deepcopy(robot.model)
    model.body_mass[:] *= mass
    model.body_inertia[:] *= mass
    joints = np.isin(model.jnt_type[model.dof_jntid], (HINGE, SLIDE))
    model.dof_frictionloss[joints] += joint_friction
    model.dof_damping[joints] += joint_damping
    mujoco.mj_setConst(model, mujoco.MjData(model))
    made = replace(robot, model=model, mjcf=None, parameters={**robot.parameters, "delay": delay})
    made.__dict__["others"] = robot.others  # the shape is the same, and is expensive to find
    return made


def follow_log(sim: Simulation, trial: LogTrial) -> dict[str, Any]:
    """Errors of a simulation that replays a part of a log: of joints (rad), and of the base in heights and rad.

    They are arrays as long as the root mean squares.
    """
    log = trial.log
    delay = float(sim.robot.parameters.get("delay", 0.0))
    controller = Replay(trial.whole, trial.use, trial.kp, trial.kd, delay - trial.start)
    every = max(1, round(RECORDED / sim.dt)) * sim.dt
    rec = sim.run(float(log.time[-1]), qpos=log.qpos[0], qvel=log.qvel[0], controller=controller, record_dt=every)
    if rec.failure is not None:
        raise StudyError(f"{log.source}: {rec.failure}")
    off = apart(rec, log)
    place, turn = (np.array([np.nan]) if own is None else own / np.sqrt(len(own)) for own in (off.place, off.turn))
    joints = off.joints / np.sqrt(max(off.joints.size, 1))
    return {"joints_rad": joints, "place_heights": place / _height(log.robot), "turn_rad": turn}


@once
def _height(robot: Robot) -> float:
    """m, of the centre of mass at home."""
    return max(float(at_home(robot).subtree_com[1, 2]), 1e-3)


def of_robot(robot: Robot) -> dict[str, Range]:
    """What of a robot is fitted: masses to a fifth, friction and damping of joints up to what a twentieth of its weight
    at its height would turn, at a radian a second, and a delay of up to 30 ms.
    """
    torque = 0.05 * robot.weight * _height(robot)
    return {
        "robot.mass": Range(0.8, 1.25, "log", 1.0),
        "robot.joint_friction": Range(0.0, torque, "linear", 0.0),
        "robot.joint_damping": Range(0.0, torque, "linear", 0.0),
        "robot.delay": Range(0.0, 0.03, "linear", 0.0),
    }
