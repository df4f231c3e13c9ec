"""The part of the arena that runs in the environment of a guest, with NumPy but without Footfall.

    python guest_side.py my_engine.py

Each line of standard input has the processor time that a job may take, s, and its JSON file; the answer is a line on
standard output: ``done`` when the samples lie beside the job, or ``blank``, ``failed`` or ``diverged`` with a sentence.
A guest is a Python file with a class ``World``:

    class World:
        def __init__(self, task): ...    # ``NotImplementedError("no restitution")`` leaves a blank
        def step(self, torque, pull): ...  # (joints,) N m, and (3,) N at the root's centre of mass, world frame
        def state(self): ...             # qpos, qvel in MuJoCo's order: place, quaternion w x y z, joints; velocity in
                                         # the world frame, spin in the body's, joints
        def contacts(self): ...          # of the last step: (sphere, place, force on the robot) in the world frame

and attributes ``mass`` (kg) and ``dt`` (s), as the engine has them. ``PACKAGES`` names what pip installs for it,
``SETTINGS`` its variants, ``TUNED`` the ranges of what may be tuned, (low, high, "linear" or "log", default).
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import queue
import resource
import signal
import sys
import threading
import time
from importlib import metadata
from types import SimpleNamespace

import numpy as np

#: Largest value of a state, m, m/s or rad/s, that has not diverged: tasks stay far below it.
FARTHEST = 1e4


def load_task(job: str) -> SimpleNamespace:
    """A job as the guest sees it: numbers as arrays, files by their whole path."""
    with open(job, encoding="utf-8") as file:
        task = SimpleNamespace(**json.load(file))
    for name in ("gravity", "qpos", "qvel", "pulls", "at", "radius", "target", "kp", "kd", "torque"):
        setattr(task, name, np.array(getattr(task, name), dtype=float))
    return task


def to_matrix(quaternion: np.ndarray) -> np.ndarray:
    """The rotation matrix of a quaternion w, x, y, z."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def to_quaternion(matrix: np.ndarray) -> np.ndarray:
    """The quaternion w, x, y, z of a rotation matrix, by the largest of its four numbers."""
    m = np.asarray(matrix)
    squares = np.array([1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
                        1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]])  # fmt: skip
    rows = np.array([[squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
                     [m[2, 1] - m[1, 2], squares[1], m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]],
                     [m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], squares[2], m[2, 1] + m[1, 2]],
                     [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], squares[3]]])  # fmt: skip
    row = rows[int(squares.argmax())]
    return row / np.linalg.norm(row)


def nearest(task: SimpleNamespace, body: str, place: np.ndarray) -> int:
    """The sphere of a body that is nearest to a place in the body's frame."""
    own = [i for i, name in enumerate(task.sphere_body) if name == body]
    return own[int(np.linalg.norm(task.at[own] - place, axis=1).argmin())]


def play(guest: object, task: SimpleNamespace) -> str:
    """Simulate a task, and keep its samples; returns the answer."""
    world = guest.World(task)
    spheres, joints = len(task.at), len(task.joints)
    kept: dict[str, list] = {name: [] for name in ("time", "qpos", "qvel", "ctrl", "force", "place")}
    force, place, spent, answer = np.zeros((spheres, 3)), np.full((spheres, 3), np.nan), 0.0, "done"
    step, asked = 0, np.zeros(joints)
    for step in range(task.steps + 1):
        qpos, qvel = world.state()
        if not np.isfinite(qpos).all() or np.abs(np.concatenate([qpos, qvel])).max() > FARTHEST:
            answer = f"diverged at t = {step * task.dt:.4g} s"
            break
        if joints:
            asked = task.torque + task.kp * (task.target - qpos[7:]) - task.kd * qvel[6:]
        if step % task.every == 0:
            force, place = np.zeros((spheres, 3)), np.full((spheres, 3), np.nan)
            for name, value in zip(kept, (step * task.dt, qpos, qvel, asked, force, place), strict=True):
                kept[name].append(np.array(value, dtype=float) if name not in ("force", "place") else value)
        if step == task.steps:
            break
        first, last = np.searchsorted(task.pulls[:, 0], step, side="right") - 1, task.pulls
        pull = last[first, 2:] if first >= 0 and step < last[first, 1] else np.zeros(3)
        begin = time.process_time()
        world.step(asked, pull)
        spent += time.process_time() - begin
        for sphere, where, push in world.contacts():
            force[sphere] += np.asarray(push) / task.every
            place[sphere] = where
    arrays = {name: np.array(values) for name, values in kept.items()}
    part = task.samples + ".part.npz"
    np.savez(part, **arrays, us_per_step=1e6 * spent / max(step, 1), mass=world.mass, dt=world.dt)
    os.replace(part, task.samples)
    return answer


def versions(packages: list[str]) -> str:
    """The packages with the versions that are installed."""
    names = [one.partition("==")[0] for one in packages]
    return ", ".join(f"{name} {metadata.version(name)}" for name in names)


def main(file: str) -> None:
    """Answer jobs until standard input ends, which ends this process at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of engines must not be taken for answers
    jobs: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in os.fdopen(os.dup(0)):
            jobs.put(line.strip())
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    sys.modules["guest_side"] = sys.modules[__name__]
    sys.path[0] = os.path.dirname(file)  # not this folder, whose names an engine may use, too
    spec = importlib.util.spec_from_file_location("guest", file)
    guest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guest)
    print("ready " + versions(getattr(guest, "PACKAGES", [])), file=answers, flush=True)
    while True:
        limit, _, job = jobs.get().partition(" ")
        # At the limit the system ends this process by SIGXCPU, also inside an engine, whatever the load of the machine.
        most = math.ceil(time.process_time() + float(limit))
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        try:
            answer = play(guest, load_task(job))
        except NotImplementedError as error:
            answer = f"blank {error}"
        except Exception as error:
            answer = f"failed {type(error).__name__}: {error}"
        print(" ".join(answer.split()), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
