"""How fast Footfall is, measured the way its speed is claimed.

The spatial biped stands on its eight points, held by position servos. Each law's run and MuJoCo's own bulk step take
turns within one process, so that other load on the machine affects all of them alike, and the best round of each
counts: noise only adds time.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import mujoco
import numpy as np

from footfall.contact import law_class
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.control import Balance, Posture, Walk
from footfall.errors import FootfallError, SimulationError
from footfall.ground import Ground
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.simulation.controls import Controller
from footfall.simulation.run import Run
from footfall.simulation.task import Task

DT = 1e-3  # s
MUJOCO = "mj_step"
#: Height (m) and forward speed (m/s) at the start of motions, and their number of steps.
MOTIONS = {"landing from 5 cm": (0.05, 0.0), "sliding at 1.5 m/s": (0.0, 1.5)}
MOTION_STEPS = 400

Key = TypeVar("Key")
Stepper = Callable[[int], object]


@dataclass(frozen=True)
class LawSpeed:
    """Time per step of a law, and its steps per second over those of MuJoCo's own step."""

    law: str
    us_per_step: float
    ratio_to_mujoco: float
    robot: str = "spatial-biped"


@dataclass(frozen=True)
class Figure:
    """Anything else that was measured."""

    figure: str
    value: float
    unit: str


@dataclass(frozen=True)
class Effort:
    """How much to measure: ``rounds`` of ``steps`` after ``settle`` steps; grids of n x n points per foot."""

    rounds: int = 15
    steps: int = 2000
    settle: int = 5000
    grids: tuple[int, ...] = (2, 4, 6, 10, 14, 20)
    processes: int = 5
    cold_start: bool = True


QUICK = Effort(grids=(2, 4, 6), cold_start=False)


def bench(effort: Effort = QUICK, say: Callable[[str], None] = lambda sentence: None) -> Iterator[LawSpeed | Figure]:
    """Every figure, one after the other; ``say`` is told what is being measured."""
    robot = load_robot("spatial-biped", actuators="position")
    say("bench: the speed of every law against MuJoCo's own step")
    yield from law_speeds(robot, all_laws(), effort)
    say("bench: feet that land and slide")
    yield from motion_speeds(robot, [law for law in all_laws() if law_class(law).coupled], effort)
    say("bench: the cost of contact points")
    yield from point_costs(robot, effort)
    say("bench: a Python controller at every step")
    yield controller_overhead(robot, effort)
    say("bench: controllers at every step")
    yield from controller_costs(effort)
    say("bench: short runs")
    yield run_cost(robot, effort)
    say("bench: two threads")
    yield from thread_ratios(robot, effort)
    say("bench: import time")
    yield import_time(effort)
    say("bench: time to the first step" + (", cold: this compiles everything" if effort.cold_start else ""))
    yield from first_step_times(effort)
    say("bench: memory")
    yield peak_memory()


# ---- one process ---------------------------------------------------------------------------------------------


def law_speeds(robot: Robot, laws: Sequence[Law | str], effort: Effort) -> Iterator[LawSpeed | Figure]:
    """Each law's time per step and MuJoCo's own, interleaved."""
    model, data = mujoco_scene(robot)
    steppers: dict[str, Stepper] = {str(law): settled(robot, law, effort) for law in laws}
    mujoco.mj_step(model, data, nstep=effort.settle)
    steppers[MUJOCO] = mujoco_stepper(model, data)
    best = interleaved(steppers, effort.rounds, effort.steps)
    reference = best.pop(MUJOCO)
    yield Figure("MuJoCo's own step", 1e6 * reference, "us")
    yield Figure("MuJoCo's own step, contacts", data.ncon, "points")
    for law, seconds in best.items():
        yield LawSpeed(law, 1e6 * seconds, reference / seconds, robot.name)


def motion_speeds(robot: Robot, laws: Sequence[str], effort: Effort) -> Iterator[Figure]:
    """Steps per second of each law relative to MuJoCo's own, while feet land and slide."""
    model, data = mujoco_scene(robot)
    for motion, (height, speed) in MOTIONS.items():
        qpos, qvel = robot.home.copy(), np.zeros(model.nv)
        qpos[2] += height
        qvel[0] = speed
        best = dict.fromkeys([*laws, MUJOCO], float("inf"))
        for _ in range(max(1, effort.rounds // 3)):
            for law in laws:
                run = begun(Simulation(robot, law=law, dt=DT), MOTION_STEPS, qpos, qvel)
                best[law] = min(best[law], _seconds(run.advance, MOTION_STEPS))
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, robot.home_ctrl
            best[MUJOCO] = min(best[MUJOCO], _seconds(mujoco_stepper(model, data), MOTION_STEPS))
        for law in laws:
            yield Figure(f"{law}, {motion}", best[MUJOCO] / best[law], "x MuJoCo's steps")


def _seconds(stepper: Callable[[int], object], steps: int) -> float:
    begin = time.perf_counter()
    stepper(steps)
    return (time.perf_counter() - begin) / steps


def mujoco_scene(robot: Robot) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The robot at home as MuJoCo alone simulates it: default solver, its own contacts of the soles with a plane."""
    if robot.mjcf is None:
        raise SimulationError("the bench needs a robot that was loaded from XML")
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    Ground.plane().add_to(spec)
    model = spec.compile()
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = robot.home, robot.home_ctrl
    return model, data


def mujoco_stepper(model: mujoco.MjModel, data: mujoco.MjData, start: np.ndarray | None = None) -> Stepper:
    """MuJoCo's own bulk step; each call starts at rest in the pose ``start`` (nq,), if one is given."""

    def take(steps: int) -> None:
        if start is not None:
            data.qpos[:], data.qvel[:] = start, 0.0
        mujoco.mj_step(model, data, nstep=steps)

    return take


def point_costs(robot: Robot, effort: Effort) -> Iterator[Figure]:
    """Time per step of spring-damper against the number of contact points per foot."""
    law = "spring-damper"
    steppers = {n * n: settled(robot.with_points((n, n)), law, effort) for n in effort.grids}
    for count, seconds in interleaved(steppers, effort.rounds, effort.steps).items():
        yield Figure(f"{law}, {count} points per foot", 1e6 * seconds, "us per step")


def controller_overhead(robot: Robot, effort: Effort) -> Figure:
    """What calling a Python function at every step adds, per call."""
    held = robot.home_ctrl
    law = "spring-damper"
    steppers = {"without": settled(robot, law, effort), "with": settled(robot, law, effort, lambda t, state: held)}
    best = interleaved(steppers, effort.rounds, effort.steps)
    return Figure("Python controller, per call", 1e6 * (best["with"] - best["without"]), "us")


def controller_costs(effort: Effort) -> Iterator[Figure]:
    """Time per step of the biped with motors that stands, balances and walks, with control at every step."""
    robot, law = load_robot("spatial-biped"), "spring-damper"
    seconds = DT * (effort.settle + effort.rounds * effort.steps)
    walk = Walk(steps=math.ceil(seconds / Walk().period))
    steppers = {str(one): settled(robot, law, effort, one) for one in (Posture(), Balance())}
    steppers["walk"] = settled(robot, law, effort, walk)
    for name, seconds in interleaved(steppers, effort.rounds, effort.steps).items():
        yield Figure(f"controlled by {name.partition('(')[0].lower()}, {law}", 1e6 * seconds, "us per step")


def run_cost(robot: Robot, effort: Effort) -> Figure:
    """The overhead of a run of ten steps."""
    sim = Simulation(robot, law="time-stepping", dt=DT)
    few, many = 10, 10 + effort.steps
    best = dict.fromkeys((few, many), float("inf"))
    for _ in range(effort.rounds):
        for steps, times in ((few, 20), (many, 1)):
            for _ in range(times):
                best[steps] = min(best[steps], _seconds(lambda n: sim.run(n * DT), steps) * steps)
    each = (best[many] - best[few]) / (many - few)
    return Figure("a run of 10 steps, beside them", 1e3 * (best[few] - few * each), "ms")


def thread_ratios(robot: Robot, effort: Effort) -> Iterator[Figure]:
    """Time of two simulations in two threads over the time of one; MuJoCo's own shows what the machine allows."""
    law, steps = DEFAULT_LAW, 10 * effort.steps  # long against the start of a thread
    ours = [settled(robot, law, effort, length=2 * effort.rounds * steps) for _ in range(2)]
    theirs = [mujoco_stepper(*mujoco_scene(robot)) for _ in range(2)]
    pairs = {f"two threads over one, {law}": ours, f"two threads over one, {MUJOCO}": theirs}
    with ThreadPoolExecutor(2) as pool:

        def in_threads(steppers: Sequence[Stepper]) -> Stepper:
            def take(steps: int) -> None:
                for one in [pool.submit(stepper, steps) for stepper in steppers]:
                    one.result()

            return take

        turns = {(name, n): in_threads(pair[:n]) for name, pair in pairs.items() for n in (1, 2)}
        best = interleaved(turns, effort.rounds, steps)
    for name in pairs:
        yield Figure(name, best[name, 2] / best[name, 1], "ratio")


def settled(
    robot: Robot,
    law: Law | str,
    effort: Effort,
    controller: Controller | None = None,
    length: int | None = None,
    dt: float = DT,
) -> Stepper:
    """A run that has settled and can take ``length`` more steps, as many as ``interleaved`` needs."""
    steps = effort.settle + (effort.rounds * effort.steps if length is None else length)
    run = begun(Simulation(robot, law=law, dt=dt), steps, controller=controller)

    def take(steps: int) -> None:
        if not run.advance(steps):
            raise SimulationError(f"bench: the run under {law} ended early, at t = {run.outcome[1] * dt:g} s")

    take(effort.settle)
    return take


def begun(
    sim: Simulation,
    steps: int,
    qpos: np.ndarray | None = None,
    qvel: np.ndarray | None = None,
    controller: Controller | None = None,
) -> Run:
    """A run that can take this many steps."""
    task = Task(controller=controller, qpos=qpos, qvel=qvel, control_dt=sim.dt, record_dt=1.0)
    return Run(sim, (steps + 1) * sim.dt, task)


def interleaved(
    steppers: Mapping[Key, Stepper], rounds: int, steps: int, ended: dict[Key, str] | None = None
) -> dict[Key, float]:
    """Seconds per step of each, best of several rounds in which all take turns.

    A run that fails ends the measurement, unless a list ``ended`` is given: then its name is added and it is left out.
    """
    best = dict.fromkeys(steppers, float("inf"))
    for _ in range(rounds):
        for name in list(best):
            try:
                best[name] = min(best[name], _seconds(steppers[name], steps))
            except SimulationError as error:
                if ended is None:
                    raise
                ended[name] = str(error)
                del best[name]
    return best


# ---- processes of their own ----------------------------------------------------------------------------------

DEFAULT_LAW = "linearizing-penalty"  # of `Simulation`
FIRST_STEP = """
import sys, footfall
footfall.Simulation("spatial-biped", law=sys.argv[1]).run(1e-3, controller="posture")
"""

STANDARD_RUN = """
import resource, sys, footfall
footfall.Simulation("spatial-biped").run(5.0, controller="posture")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak / (2**20 if sys.platform == "darwin" else 2**10))
"""


def import_time(effort: Effort) -> Figure:
    """`import footfall` in a new process, over what an empty one takes."""
    bare = min(_wall("pass") for _ in range(effort.processes))
    full = min(_wall("import footfall") for _ in range(effort.processes))
    return Figure("import footfall", 1e3 * (full - bare), "ms")


def first_step_times(effort: Effort) -> Iterator[Figure]:
    """From the start of a process to the end of its first step: nothing compiled yet, and everything."""
    if effort.cold_start:
        yield from cold_starts(DEFAULT_LAW)
    code = FIRST_STEP + "import os; os._exit(0)"  # Python's shutdown is not part of the first step
    _wall(code, DEFAULT_LAW)
    yield Figure("first step, warm", min(_wall(code, DEFAULT_LAW) for _ in range(effort.processes)), "s")


def cold_starts(*laws: str) -> Iterator[Figure]:
    """From the start of a process to the end of its first step with nothing compiled, for each law.

    Also the processor time of all compiling processes, on which other load has less effect.
    """
    for law in laws:
        with tempfile.TemporaryDirectory() as folder:
            before = _time_of_children()
            yield Figure(f"first step, cold, {law}", _wall(FIRST_STEP, law, FOOTFALL_CACHE=folder), "s")
            yield Figure(f"its processor time, {law}", _time_of_children() - before, "s")


def _time_of_children() -> float:
    """Processor time of all processes that were started and have ended, and of theirs, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory() -> Figure:
    """Resident memory of a process that runs the biped for 5 s and records every step."""
    return Figure("peak memory of a 5 s run", float(_python(STANDARD_RUN).split()[-1]), "MiB")


def _wall(code: str, *arguments: str, **environment: str) -> float:
    begin = time.perf_counter()
    _python(code, *arguments, **environment)
    return time.perf_counter() - begin


def _python(code: str, *arguments: str, **environment: str) -> str:
    """The output of a new Python process that imports this package."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    env = os.environ | {"PYTHONPATH": path} | environment
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FootfallError(f"bench: a process failed: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    return done.stdout
