"""Running guests: an environment and a process for each, limits on its time, and checks of its results.

A guest that crashes, hangs, diverges, has another mass or step than it was asked for, or reports contacts that do not
explain how it moved, is a row with the reason.
"""

from __future__ import annotations

import ast
import hashlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.contact.registry import UnknownLaw
from footfall.engine.replay import SPEEDS, States, replay
from footfall.errors import StudyError, did_you_mean
from footfall.measure import momentum
from footfall.process.cache_folder import cache_folder
from footfall.record import Failure
from footfall.recording import Recording
from footfall.study.arena.task import Case, Task

HERE = Path(__file__).parent
#: Time limit of pip for one environment, s: the largest engines bring a compiler or a deep-learning library.
INSTALLING = 1800.0
#: Time limit for a guest to start, s.
STARTING = 1800.0
#: Wall time after which a guest hangs, as a multiple of the processor time that it may take: a loaded machine gives a
#: small share of a core.
PATIENCE = 30.0
#: Time limit for a process to end after its output has ended, s.
ENDING = 10.0


class Guest(NamedTuple):
    """An engine: its file, and what the file says of itself."""

    name: str
    file: Path
    packages: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]  # variants by name; "" are the defaults
    tuned: Mapping[str, tuple[float, float, str, float]]
    restitution: bool  # whether it has a coefficient of restitution
    about: str


def folder(what: str) -> Path:
    """A folder of the arena in the cache."""
    found = cache_folder("arena")
    if found is None:
        raise StudyError("the arena needs a folder for its environments: set FOOTFALL_CACHE to one")
    (found / what).mkdir(exist_ok=True)
    return found / what


def guests() -> dict[str, Path]:
    """The files of all guests by name: those of Footfall, and those that were added."""
    files = [*sorted((HERE / "guests").glob("*_guest.py")), *sorted(folder("guests").glob("*_guest.py"))]
    return {file.stem.removesuffix("_guest").replace("_", "-"): file for file in files}


def guest(name: str) -> Guest:
    """A guest by its name, or by its file; the file is read, and not run."""
    file = Path(name) if name.endswith(".py") else guests().get(name)
    if file is None:
        raise StudyError(f"no guest is called '{name}': {did_you_mean(name, guests())}")
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        said = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in SAID
        }
    except (SyntaxError, ValueError) as error:
        raise StudyError(f"'{file}' is no guest: {error}") from error
    if not any(isinstance(node, ast.ClassDef) and node.name == "World" for node in tree.body):
        raise StudyError(f"'{file}' is no guest: it has no class World, see docs/arena-rules.md")
    short = file.stem.removesuffix("_guest").replace("_", "-")
    about = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
    packages, settings = tuple(said.get("PACKAGES", ())), said.get("SETTINGS", {"": {}})
    restitution = bool(said.get("RESTITUTION", False))
    return Guest(short, file.resolve(), packages, settings, said.get("TUNED", {}), restitution, about)


#: Attributes that a guest's file may define, as plain values.
SAID = ("PACKAGES", "SETTINGS", "TUNED", "RESTITUTION")


def add(file: str) -> Guest:
    """Store a user's guest, so that it can be named later."""
    if not Path(file).is_file():
        raise StudyError(f"there is no file '{file}'")
    found = guest(str(file))
    if found.name in guests() and guests()[found.name].parent == HERE / "guests":
        raise StudyError(f"'{found.name}' is a guest of Footfall: give your file another name")
    shutil.copy(found.file, folder("guests") / f"{found.name.replace('-', '_')}_guest.py")
    return found


class NotInstalled(Exception):
    """An environment that cannot be made on this machine; the text is the reason."""


def made(guest: Guest) -> bool:
    """Whether the environment of a guest exists."""
    return not guest.packages or (_place(guest) / "ready").exists()


def _place(guest: Guest) -> Path:
    key = hashlib.sha256(repr((guest.packages, sys.version_info[:2])).encode()).hexdigest()[:8]
    return folder("environments") / f"{guest.name}-{key}"


def python_of(guest: Guest, say: Callable[[str], None] = lambda text: None) -> Path:
    """The interpreter of a guest, whose environment is made if it is missing; guests without packages use ours."""
    if not guest.packages:
        return Path(sys.executable)
    place = _place(guest)
    python = place / "bin" / "python"
    if (place / "ready").exists():
        return python
    say(f"{guest.name}: installing {', '.join(guest.packages)}")
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True, symlinks=True)
    asked = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary"]
    try:
        done = subprocess.run([*asked, "numpy", *guest.packages], capture_output=True, text=True, timeout=INSTALLING)
    except subprocess.TimeoutExpired:
        shutil.rmtree(place, ignore_errors=True)
        raise NotInstalled(f"pip took more than {INSTALLING:g} s") from None
    if done.returncode:
        shutil.rmtree(place, ignore_errors=True)
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["pip said nothing"]
        raise NotInstalled(lines[-1].replace("ERROR: ", ""))
    (place / "ready").touch()
    return python


class Crash(Exception):
    """The process of a guest ended or was ended; the text is the reason."""


class Process:
    """A guest at work; ``ask`` runs a job."""

    def __init__(self, guest: Guest, say: Callable[[str], None] = lambda text: None) -> None:
        self.guest, self._say = guest, say
        self._process: subprocess.Popen[str] | None = None
        self._said: Any = None
        self.version = self.missing = ""

    def ask(self, job: Path, limit: float) -> str:
        """The answer of the guest to a job, within some processor time (s); starts the process if it has ended."""
        if self._process is None:
            python = python_of(self.guest, self._say)
            self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
            self._process = subprocess.Popen(
                [python, HERE / "guest_side.py", self.guest.file],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                env=_environment(self.guest),
            )
            self.version = self._answer(STARTING).removeprefix("ready").strip()
        assert self._process.stdin is not None
        print(limit, job, file=self._process.stdin, flush=True)
        return self._answer(PATIENCE * limit, limit)

    def _answer(self, wall: float, limit: float = STARTING) -> str:
        assert self._process is not None and self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], wall)
        line = self._process.stdout.readline() if ready else ""
        if line:
            return line.strip()
        if ready:  # the end of its output: it has ended, or will
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING)
        code = self.end()
        if ready and code == -signal.SIGXCPU:
            raise Crash(f"slow: no answer within {limit:.3g} s of processor time")
        self._said.seek(0)
        last = (self._said.read().strip().splitlines() or ["it said nothing"])[-1]
        raise Crash(f"crashed with code {code}: {last}" if ready else f"hangs: no answer within {wall:.0f} s")

    def end(self) -> int:
        """End the process; returns its code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        process.communicate()
        return process.returncode


def _environment(guest: Guest) -> dict[str, str]:
    """Environment variables: one thread, so that processor time is comparable, and none of our packages for other
    guests.
    """
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {name: value for name, value in os.environ.items() if guest.packages == () or not name.startswith("PYTHON")}
    own = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} if not guest.packages else {}
    return kept | one | own


# ---- what came of a job --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task in an engine: a recording, or why there is no valid one."""

    status: str  # "done", "blank", "failed", "diverged", "slow", "hangs", "crashed", "other task", "other forces"
    reason: str = ""
    recording: Recording | None = None
    us_per_step: float = float("nan")


#: Largest relative error of mass and step of a guest: rounding of single precision.
SAME = 1e-5
#: Largest mean difference between reported forces and those that the motion requires, as a share of the weight.
EXPLAINED = 0.02


def played(process: Process, task: Task, settings: Mapping[str, Any], limit: float) -> Outcome:
    """Run a task in a guest, and check that it ran this task and that its contact forces explain its motion."""
    with tempfile.TemporaryDirectory(prefix="footfall-arena-") as name:
        if process.missing:
            return Outcome("not installed", process.missing)
        job = task.write(Path(name), dict(settings))
        try:
            answer = process.ask(job, limit)
        except NotInstalled as error:
            process.missing = str(error)
            return Outcome("not installed", process.missing)
        except Crash as crash:
            return Outcome(str(crash).split()[0].strip(":"), str(crash))
        status, _, reason = answer.partition(" ")
        samples = Path(name) / "samples.npz"
        if status not in ("done", "diverged") or not samples.exists():
            return Outcome(status, reason)
        with np.load(samples, allow_pickle=False) as found:
            arrays = {key: found[key] for key in found.files}
    law = UnknownLaw(name=process.guest.name, given=dict(settings))
    failure = None if status == "done" else Failure(float(arrays["time"][-1]), "diverged", "", f"{law.name} {answer}")
    rec = recorded(task, arrays, law, failure, {"engine": process.version})
    if failure is None and (other := other_task(task, arrays, rec)):
        status, reason = other
    return Outcome(status, reason, rec, float(arrays["us_per_step"]))


#: Arrays of a recording that a guest writes itself.
GIVEN = ("time", "qpos", "qvel", "ctrl", "force")


def recorded(task: Task, arrays: Mapping[str, Any], law: UnknownLaw, failure: Failure | None, info: Any) -> Recording:
    """The samples of a guest as a recording; positions and velocities of points follow from its state."""
    robot, model = task.robot, task.robot.model
    data, count = mujoco.MjData(model), len(arrays["time"])
    states = States(arrays["qpos"], arrays["qvel"], np.zeros((count, model.nu)))
    fields = replay(data, SPEEDS, states, [data.xpos, data.xmat, data.cvel, data.subtree_com])
    at, turned, moving = (one.reshape(count, model.nbody, -1)[:, robot.point_body] for one in fields[:3])
    centre = at + np.einsum("tpij,pj->tpi", turned.reshape(*at.shape, 3), robot.point_position)
    position = centre - robot.point_radius[:, None] * [0.0, 0.0, 1.0]
    middle = fields[3].reshape(count, model.nbody, 3)[:, model.body_rootid[robot.point_body]]
    velocity = moving[..., 3:] + np.cross(moving[..., :3], position - middle)
    force = arrays["force"]
    across, along = np.linalg.norm(force[..., :2], axis=-1), force[..., 2]
    slides = across > 0.999 * task.friction * along
    return Recording(
        robot=robot, ground=task.ground, law=law, dt=task.dt, **{name: arrays[name] for name in GIVEN},
        position=position, velocity=velocity, gap=position[..., 2],
        normal=np.broadcast_to([0.0, 0.0, 1.0], force.shape),
        mode=np.where(np.abs(force).max(axis=-1) > 0.0, np.where(slides, 2, 1), 0), status=np.zeros(count),
        pushes=task.pushes, failure=failure, info={"record_dt": task.every * task.dt, **info},
    )  # fmt: skip


def other_task(task: Task, arrays: Mapping[str, np.ndarray], rec: Recording) -> tuple[str, str] | None:
    """The first deviation from the task in mass, step, samples, contact points or forces; None if there is none."""
    for name, asked, unit in (("mass", task.mass, "kg"), ("dt", task.dt, "s")):
        if abs(float(arrays[name]) - asked) > SAME * asked:
            return "other task", f"its {name} is {float(arrays[name]):.6g} {unit}, and {asked:.6g} {unit} was asked for"
    if len(rec) != task.steps // task.every + 1:
        return "other task", f"it took {len(rec) - 1} samples, and {task.steps // task.every} were asked for"
    # A contact is reported between the ground and the sphere, within its motion in a step.
    away = np.linalg.norm(arrays["place"] - rec.position, axis=-1)
    allowed = rec.robot.point_radius + np.linalg.norm(rec.velocity, axis=-1) * 2.0 * rec.record_dt + np.abs(rec.gap)
    if (away > allowed).any():
        k, p = np.unravel_index(int(np.nanargmax(away - allowed)), away.shape)
        return "other task", f"a contact is reported {1e3 * away[k, p]:.3g} mm from sphere {p} at {rec.time[k]:.4g} s"
    moved = momentum(rec)
    gained = task.mass * (moved.velocity[-1] - moved.velocity[0])
    given = (task.mass * np.array(task.gravity) * rec.duration
             + rec.total_force[:-1].sum(axis=0) * rec.record_dt
             + sum((np.array(f) * (b - a) for a, b, f in task.pulls), np.zeros(3)))  # fmt: skip
    missed = float(np.linalg.norm(gained - given)) / (task.mass * 9.81 * rec.duration)
    if missed > EXPLAINED:
        return "other forces", f"its contact forces miss {100 * missed:.3g} % of the weight that its motion needs"
    return None


def errors_of(outcome: Outcome, cases: list[Case]) -> list[float]:
    """The error of each case of one task, NaN without a valid one."""
    if outcome.recording is None or outcome.status != "done":
        return [float("nan")] * len(cases)
    return [float(case.error(outcome.recording)) for case in cases]
