"""The speed of Footfall, measured as in its claims; every figure is a row, a mapping for JSON.

The spatial biped, or any robot, stands on servos. Each law's run and MuJoCo's own bulk step of the same model take
turns within one process, so that other load on the machine affects all of them alike, and the best round of each
counts: noise only adds time. Many worlds are measured standing, and *restless*: with random servo targets at 50 Hz,
random pushes, falls and resets. A batch that is fast only while nothing happens is not fast.
"""

from __future__ import annotations

import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import mujoco
import numpy as np

from footfall.contact import law_class
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.contact.registry import DEFAULT_LAW
from footfall.control import Balance, Posture, Walk
from footfall.control.posture import with_servos
from footfall.errors import ControllerError, FootfallError, SimulationError, without_warnings
from footfall.ground import Ground
from footfall.measure import audit
from footfall.process.machine import cores
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import Robot, load_robot
from footfall.robot.load import as_robot
from footfall.robot.model import centre_of_mass
from footfall.simulation import Simulation
from footfall.simulation.run import Run
from footfall.simulation.task import Task
from footfall.simulation.worlds import Worlds
from footfall.standing import at_home, in_pose

DT = 1e-3  # s
MUJOCO = "mj_step"
#: Height (m) and forward speed (m/s) at the start of motions, and their number of steps.
MOTIONS = {"landing from 5 cm": (0.05, 0.0), "sliding at 1.5 m/s": (0.0, 1.5)}
MOTION_STEPS = 400

Key = TypeVar("Key")
Row = dict[str, Any]
Say = Callable[[str], None]
Stepper = Callable[[int], object]
#: A function that prepares a measurement, and returns the function to be timed.
Job = Callable[[], Callable[[], object]]


@dataclass(frozen=True)
class Effort:
    """Extent of a measurement: ``rounds`` of ``steps`` after ``settle`` steps."""

    rounds: int = 15
    steps: int = 2000
    settle: int = 5000
    cold_start: bool = True


QUICK = Effort(cold_start=False)
#: Starts of a process of which the fastest counts.
STARTS = 5


def best_times(jobs: Mapping[Key, Job], rounds: int) -> dict[Key, float]:
    """Time of each job, s, the best of several rounds in which all jobs take turns."""
    best = dict.fromkeys(jobs, math.inf)
    for _ in range(rounds):
        for name, job in jobs.items():
            act = job()
            begin = time.perf_counter()
            act()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def interleaved(steppers: Mapping[Key, Stepper], rounds: int, steps: int) -> dict[Key, float]:
    """The same per step, of runs that go on from round to round."""
    jobs = {name: partial(partial, stepper, steps) for name, stepper in steppers.items()}
    return {name: seconds / steps for name, seconds in best_times(jobs, rounds).items()}


def _figure(figure: str, value: float, unit: str) -> Row:
    return {"figure": figure, "value": value, "unit": unit}


def bench(effort: Effort = QUICK, say: Say = lambda sentence: None) -> Iterator[Row]:
    """Every figure, one after the other; ``say`` is told what is being measured."""
    robot = load_robot("spatial-biped", actuators="position")
    for what, measure in FIGURES.items():
        say(f"bench: {what}")
        yield from measure(robot, effort)


def law_speeds(robot: Robot, effort: Effort) -> Iterator[Row]:
    """Each law's time per step and MuJoCo's own, interleaved."""
    model, data = mujoco_scene(robot)
    steppers: dict[str, Stepper] = {law: settled(robot, law, effort) for law in all_laws()}
    mujoco.mj_step(model, data, nstep=effort.settle)
    steppers[MUJOCO] = mujoco_stepper(model, data)
    best = interleaved(steppers, effort.rounds, effort.steps)
    reference = best.pop(MUJOCO)
    yield _figure("MuJoCo's own step", 1e6 * reference, "us")
    yield _figure("MuJoCo's own step, contacts", data.ncon, "points")
    for law, seconds in best.items():
        yield {
            "law": law,
            "us_per_step": 1e6 * seconds,
            "ratio_to_mujoco": reference / seconds,
            "robot": robot.name,
        }


def motion_speeds(robot: Robot, effort: Effort) -> Iterator[Row]:
    """Steps per second of each coupled law relative to MuJoCo's own, while feet land and slide."""
    model, data = mujoco_scene(robot)
    laws = [law for law in all_laws() if law_class(law).coupled]
    for motion, (height, speed) in MOTIONS.items():
        qpos, qvel = robot.home.copy(), np.zeros(model.nv)
        qpos[2] += height
        qvel[0] = speed

        def ours(law: str, qpos: np.ndarray = qpos, qvel: np.ndarray = qvel) -> Callable[[], object]:
            run = begun(Simulation(robot, law=law, dt=DT), MOTION_STEPS, qpos=qpos, qvel=qvel)
            return partial(run.advance, MOTION_STEPS)

        def theirs(qpos: np.ndarray = qpos, qvel: np.ndarray = qvel) -> Callable[[], object]:
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, robot.home_ctrl
            return partial(mujoco_stepper(model, data), MOTION_STEPS)

        jobs: dict[str, Job] = {law: partial(ours, law) for law in laws}
        best = best_times({**jobs, MUJOCO: theirs}, max(1, effort.rounds // 3))
        for law in laws:
            yield _figure(f"{law}, {motion}", best[MUJOCO] / best[law], "x MuJoCo's steps")


def mujoco_scene(robot: Robot) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The robot at home as MuJoCo alone simulates it: default solver, its own contacts of the soles with a plane."""
    spec = robot.spec()
    Ground.plane().add_to(spec)
    model = spec.compile()
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = robot.home, robot.home_ctrl
    return model, data


def mujoco_stepper(model: mujoco.MjModel, data: mujoco.MjData) -> Stepper:
    """MuJoCo's own bulk step."""
    return lambda steps: mujoco.mj_step(model, data, nstep=steps)


def controller_costs(robot: Robot, effort: Effort) -> Iterator[Row]:
    """Time per step of the biped with motors under control."""
    law, motors = "spring-damper", load_robot("spatial-biped")
    walk = Walk(steps=math.ceil(DT * (effort.settle + effort.rounds * effort.steps) / Walk().period))
    controllers = {"posture": Posture(), "balance": Balance(), "walk": walk}
    steppers = {name: settled(motors, law, effort, one) for name, one in controllers.items()}
    for name, seconds in interleaved(steppers, effort.rounds, effort.steps).items():
        yield _figure(f"controlled by {name}, {law}", 1e6 * seconds, "us per step")


def run_cost(robot: Robot, effort: Effort) -> Iterator[Row]:
    """The overhead of a run of ten steps."""
    sim = Simulation(robot, law="time-stepping", dt=DT)
    few, many = 10, 10 + effort.steps
    best = best_times({n: partial(partial, sim.run, n * DT) for n in (few, many)}, 10 * effort.rounds)
    each = (best[many] - best[few]) / (many - few)
    yield _figure("a run of 10 steps, beside them", 1e3 * (best[few] - few * each), "ms")


def settled(robot: Robot, law: Law | str, effort: Effort, controller: Any = None) -> Stepper:
    """A run that has settled and can take as many more steps as ``interleaved`` needs."""
    steps = effort.settle + effort.rounds * effort.steps
    run = begun(Simulation(robot, law=law, dt=DT), steps, controller=controller)

    def take(steps: int) -> None:
        if not run.advance(steps):
            raise SimulationError(f"bench: the run under {law} ended early, at t = {run.outcome.begun[0] * DT:g} s")

    take(effort.settle)
    return take


def begun(sim: Simulation, steps: int, **task: Any) -> Run:
    """A run with this many steps left."""
    return Run(sim, (steps + 1) * sim.dt, Task(control_dt=sim.dt, record_dt=1.0, **task))


# ---- processes of their own ----------------------------------------------------------------------------------

FIRST_STEP = """
import sys, footfall
footfall.Simulation("spatial-biped", law=sys.argv[1]).run(1e-3, controller="posture")
"""


def first_step_times(robot: Robot, effort: Effort) -> Iterator[Row]:
    """From the start of a process to the end of its first step: nothing compiled yet, and everything."""
    if effort.cold_start:
        yield from cold_starts(DEFAULT_LAW)
    code = FIRST_STEP + "import os; os._exit(0)"  # Python's shutdown is not part of the first step
    _python(code, DEFAULT_LAW)
    best = best_times({"warm": partial(partial, _python, code, DEFAULT_LAW)}, STARTS)
    yield _figure("first step, warm", best["warm"], "s")


def cold_starts(*laws: str) -> Iterator[Row]:
    """From the start of a process to the end of its first step with nothing compiled, for each law.

    Also the processor time of all compiling processes, on which other load has less effect.
    """
    for law in laws:
        with tempfile.TemporaryDirectory() as folder:
            before = _time_of_children()
            best = best_times({law: partial(partial, _python, FIRST_STEP, law, FOOTFALL_CACHE=folder)}, 1)
            yield _figure(f"first step, cold, {law}", best[law], "s")
            yield _figure(f"its processor time, {law}", _time_of_children() - before, "s")


def _time_of_children() -> float:
    """Processor time of all processes that were started and have ended, and of theirs, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _python(code: str, *arguments: str, **environment: str) -> str:
    """The output of a new Python process that imports this package."""
    home = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    env = os.environ | {"PYTHONPATH": path} | environment
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FootfallError(f"bench: a process failed: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    return done.stdout


#: The measurements of ``bench``, in this order.
FIGURES: dict[str, Callable[[Robot, Effort], Iterator[Row]]] = {
    "the speed of every law against MuJoCo's own step": law_speeds,
    "feet that land and slide": motion_speeds,
    "controllers at every step": controller_costs,
    "short runs": run_cost,
    "time to the first step; a cold one compiles everything": first_step_times,
}


# ---- any robot: it stands, moves, falls and lies -------------------------------------------------------------

#: Share of the height of the centre of mass above which a robot counts as standing.
STANDING = 0.8
#: Time for which it must stand, and the last part of that in which forces and creep are measured, s.
DURATION, LATE = 3.0, 1.0
#: Largest distance of servo targets from home in a restless motion, rad or m; initial speed of the base of a falling
#: robot, m/s, so that it falls to one side; time of each motion, s.
FAR, SWAY, TIMED = 0.3, (0.3, 0.2), 1.0
MOVING = ("standing", "restless", "falling", "lying")
#: What is told of robots that stand, beside the time of a step.
STOOD = ("stands", "audit", "force_over_weight", "creep_mm_per_s")


def robot_table(
    robots: Sequence[Robot | str],
    rounds: int,
    say: Say = lambda sentence: None,
    laws: Sequence[Law | str] | None = None,
    timed: float = TIMED,
) -> Iterator[Row]:
    """Processor time of a step of every robot by law and motion, beside ``mj_step`` from the same start with the same
    controls, and the share of steps that is unsolved; of those that stand also the audit of 3 s, force over weight and
    the speed of the fastest foot in the last second. What is not known is None, and ``note`` says why.

    It stands on servos at home, or is restless: targets within ``FAR`` of home at 50 Hz. Without actuators it falls,
    and after twice ``timed`` (s) it lies.
    """
    chosen, steps = [*(str(law) for law in laws or all_laws()), MUJOCO], max(1, round(timed / (STEPS * DT)))
    for given in robots:
        robot = driven(as_robot(given), say)
        away = np.random.default_rng(0).uniform(-FAR, FAR, size=(steps, robot.model.nu))
        for motion in MOVING:
            own = robot if motion in ("standing", "restless") else limp(robot)
            controls = own.home_ctrl + (away if motion == "restless" else np.zeros((steps, own.model.nu)))
            names = ("us_per_step", "ratio_to_mujoco", "unsolved", *(STOOD if motion == "standing" else ()))
            blank = {"robot": own.name, "motion": motion, **dict.fromkeys(names), "note": ""}
            found: dict[str, Row] = {law: blank | {"law": law} for law in chosen}
            for law, row in found.items():
                say(f"bench: {own.name} {motion} under {law}")
                try:
                    row |= _stood(own, law) if motion == "standing" else {}
                    times = [_moved(own, law, controls, 2 * steps if motion == "lying" else 0) for _ in range(rounds)]
                    row |= {"us_per_step": 1e6 * min(took for took, _ in times), "unsolved": times[0][1]}
                except FootfallError as error:
                    row["note"] = str(error).splitlines()[0]
            for row in found.values():
                if row["us_per_step"] is not None:
                    row["ratio_to_mujoco"] = found[MUJOCO]["us_per_step"] / row["us_per_step"]
                yield row


def driven(robot: Robot, say: Say) -> Robot:
    """The robot with servos that hold its home pose, since MuJoCo alone must hold it too, or itself and a sentence."""
    try:
        return with_servos(robot)
    except ControllerError as error:
        say(f"bench: {robot.name} is left to itself: {error}")
        return robot


def _stood(robot: Robot, law: str) -> Row:
    """Let it stand for 3 s in the law's default steps (s), every one on record, and judge that."""
    if law == MUJOCO:
        model, data = mujoco_scene(robot)
        mujoco.mj_step(model, data, nstep=round(DURATION / DT))
        return {"stands": _stands(robot, model, data), "note": f"{data.ncon} contacts"}
    sim = Simulation(robot, law=law)
    note = "" if sim.dt == DT else f"in steps of {1e3 * sim.dt:.3g} ms"
    with without_warnings():
        try:
            rec = sim.run(DURATION, controller=None)
        except SimulationError as error:
            if not isinstance(error.recording, Recording) or len(error.recording) < 2:
                raise
            rec, note = error.recording, str(error).splitlines()[0]
        verdict = audit(rec)
    late = rec.slice(max(0.0, rec.time[-1] - LATE))
    amiss = (*verdict.failed, *(f"{name}?" for name in verdict.unknown))
    way = late.position[-1, :, :2] - late.position[0, :, :2]
    creep = max(np.linalg.norm(way[late.foot(foot.name)].mean(axis=0)) for foot in robot.feet)
    return {
        "stands": rec.failure is None and _stands(robot, robot.model, in_pose(robot, rec.qpos[-1])),
        "audit": ", ".join(amiss) or "pass",
        "force_over_weight": float(late.total_force[:, 2].mean() / robot.weight),
        "creep_mm_per_s": 1e3 * float(creep) / max(late.time[-1] - late.time[0], late.dt),
        "note": note,
    }


def _stands(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    home = centre_of_mass(robot.model, at_home(robot))
    return bool(centre_of_mass(model, data)[2] > STANDING * home[2])


def limp(robot: Robot) -> Robot:
    """The same robot without actuators."""
    spec = robot.spec()
    for part in (*spec.sensors, *spec.keys, *spec.actuators):  # sensors and poses may name actuators
        spec.delete(part)
    return robot.of_spec(spec, home_ctrl=np.zeros(0))


def _moved(robot: Robot, law: str, controls: np.ndarray, before: int) -> tuple[float, float]:
    """Seconds of the thread's time that a step takes with ``controls`` (N, nu) after ``before`` times ``STEPS`` steps,
    and the share of unsolved steps; those that a run which ends does not take are left out.
    """
    qvel = np.zeros(robot.model.nv)
    if not robot.model.nu:
        qvel[:2] = SWAY
    if law == MUJOCO:
        model, data = mujoco_scene(robot)
        data.qvel[:] = qvel
        mujoco.mj_step(model, data, nstep=before * STEPS)
        begin = time.thread_time()
        for ctrl in controls:
            data.ctrl[:] = ctrl
            mujoco.mj_step(model, data, nstep=STEPS)
        return (time.thread_time() - begin) / (STEPS * len(controls)), 0.0
    with without_warnings():
        world = Simulation(robot, law=law, dt=DT).start(qvel=qvel)
        world.step(n=max(1, before * STEPS))  # whatever is to be compiled is compiled here
        first, begin = len(world.record()), time.thread_time()
        for ctrl in controls:
            if world.status == 0:
                world.step(ctrl, n=STEPS)
        took = time.thread_time() - begin
        status = world.record().status[first - 1 :]
    return took / max(1, len(status) - 1), float(np.mean(status != 0)) if len(status) else math.nan


# ---- many worlds ---------------------------------------------------------------------------------------------

#: The name of the robot that MuJoCo, MJX and MuJoCo Warp are measured by, and its model.
HUMANOID, HUMANOID_FILE = "humanoid", Path(__file__).with_name("humanoid.xml")
#: Steps between two choices of controls: 50 Hz at 1 ms.
STEPS = 20
#: Laws that are measured unless others are named.
LAWS = ("spring-damper", "hunt-crossley", "distributed", "linearizing-penalty", "time-stepping", "constraint-selection")
#: rad or m, standard deviation of the servos' targets, and the size of random pushes as a share of the weight.
NOISE, SHOVE = 0.1, 0.3


def world_robot(name: str = "spatial-biped") -> Robot:
    """A robot on servos: the name "humanoid" is that of the bench, others are as in ``load_robot``."""
    if name == "spatial-biped":
        return load_robot(name, actuators="position")
    return with_servos(load_robot(HUMANOID_FILE if name == HUMANOID else name))


def world_speeds(
    robot: Robot,
    counts: Sequence[int],
    laws: Sequence[str] = LAWS,
    *,
    device: Literal["cpu", "cuda"] = "cpu",
    rounds: int = 5,
    say: Say,
) -> Iterator[Row]:
    """Steps per second of all worlds, by law and number of worlds.

    On a CPU also those of MuJoCo's own batch, standing. What is not offered is said.
    """
    rollout = cache(partial(rollout_speed, robot, rounds))
    for law in laws:
        sim = Simulation(robot, law=law)
        for count in counts:
            about = {"robot": robot.name, "law": law, "device": device, "worlds": count}
            try:
                found = _measured(Worlds(sim, count, device=device), rounds)
            except FootfallError as error:
                say(f"{law}, {count} worlds: {error}")
                continue
            theirs = None if device == "cuda" else rollout(count)
            ratio = None if theirs is None else found["standing"] / theirs
            yield about | found | {"mujoco_rollout": theirs, "ratio_to_rollout": ratio}


def _measured(worlds: Worlds, rounds: int) -> Row:
    """Steps per second of standing worlds, and of worlds that are pushed, noisy and reset when they end."""
    rng, robot, count = np.random.default_rng(0), worlds.simulation.robot, worlds.count
    force = SHOVE * robot.weight
    pushes = [
        [
            Push(robot.root, (force * np.cos(a), force * np.sin(a), 0.0), start=float(start), duration=0.1)
            for a, start in zip(rng.uniform(0, 2 * np.pi, 2), rng.uniform(0, 1, 2), strict=True)
        ]
        for _ in range(min(count, 256))
    ]
    worlds.step(robot.home_ctrl, n=STEPS)
    standing = best_times({"": partial(partial, worlds.step, n=STEPS)}, rounds)[""]
    worlds.reset(pushes=[pushes[i % len(pushes)] for i in range(count)])
    # To compute controls is no part of a step.
    controls = robot.home_ctrl + rng.normal(scale=NOISE, size=(8, count, robot.model.nu))
    turns, resets = 25 if worlds.device == "cpu" and count < 4096 else 10 * rounds, 0

    def restless(turns: int) -> None:
        nonlocal resets
        for turn in range(turns):
            worlds.step(controls[turn % len(controls)], n=STEPS)
            ended = worlds.status != 0
            if ended.any():
                resets += int(ended.sum())
                worlds.reset(ended)

    restless(1)
    took = best_times({"": partial(partial, restless, turns)}, 1)[""]
    return {
        "standing": count * STEPS / standing,
        "restless": count * STEPS * turns / took,
        "unsolved": float(worlds.unsolved.sum()) / (count * STEPS * (turns + 1)),  # share of the restless steps
        "resets": resets,
    }


def rollout_speed(robot: Robot, rounds: int, count: int) -> float:
    """Steps per second of ``mujoco.rollout``, MuJoCo's threaded batch, standing on the same robot."""
    from mujoco import rollout

    model, data = mujoco_scene(robot)
    one = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, one, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.tile(one, (count, 1))
    team = [mujoco.MjData(model) for _ in range(cores())]
    control = np.tile(robot.home_ctrl, (count, STEPS, 1))
    with rollout.Rollout(nthread=len(team)) as pool:

        def step() -> None:
            nonlocal state
            states, _ = pool.rollout(model, team, state, control, nstep=STEPS)
            state = np.ascontiguousarray(states[:, -1])

        step()
        return count * STEPS / best_times({"": lambda: step}, rounds)[""]


def machine() -> str:
    """The machine of the measurements."""
    return f"{platform.machine()}, {cores()} processors, {platform.system()} {platform.release()}"
