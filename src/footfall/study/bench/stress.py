"""Stress: short runs of robots from random states on every ground under every law, and their failures.

A robot starts above the ground, on it, inside it or fallen on it, tilted, bent and moving at random, and runs without a
controller for a few steps. In any state a law must answer, with forces that push and lie within the friction cone; it
must not diverge, and a robot that starts clear of the ground must not gain energy from it, and its forces pass the
audit. Robots are built in, of model files, or made by chance. Everything follows from the seed.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.engine.replay import other_places
from footfall.errors import SimulationError, without_warnings
from footfall.given_numbers import Whole
from footfall.ground import Ground
from footfall.measure import audit
from footfall.measure.audit_errors import outside_the_cone, pull, turning
from footfall.record import Record
from footfall.recording import Recording
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.simulation.run import Run
from footfall.simulation.task import Task
from footfall.standing import point_gaps, scratch_data

DT = 1e-3  # s
#: Steps of a run: enough to land, to bounce and to slide.
STEPS = 30
#: Friction coefficients (static, dynamic) of grounds.
FRICTIONS = ((0.0, 0.0), (0.3, 0.3), (0.8, 0.6), (1.0, 1.0))
#: Ranges of the initial height of the lowest point above the ground, m: clear of it, touching, and deep inside.
CLEAR, TOUCHING, DEEP = (0.0, 0.03), (-1e-3, 1e-3), (-0.1, 0.0)
#: One of this many starts is of a fallen robot, which lies on the ground with any of its bodies.
FALLEN = 4
#: Tolerance on friction outside the cone and on pulling forces, as a share of the largest force: rounding.
ROUNDING = 1e-6
#: The same tolerance for event-driven laws, which record means over a period, on curved ground.
ROUNDING_IN_CURVES = 1e-3
#: Slip, m/s, that such a law stops at once, with any force.
STOPPED = 1e-7
#: Repetitions of the timing of every step, of which the shortest counts: other load only adds time.
REPEATS = 3
#: Height, m, whose potential energy is added to the initial kinetic energy as the reference for a gain of energy.
HEIGHT = 0.1


@dataclass(frozen=True)
class Outcome:
    """Counts of failures in a number of runs."""

    runs: int = 0
    steps: int = 0
    unsolved: int = 0  # steps that the law itself reports as unsolved
    diverged: int = 0  # runs that ended early
    cone: int = 0  # runs with friction beyond the cone
    pull: int = 0  # runs with a force that pulls
    clear: int = 0  # runs that started clear of the ground, and did not diverge
    audit: int = 0  # of those, runs whose audit fails
    audit_rows: Mapping[str, int] = field(default_factory=dict)  # how often each row of it does
    energy: float = 0.0  # largest work of contact forces in the runs of ``clear``, relative to the initial energy
    slowest: float = 0.0  # s, processor time of the slowest step
    times_standing: float = 0.0  # slowest step relative to a step of the standing robot, the largest of all robots

    def __add__(self, other: Outcome) -> Outcome:
        both = {one.name: (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        rows = dict(Counter(both.pop("audit_rows")[0]) + Counter(other.audit_rows))
        sums: Any = {name: max(a, b) if isinstance(a, float) else a + b for name, (a, b) in both.items()}
        return Outcome(audit_rows=rows, **sums)

    @property
    def failed(self) -> bool:
        """Whether there is any failure other than steps reported as unsolved."""
        return bool(self.diverged or self.cone or self.pull or self.audit)


@dataclass(frozen=True)
class Case:
    """The outcome of a robot on a ground under a law."""

    law: str
    robot: str
    ground: str
    outcome: Outcome


def coulomb_laws(names: Iterable[str] | None = None) -> dict[str, Law]:
    """Laws by name, with pure Coulomb friction: the viscous part that one has by default leaves the cone by design."""
    options = {"distributed": {"mu_ts": 0.0}}
    return {name: make_law(name, **options.get(name, {})) for name in (all_laws() if names is None else names)}


def rough_grounds() -> dict[str, Ground]:
    """One ground of each kind, most of them so rough that feet stand tilted."""
    x, y = np.meshgrid(np.linspace(-3.0, 3.0, 61), np.linspace(-3.0, 3.0, 61))

    def bumps(x, y):
        return 0.03 * math.sin(5.0 * x) + 0.02 * math.cos(7.0 * y)

    return {
        "plane": Ground.plane(),
        "slope": Ground.slope(0.3, heading=0.8),
        "stairs": Ground.stairs(rise=0.1, run=0.2, heading=0.4, count=6, start=0.03),
        "heightfield": Ground.heightfield(0.05 * np.sin(6.0 * x) * np.cos(5.0 * y), size=(6.0, 6.0)),
        "function": Ground.function(bumps),
    }


@public
def chance_robot(seed: Whole) -> Robot:
    """A random robot: a trunk on a free joint, one to four legs of one to three links, joints of any kind.

    Links are 5 to 40 cm long and weigh from a hundredth of the trunk to as much as it does; joints may have limits,
    damping, armature, friction and springs. Each leg ends in a ball, a capsule or a box.
    """
    rng = np.random.default_rng([seed, 0x5EED])
    spec = mujoco.MjSpec()
    spec.modelname = f"chance-{seed}"
    mass = 10.0 ** rng.uniform(-0.5, 1.7)
    trunk = spec.worldbody.add_body(name="trunk", pos=(0.0, 0.0, 1.5))
    trunk.add_freejoint(name="root")
    trunk.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=rng.uniform(0.05, 0.25, 3), mass=mass)
    legs = int(rng.integers(1, 5))
    for leg in range(legs):
        angle = 2.0 * math.pi * leg / legs
        body, at = trunk, np.array([0.2 * math.cos(angle), 0.2 * math.sin(angle), -0.1])
        for link in range(int(rng.integers(1, 4))):
            body = body.add_body(name=f"leg{leg}_{link}", pos=at)
            _add_joint(body, rng)
            at = np.array([*rng.normal(scale=0.03, size=2), -rng.uniform(0.05, 0.4)])
            own = mass * 10.0 ** rng.uniform(-2.0, 0.0)
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(0, 0, 0, *at), size=(0.02, 0, 0), mass=own)
        foot = body.add_body(name=f"foot{leg}", pos=at)
        kind = (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX)[rng.integers(3)]
        size = rng.uniform(0.02, 0.08, 3)
        turned = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0) if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else (1, 0, 0, 0)
        foot.add_geom(type=kind, size=size, quat=turned, mass=mass * 10.0 ** rng.uniform(-2.0, -0.5))
    with without_warnings():  # of what is odd in it
        return load_robot(spec)


def _add_joint(body: mujoco.MjsBody, rng: np.random.Generator) -> None:
    kinds = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_BALL)
    kind = kinds[rng.choice(3, p=(0.8, 0.1, 0.1))]
    joint = body.add_joint(type=kind, axis=rng.normal(size=3))
    if rng.random() < 0.5:
        reach = rng.uniform(0.1, 1.5) * (0.1 if kind == mujoco.mjtJoint.mjJNT_SLIDE else 1.0)
        low = 0.0 if kind == mujoco.mjtJoint.mjJNT_BALL else -reach
        joint.range, joint.limited = np.degrees((low, reach)) if kind != kinds[1] else (low, reach), True
    for name, largest in (("damping", 10.0), ("stiffness", 100.0)):
        if rng.random() < 0.3:
            getattr(joint, name)[0] = rng.uniform(0.0, largest)
    for name, largest in (("armature", 0.1), ("frictionloss", 5.0)):
        if rng.random() < 0.3 and (name == "armature" or kind != mujoco.mjtJoint.mjJNT_BALL):
            setattr(joint, name, rng.uniform(0.0, largest))


class Start(NamedTuple):
    """A state to start from."""

    qpos: np.ndarray  # (nq,)
    qvel: np.ndarray  # (nv,)
    clear: bool  # whether it is clear of the ground


def random_start(robot: Robot, ground: Ground, rng: np.random.Generator, *, fallen: bool = False) -> Start:
    """A pose about home, or of a fallen robot, its lowest point near the ground or below it, with any velocities."""
    model = robot.model
    data = scratch_data(model)
    data.qpos[:] = robot.home
    turn = np.zeros(model.nv)
    if rng.random() < 0.8:
        turn = 10.0 ** rng.uniform(-4.0, -0.3) * rng.normal(size=model.nv)
    free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    if free:
        turn[:3] = *rng.uniform(-0.3, 0.3, 2), 0.0
        if fallen:
            tilt, about = rng.uniform(0.4 * math.pi, math.pi), rng.uniform(0.0, 2.0 * math.pi)
            turn[3:6] = tilt * math.cos(about), tilt * math.sin(about), 0.0
    mujoco.mj_integratePos(model, data.qpos, turn, 1.0)
    for j in range(model.njnt):
        if model.jnt_limited[j] and model.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            at = model.jnt_qposadr[j]
            data.qpos[at] = np.clip(data.qpos[at], *model.jnt_range[j])
    kind = (CLEAR, TOUCHING, DEEP)[rng.integers(3)]
    height = rng.uniform(*(TOUCHING if fallen else kind))
    for _ in range(20):
        gap, slope = _gaps(robot, ground, data, everything=fallen)
        lift = height - np.min(gap / slope)
        data.qpos[2 if free else 1] += lift
        if abs(lift) < 1e-9:
            break
    size = 0.0 if rng.random() < 0.1 else 10.0 ** rng.uniform(-2.0, 0.7)
    # Between a riser and a tread there may be no place of that height.
    clear = bool(kind == CLEAR and _gaps(robot, ground, data, everything=True)[0].min() > 0.0)
    return Start(data.qpos.copy(), size * rng.normal(size=model.nv), clear)


def _gaps(robot: Robot, ground: Ground, data: mujoco.MjData, *, everything: bool) -> tuple[np.ndarray, Any]:
    """(P,) gaps of the feet's points, or of ``everything``, m, and how much of a lift each gains."""
    mujoco.mj_kinematics(robot.model, data)
    gap, normal = point_gaps(robot, ground, data)
    slope = np.maximum(normal[:, 2], 0.1)
    others = np.arange(len(robot.others.points))
    if not everything or not others.size:
        return gap, slope
    found = other_places(robot, ground, np.array([data.qpos]), np.zeros((1, robot.model.nv)), others)["gap"].ravel()
    return np.concatenate([gap, found]), np.concatenate([slope, np.ones(found.size)])


def try_start(sim: Simulation, start: Start, steps: int = STEPS, *, timed: bool = True) -> Outcome:
    """Run a simulation for ``steps`` from a state, and check every step; if ``timed``, measure them, too."""
    with without_warnings():
        try:
            rec = sim.run(steps * sim.dt, controller=None, qpos=start.qpos, qvel=start.qvel)
        except SimulationError as error:
            if not isinstance(error.recording, Recording):
                return Outcome(runs=1, diverged=1)
            rec = error.recording
        failed = rec.failure is not None
        rows = dict.fromkeys(audit(rec).failed if start.clear and not failed else (), 1)
    cone, pull = judge_forces(rec)
    return Outcome(
        runs=1,
        steps=len(rec),
        unsolved=int((rec.status != 0).sum()),
        diverged=int(failed),
        cone=int(cone),
        pull=int(pull),
        clear=int(start.clear and not failed),
        audit=int(bool(rows)),
        audit_rows=rows,
        energy=_gain(rec, start) if start.clear else 0.0,
        slowest=float(step_times(sim, steps, start).max()) if timed else 0.0,
    )


def step_times(sim: Simulation, steps: int, start: Start | None = None) -> np.ndarray:
    """(steps,) s, processor time of each step from a state, or from home, without the overhead of the call."""
    best = np.full(steps, np.inf)
    for _ in range(REPEATS):
        run = Run(sim, steps * sim.dt, Task() if start is None else Task(qpos=start.qpos, qvel=start.qvel))
        run.advance(0)  # the first call has types to look up
        for k in range(steps):
            begin = time.thread_time()
            run.advance(0)
            called = time.thread_time()
            more = run.advance(1)
            best[k] = min(best[k], max(0.0, time.thread_time() - called - (called - begin)))
            if not more:
                best[k + 1 :] = np.minimum(best[k + 1 :], 0.0)
                break
        run.give_back()
    return best


def _gain(rec: Record, start: Start) -> float:
    """The largest work of the contact forces on a robot up to any time, relative to its energy at the start.

    Work is force times the mean of two velocities, which is the change of kinetic energy in a step of semi-implicit
    Euler. The energy itself would also contain the integrator's error in flight and what MuJoCo's soft joint limits and
    contacts return.
    """
    model = rec.robot.model
    data = scratch_data(model)
    data.qpos[:], data.qvel[:] = start.qpos, start.qvel
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_energyVel(model, data)
    power = 0.5 * np.einsum("tpi,tpi->t", rec.force[:-1], rec.velocity[:-1] + rec.velocity[1:])
    work = rec.dt * np.cumsum(power)
    return float(work.max(initial=0.0) / (data.energy[1] + rec.robot.weight * HEIGHT))


def judge_forces(rec: Record) -> tuple[bool, bool]:
    """Whether any recorded force is outside its cone, or pulls, by more than rounding; as the audit measures it.

    MuJoCo's own contacts have different normals on uneven ground, and are not judged.
    """
    law, ground = rec.law, rec.ground
    if law.native or not rec.force.any():
        return False, False
    largest, unknown = np.linalg.norm(rec.force, axis=2).max(axis=1), turning(rec)
    slack = ROUNDING * largest + 1e-9
    if law.event_driven:  # both frictions in one step: a mean over the period, in which normals turn on curved ground
        rec = replace(rec, ground=replace(ground, dynamic_friction=ground.static_friction))
        slack += rec.robot.mass * STOPPED / rec.dt + (0.0 if ground.flat else ROUNDING_IN_CURVES) * largest
        unknown[-1] |= not ground.flat  # the step after the last is not known
    cone, pulls = (bool((error > slack)[~unknown].any()) for error in (outside_the_cone(rec), pull(rec)))
    return cone, pulls


@lru_cache(maxsize=256)  # every law starts from the same, also where laws are run one after the other
def _drawn(
    robot: Robot, ground: Ground, count: int, seed: tuple[int, ...]
) -> tuple[tuple[float, float], tuple[Start, ...]]:
    """Friction of the ground, static and dynamic, and this many states of a robot on it."""
    rng = np.random.default_rng(seed)
    friction = FRICTIONS[rng.integers(len(FRICTIONS))]
    return friction, tuple(random_start(robot, ground, rng, fallen=k % FALLEN == FALLEN - 1) for k in range(count))


@public
def random_states(
    laws: Mapping[str, Law],
    robots: Iterable[Robot],
    grounds: Mapping[str, Ground],
    count: int,
    *,
    seed: Whole = 0,
    steps: int = STEPS,
    timed: bool = True,
) -> Iterator[Case]:
    """``count`` runs of every robot on every ground under every law; all laws start from the same states."""
    for r, robot in enumerate(robots):
        # A step of the robot at home on a plane, s; it is about to fall where it has no servos.
        homes = {name: Simulation(robot, law=law, dt=DT) for name, law in laws.items()} if timed else {}
        standing = {name: float(np.median(step_times(home, STEPS))) for name, home in homes.items()}
        for g, (kind, ground) in enumerate(grounds.items()):
            (static, dynamic), starts = _drawn(robot, ground, count, (seed, r, g))
            place = replace(ground, static_friction=static, dynamic_friction=dynamic)
            for name, law in laws.items():
                sim = Simulation(robot, ground=place, law=law, dt=DT)
                outcome = sum((try_start(sim, start, steps, timed=timed) for start in starts), Outcome())
                if timed and standing[name] > 0.0:
                    outcome = replace(outcome, times_standing=outcome.slowest / standing[name])
                yield Case(name, robot.name, kind, outcome)
