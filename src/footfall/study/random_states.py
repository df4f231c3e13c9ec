"""Random states: short runs of every robot on every ground under every law, and what went wrong in them.

A robot starts near the ground or inside it, tilted, bent and moving at random, and runs without a controller for a few
steps. In any state a law must answer in bounded time, with forces that push and lie within the friction cone; it must
not diverge, and a robot that starts clear of the ground must not gain energy from it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import mujoco
import numpy as np

from footfall.contact import law as make_law
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.engine.events.contact_set import SLOW
from footfall.engine.events.period import UNSOUND_IN_CURVES
from footfall.engine.step import DONE
from footfall.engine.tape import END
from footfall.given_numbers import check_seed
from footfall.ground import Ground
from footfall.measure.common import contact_bodies
from footfall.record import Record
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.simulation.outcome import other_places
from footfall.simulation.run import Run
from footfall.simulation.task import Task
from footfall.standing import point_gaps, scratch_data

DT = 1e-3  # s
#: Steps of a run: enough to land, to bounce and to slide.
STEPS = 30
#: Friction (static, dynamic) that a ground may have.
FRICTIONS = ((0.0, 0.0), (0.3, 0.3), (0.8, 0.6), (1.0, 1.0))
#: Height of the lowest point over the ground, m: clear of it, at it, and as deep as a bad first guess may be.
CLEAR, TOUCHING, DEEP = (0.0, 0.03), (-1e-3, 1e-3), (-0.1, 0.0)
#: Share of the largest force by which friction may leave the cone, or a force pull: rounding.
ROUNDING = 1e-6
#: How often every step is timed, and the CPU time, s, beyond which it is timed twice as often.
REPEATS, SUSPECT = 2, 5e-4
#: Runs that are timed of a robot put down at home, one after the other, and steps of each.
STANDING, STANDING_STEPS = 10, 30
#: Height, m, whose potential energy is added to the kinetic energy at the start when a gain is judged.
HEIGHT = 0.1


@dataclass(frozen=True)
class Outcome:
    """What went wrong in a number of runs."""

    runs: int = 0
    steps: int = 0
    unsolved: int = 0  # steps whose forces the law itself calls unsolved
    diverged: int = 0  # runs that ended early
    cone: int = 0  # runs with friction beyond the cone
    pull: int = 0  # runs with a force that pulls
    energy: float = 0.0  # most work of the contact forces of a run that started clear of the ground, of what it had
    slowest: float = 0.0  # s, CPU time of the slowest step
    times_standing: float = 0.0  # that over what a step takes of the robot as it stands, the largest of all robots

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            runs=self.runs + other.runs,
            steps=self.steps + other.steps,
            unsolved=self.unsolved + other.unsolved,
            diverged=self.diverged + other.diverged,
            cone=self.cone + other.cone,
            pull=self.pull + other.pull,
            energy=max(self.energy, other.energy),
            slowest=max(self.slowest, other.slowest),
            times_standing=max(self.times_standing, other.times_standing),
        )


@dataclass(frozen=True)
class Case:
    """What happened to a robot on a ground under a law."""

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


@dataclass(frozen=True, eq=False)
class Start:
    """A state to start from."""

    qpos: np.ndarray  # (nq,)
    qvel: np.ndarray  # (nv,)
    clear: bool  # of the ground


def random_start(robot: Robot, ground: Ground, rng: np.random.Generator) -> Start:
    """A pose about home, its lowest point near the ground or below it, with velocities of any size."""
    model = robot.model
    data = scratch_data(model)
    data.qpos[:] = robot.home
    turn = np.zeros(model.nv)
    if rng.random() < 0.8:
        turn = 10.0 ** rng.uniform(-4.0, -0.3) * rng.normal(size=model.nv)
    free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    if free:
        turn[:3] = *rng.uniform(-0.3, 0.3, 2), 0.0
    mujoco.mj_integratePos(model, data.qpos, turn, 1.0)
    for j in range(model.njnt):
        if model.jnt_limited[j] and model.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            at = model.jnt_qposadr[j]
            data.qpos[at] = np.clip(data.qpos[at], *model.jnt_range[j])
    kind = rng.integers(3)
    height = rng.uniform(*(CLEAR, TOUCHING, DEEP)[kind])
    for _ in range(20):
        mujoco.mj_kinematics(model, data)
        gap, normal = point_gaps(robot, ground, data)
        lift = height - np.min(gap / np.maximum(normal[:, 2], 0.1))
        data.qpos[2 if free else 1] += lift
        if abs(lift) < 1e-9:
            break
    size = 0.0 if rng.random() < 0.1 else 10.0 ** rng.uniform(-2.0, 0.7)
    every = np.arange(len(robot.others.points))
    qpos = data.qpos.copy()
    others = other_places(robot, ground, qpos[None], np.zeros((1, model.nv)), every)["gap"]
    mujoco.mj_kinematics(model, data)
    gap, _ = point_gaps(robot, ground, data)  # between a riser and a tread there may be no place of that height
    clear = bool(kind == 0 and min(gap.min(), others.min(initial=np.inf)) > 0.0)
    return Start(qpos, size * rng.normal(size=model.nv), clear)


def try_start(sim: Simulation, start: Start, steps: int = STEPS, *, timed: bool = True) -> Outcome:
    """Run a simulation for a few steps from a state, and check every one of them; if ``timed``, also their time."""
    run = begun(sim, start, steps)
    run.advance(steps)
    rec, failed = run.recording(), bool(run.outcome[END] != DONE)
    run.give_back()
    cone, pull = judge_forces(rec)
    return Outcome(
        runs=1,
        steps=len(rec),
        unsolved=int((rec.status != 0).sum()),
        diverged=int(failed),
        cone=int(cone),
        pull=int(pull),
        energy=_gain(rec, start) if start.clear else 0.0,
        slowest=_slowest_step(sim, start, steps) if timed else 0.0,
    )


def begun(sim: Simulation, start: Start, steps: int) -> TimedRun:
    """A run from a state that can take this many steps."""
    return TimedRun(sim, steps * sim.dt, Task(qpos=start.qpos, qvel=start.qvel))


class TimedRun(Run):
    """A run that measures the time spent making room for points, which is not part of a step."""

    room = 0.0  # s, CPU time

    def resize(self, size: int) -> None:
        begin = time.thread_time()
        super().resize(size)
        self.room += time.thread_time() - begin


def _slowest_step(sim: Simulation, start: Start, steps: int) -> float:
    """CPU time of the slowest step from a state, without the overhead of the call and of making room for points, s.

    Other load only adds time: for each step the best of some repeats counts, with more repeats for long ones.
    """
    taken, call, repeats = np.full(steps, np.inf), np.full(steps, np.inf), 0
    while repeats < REPEATS or (repeats < 2 * REPEATS and taken.max() > SUSPECT):
        run = begun(sim, start, steps)
        for k in range(steps):
            begin, run.room = time.thread_time(), 0.0
            run.advance(0)
            called = time.thread_time()
            run.advance(1)
            taken[k] = min(taken[k], time.thread_time() - called - run.room)
            call[k] = min(call[k], called - begin)  # that of the first step has types to look up
            if run.outcome[END] != DONE:
                taken[k + 1 :] = call[k + 1 :] = 0.0
                break
        run.give_back()
        repeats += 1
    return max(0.0, float((taken - call).max()))


def standing_step(robot: Robot, law: Law) -> float:
    """CPU time of a step of a robot at home on a plane, s.

    It runs without a controller, so robots without servos begin to fall: the least of some runs counts.
    """
    sim = Simulation(robot, ground=Ground.plane(), law=law, dt=DT)
    best = math.inf
    for _ in range(REPEATS):
        run = TimedRun(sim, (STANDING + 1) * STANDING_STEPS * DT, Task())
        run.advance(STANDING_STEPS)
        for _ in range(STANDING):
            begin, run.room = time.thread_time(), 0.0
            run.advance(STANDING_STEPS)
            if run.outcome[END] != DONE:
                break
            best = min(best, (time.thread_time() - begin - run.room) / STANDING_STEPS)
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
    """Whether any recorded force is outside its cone, or pulls. For a law with one cone per foot the resultant counts.

    MuJoCo's own contacts have different normals on uneven ground, and are not judged.
    """
    law, ground, force, normal = rec.law, rec.ground, rec.force, rec.normal
    if law.native or not force.any():
        return False, False
    load = np.einsum("tpi,tpi->tp", force, normal)
    friction = force - load[:, :, None] * normal
    slides = rec.mode == 2
    if law.cone_of_foot or law.event_driven:  # both frictions in one step: a transition, or a mean over events
        slides = np.zeros_like(slides)
    limit = np.where(slides, ground.dynamic_friction, ground.static_friction) * np.maximum(load, 0.0)
    size = np.linalg.norm(force, axis=2)
    slack = ROUNDING * size.max(axis=1, keepdims=True) + 1e-9
    if law.event_driven:  # a mean over the period, in which the point has moved and the normal turned
        turned = np.linalg.norm(np.diff(normal, axis=0), axis=2)
        turned = np.concatenate([turned, np.ones_like(size[-1:])])  # what comes after the last is not known
        slack = slack + (1.0 + ground.static_friction) * turned * size
        slack = slack + rec.robot.mass * SLOW / rec.dt  # a slip so slow is stopped at once
        slack = slack + (0.0 if ground.flat else UNSOUND_IN_CURVES) * size.max(axis=1, keepdims=True)
    pulls = bool((load < -slack).any())
    if law.cone_of_foot:
        bodies = contact_bodies(rec)
        friction = np.stack([friction[:, points].sum(axis=1) for points in bodies], axis=1)
        limit = np.stack([limit[:, points].sum(axis=1) for points in bodies], axis=1)
    return bool((np.linalg.norm(friction, axis=2) > limit + slack).any()), pulls


@lru_cache(maxsize=256)  # every law starts from the same, also where laws are run one after the other
def _drawn(
    robot: Robot, ground: Ground, count: int, seed: tuple[int, ...]
) -> tuple[tuple[float, float], tuple[Start, ...]]:
    """Friction of the ground, static and dynamic, and this many states of a robot on it."""
    rng = np.random.default_rng(seed)
    friction = FRICTIONS[rng.integers(len(FRICTIONS))]
    return friction, tuple(random_start(robot, ground, rng) for _ in range(count))


def random_states(
    laws: Mapping[str, Law],
    robots: Iterable[Robot],
    grounds: Mapping[str, Ground],
    count: int,
    *,
    seed: int = 0,
    steps: int = STEPS,
    timed: bool = True,
) -> Iterator[Case]:
    """``count`` runs of every robot on every ground under every law; all laws start from the same states."""
    check_seed(seed)
    for r, robot in enumerate(robots):
        standing = {name: standing_step(robot, law) for name, law in laws.items()} if timed else {}
        for g, (kind, ground) in enumerate(grounds.items()):
            (static, dynamic), starts = _drawn(robot, ground, count, (seed, r, g))
            place = replace(ground, static_friction=static, dynamic_friction=dynamic)
            for name, law in laws.items():
                sim = Simulation(robot, ground=place, law=law, dt=DT)
                outcome = sum((try_start(sim, start, steps, timed=timed) for start in starts), Outcome())
                if timed:
                    outcome = replace(outcome, times_standing=outcome.slowest / standing[name])
                yield Case(name, robot.name, kind, outcome)
