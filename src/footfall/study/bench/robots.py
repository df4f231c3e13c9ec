"""Any robot under every law beside MuJoCo's own step of the same model: does it stand, and what does a step cost?

Servos hold the home pose. Motors are replaced by servos with the gains and torque limits of posture control, since
MuJoCo alone must hold the robot too. A robot with other actuators is not controlled. What joint friction costs is
measured on the same robot with and without it: standing, pushed and landing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.control.posture import with_servos
from footfall.errors import ControllerError, FootfallError, SimulationError, without_warnings
from footfall.measure import audit
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.robot.load import as_robot
from footfall.robot.model import centre_of_mass, compiled, written
from footfall.simulation import Simulation
from footfall.standing import at_home
from footfall.study.bench.speeds import DT, MUJOCO, Effort, Stepper, interleaved, mujoco_scene, mujoco_stepper, settled

#: Share of the height of the centre of mass above which a robot counts as standing.
STANDING = 0.8
#: How long it must stand, and the last part of that from which forces and creep are taken, s.
DURATION, LATE = 3.0, 1.0


@dataclass(frozen=True)
class RobotLaw:
    """A robot standing on its servos under a law, beside MuJoCo's own step; None where there is no such number.

    Attributes:
        mujoco_stands: whether MuJoCo's own step holds the same model up for as long.
        stands: whether the centre of mass stays above four fifths of its height, for 3 s.
        unsolved: samples of these 3 s, one each step, that the law marked as unsolved.
        audit: "pass", or what the audit of the recording did not pass.
        force_over_weight: mean vertical force of the last second over the weight.
        creep_mm_per_s: speed of the fastest foot along the ground in the last second.
        us_per_step: time of a step, best of several rounds.
        ratio_to_mujoco: steps per second over those of MuJoCo's own step.
        note: why there are no numbers, or what else there is to say.
    """

    robot: str
    law: str
    mujoco_stands: bool
    stands: bool = False
    unsolved: int | None = None
    audit: str = ""
    force_over_weight: float | None = None
    creep_mm_per_s: float | None = None
    us_per_step: float | None = None
    ratio_to_mujoco: float | None = None
    note: str = ""


def robot_table(
    robots: Sequence[Robot | str],
    effort: Effort,
    say: Callable[[str], None] = lambda sentence: None,
    laws: Sequence[Law | str] | None = None,
) -> Iterator[RobotLaw]:
    """A row for every robot and law, and one for MuJoCo's own step."""
    chosen = [str(law) for law in laws or all_laws()]
    done, total = 0, len(robots) * len(chosen)
    for given in robots:
        robot = driven(as_robot(given), say)
        model, data = mujoco_scene(robot)
        mujoco.mj_step(model, data, nstep=round(DURATION / DT))
        holds = _stands(robot, model, data)
        if not holds:
            say(f"bench: MuJoCo's own step does not hold {robot.name} up for {DURATION:g} s either")
        steppers: dict[str, Stepper] = {}
        rows: dict[str, RobotLaw] = {}
        for law in chosen:
            done += 1
            say(f"bench: {robot.name} under {law}, {done} of {total}")
            try:
                rows[law], dt = _stood(robot, law, mujoco_stands=holds)
                steppers[law] = settled(robot, law, effort, dt=dt)
            except FootfallError as error:
                note = str(error).splitlines()[0]
                rows[law] = replace(rows.get(law, RobotLaw(robot.name, law, holds)), note=note)
        say(f"bench: the time of a step of {robot.name}")
        # A robot that MuJoCo lets fall is timed while it stands: each round starts again from home.
        steppers[MUJOCO] = mujoco_stepper(model, data, None if holds else robot.home)
        ended: dict[str, str] = {}
        best = interleaved(steppers, effort.rounds, effort.steps, ended)
        note = f"{data.ncon} contacts" if holds else f"{data.ncon} contacts, from home"
        rows[MUJOCO] = RobotLaw(robot.name, MUJOCO, holds, stands=holds, note=note)
        for law, row in rows.items():
            seconds = best.get(law)
            if seconds is None:
                yield replace(row, note=row.note or ended.get(law, ""))
            else:
                yield replace(row, us_per_step=1e6 * seconds, ratio_to_mujoco=best[MUJOCO] / seconds)


def driven(robot: Robot, say: Callable[[str], None]) -> Robot:
    """The robot with servos that hold its home pose, or itself and a sentence where it cannot have any."""
    try:
        return with_servos(robot)
    except ControllerError as error:
        say(f"bench: {robot.name} is left to itself: {error}")
        return robot


def _stood(robot: Robot, law: str, *, mujoco_stands: bool) -> tuple[RobotLaw, float]:
    """Let it stand for 3 s in the law's default steps (s), every one on record, and judge that."""
    sim = Simulation(robot, law=law)
    note = "" if sim.dt == DT else f"in steps of {1e3 * sim.dt:.3g} ms"
    with without_warnings():
        try:
            rec = sim.run(DURATION)
        except SimulationError as error:
            if not isinstance(error.recording, Recording) or len(error.recording) < 2:
                raise
            rec, note = error.recording, str(error).splitlines()[0]
        verdict = audit(rec)
    late = rec.slice(max(0.0, rec.time[-1] - LATE))
    data = mujoco.MjData(robot.model)
    data.qpos[:] = rec.qpos[-1]
    mujoco.mj_forward(robot.model, data)
    amiss = (*verdict.failed, *(f"{name}?" for name in verdict.unknown))
    found = RobotLaw(
        robot=robot.name,
        law=law,
        mujoco_stands=mujoco_stands,
        stands=rec.failure is None and _stands(robot, robot.model, data),
        unsolved=int(np.count_nonzero(rec.status)),
        audit=", ".join(amiss) or "pass",
        force_over_weight=float(late.total_force[:, 2].mean() / robot.weight),
        creep_mm_per_s=1e3 * _creep(late),
        note=note,
    )
    return found, sim.dt


def _creep(rec: Recording) -> float:
    """Speed at which the middle of a foot's points goes over the ground from the first to the last sample, m/s."""
    way = rec.position[-1] - rec.position[0]
    feet = [way[rec.foot(foot.name)].mean(axis=0) for foot in rec.robot.feet]
    return float(max(np.hypot(x, y) for x, y, _ in feet) / max(rec.time[-1] - rec.time[0], rec.dt))


def _stands(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    home = centre_of_mass(robot.model, at_home(robot))
    return bool(centre_of_mass(model, data)[2] > STANDING * home[2])


#: Push on the root, forwards and to the side, relative to the weight, and its duration, s.
PUSH, PUSH_TIME = (0.1, 0.05), 0.1
#: Height of a drop, m.
DROP = 0.05


@dataclass(frozen=True)
class FrictionCost:
    """The cost of 3 s of a motion for a robot with joint friction, beside the same robot without.

    Attributes:
        motion: "standing", "pushed" or "landing".
        unsolved: samples, one each step, that the law marked as unsolved.
        us_per_step: processor time of a step, best of several runs.
        us_without: the same without joint friction.
        ratio: of the two.
    """

    robot: str
    law: str
    motion: str
    unsolved: int
    us_per_step: float
    us_without: float
    ratio: float


def without_joint_friction(robot: Robot) -> Robot:
    """The same robot, with joints and tendons that turn freely."""
    if robot.mjcf is None:
        raise FootfallError(f"robot {robot.name!r} has no model file to take joint friction from")
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    for part in (*spec.joints, *spec.tendons):
        part.frictionloss = 0.0
    mjcf = written(spec, robot.name)
    return replace(robot, mjcf=mjcf, model=compiled(mjcf, robot.assets, robot.name))


def friction_costs(
    robots: Sequence[Robot | str],
    runs: int,
    say: Callable[[str], None] = lambda sentence: None,
    laws: Sequence[str] | None = None,
    duration: float = DURATION,
) -> Iterator[FrictionCost]:
    """A row for every robot that has joint friction, law and motion; robots with and without it take turns."""
    for given in robots:
        robot = driven(as_robot(given), say)
        if robot.model.njnt == 0 or robot.model.jnt_type[0] != int(mujoco.mjtJoint.mjJNT_FREE):
            raise FootfallError(f"robot {robot.name!r} has no free joint: it can neither be pushed over nor land")
        if not (robot.model.dof_frictionloss.any() or robot.model.tendon_frictionloss.any()):
            say(f"bench: {robot.name} has no joint friction")
            continue
        pair = (robot, without_joint_friction(robot))
        for law in laws or all_laws():
            for motion in ("standing", "pushed", "landing"):
                say(f"bench: {robot.name} {motion} under {law}, with joint friction and without")
                try:
                    yield _cost(pair, law, motion, runs, duration)
                except SimulationError as error:
                    say(f"bench: {robot.name} {motion} under {law}: {error}".splitlines()[0])


def _cost(pair: tuple[Robot, Robot], law: str, motion: str, runs: int, duration: float) -> FrictionCost:
    """Of a robot and the same without joint friction."""
    best, unsolved = [np.inf, np.inf], 0
    for one in pair:
        _one_run(one, law, motion, 2 * DT)  # whatever is to be compiled is compiled here
    for _ in range(runs):
        for i, one in enumerate(pair):
            seconds, count = _one_run(one, law, motion, duration)
            best[i] = min(best[i], seconds)
            unsolved = count if i == 0 else unsolved
    own, without = (1e6 * seconds * DT / duration for seconds in best)
    return FrictionCost(
        robot=pair[0].name,
        law=law,
        motion=motion,
        unsolved=unsolved,
        us_per_step=own,
        us_without=without,
        ratio=own / without,
    )


def _one_run(robot: Robot, law: str, motion: str, duration: float) -> tuple[float, int]:
    """Processor time of a run, s, and its unsolved samples."""
    sim = Simulation(robot, law=law, dt=DT)
    start, pushes = sim.place(), []
    if motion == "landing":
        start[2] += DROP
    elif motion == "pushed":
        force = (PUSH[0] * robot.weight, PUSH[1] * robot.weight, 0.0)
        pushes.append(Push(robot.root, force=force, duration=PUSH_TIME))
    begin = time.process_time()
    rec = sim.run(duration, qpos=start, pushes=pushes)
    return time.process_time() - begin, int(np.count_nonzero(rec.status))
