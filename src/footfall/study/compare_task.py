"""One law of a comparison: simulated here, or in another process (:mod:`footfall.study.compare_worker`).

What that process needs travels as a pickle, what comes back as a saved recording.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from footfall.contact.base import Law
from footfall.errors import FootfallError, without_warnings
from footfall.ground import Ground
from footfall.recording import Recording, load_recording
from footfall.robot import Robot
from footfall.simulation import Simulation
from footfall.study.worker_program import own_program

ANSWER, RECORDING = "answer.json", "recording"


@dataclass(frozen=True, eq=False)
class Task:
    """A robot on a ground under a law, and what ``Simulation`` and ``Simulation.run`` are given besides."""

    robot: Robot
    ground: Ground
    law: Law
    duration: float
    setup: Mapping[str, Any]
    options: Mapping[str, Any]

    def packed(self) -> bytes:
        """The task as bytes for another process. Raises what ``pickle`` raises for a law, ground or controller that
        cannot be sent.
        """
        content = (self.robot.to_dict(), self.ground, self.law, self.duration, dict(self.setup), dict(self.options))
        data = pickle.dumps(content)
        if b"__main__" in data:  # a function of a script or a notebook: the other process has another __main__
            raise pickle.PicklingError("something in it is defined in __main__")
        made = type(self.law)
        if getattr(sys.modules.get(made.__module__), made.__name__, None) is not made:  # it is pickled by its name
            raise pickle.PicklingError(f"'{self.law.name}' is known to this process alone")
        return data

    @classmethod
    def unpacked(cls, data: bytes) -> Task:
        robot, *others = pickle.loads(data)
        return cls(Robot.from_dict(robot), *others)


@dataclass(frozen=True, eq=False)
class Answer:
    """The recording, if there is one, and why the run failed, if it did."""

    recording: Recording | None
    why: str = ""


def simulate(task: Task) -> Answer:
    """Run the task in this process. What fails is in the answer."""
    try:
        with without_warnings():  # the recording says the same
            sim = Simulation(task.robot, ground=task.ground, law=task.law, **task.setup)
            sim.run(0.0, **{**task.options, "record_dt": None})  # compiles, so that the wall time is of the run
            rec = sim.run(task.duration, **task.options)
    except FootfallError as error:
        kept = getattr(error, "recording", None)
        return Answer(kept if kept is not None and len(kept) else None, str(error))
    except Exception as error:
        return Answer(None, f"{type(error).__name__}: {error}")
    return Answer(rec, "" if rec.failure is None else rec.failure.message)


class Elsewhere:
    """A process that runs tasks one after the other. If it dies, the next task gets a new one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said: Any = None  # what it writes to its standard error

    def simulate(self, task: Task, packed: bytes) -> Answer:
        """Run the task there."""
        with tempfile.TemporaryDirectory(prefix="footfall-compare-") as folder:
            (Path(folder) / "task").write_bytes(packed)
            ended = self._do(folder)
            answer = Path(folder) / ANSWER
            if not answer.exists():
                return Answer(None, f"the process of law {task.law.name} ended {ended}")
            why = json.loads(answer.read_text(encoding="utf-8"))["why"]
            if not (Path(folder) / RECORDING).exists():
                return Answer(None, why)
            rec = load_recording(Path(folder) / RECORDING)
            return Answer(replace(rec, robot=task.robot, ground=task.ground, law=task.law), why)

    def _do(self, folder: str) -> str:
        """Let the process do the task in a folder; if it died, gives its exit code and its last line of output."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(f"{folder}\n")
            process.stdin.flush()
            if process.stdout.readline():
                return ""
        code = process.wait()
        self._said.seek(0)
        last = (self._said.read().strip().splitlines() or ["it said nothing"])[-1]
        self.end()
        return f"with code {code}: {last}"

    def _start(self) -> subprocess.Popen[str]:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            own_program("footfall.study.compare_worker"),
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
        )
        return self._process

    def end(self, *, at_once: bool = False) -> None:
        """End the process when it has done its task, or ``at_once``."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        if at_once:
            process.kill()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
        process.stdout.close()
        self._said.close()
