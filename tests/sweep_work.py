"""Work of the sweeps in the tests: functions that other processes can import."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np

import footfall as ff


def squared(x, y=1.0, seed=0):
    """A cheap case that depends on its own seed; x = 13 fails."""
    if x == 13:
        raise ValueError("thirteen")
    return _squared(x, y, seed)


def _squared(x, y, seed):
    return {"square": x * x * y, "noise": float(np.random.default_rng(seed).standard_normal())}


def slow(x):
    time.sleep(0.01)
    return x


def counted(x, folder):
    """Leaves a mark for each time it is begun; the case HALT is never finished."""
    with (Path(folder) / f"{x}").open("a") as file:
        file.write("x")
    if str(x) == os.environ.get("HALT"):
        threading.Event().wait()
    return 2.0 * x


def marked(x):
    """Schaffer's problem; leaves a mark in the folder MARKS each time it is begun; the HALTth is never finished."""
    folder = Path(os.environ["MARKS"])
    with (folder / f"{x!r}").open("a") as file:
        file.write("x")
    if len(list(folder.iterdir())) == int(os.environ.get("HALT", "0")):
        threading.Event().wait()
    return {"left": x * x, "right": (x - 2.0) ** 2}


def deadly(x, y=1.0, seed=0):
    """The same as ``squared``, but for a case that kills its process; where CALM is set no case fails."""
    if "CALM" in os.environ:
        return _squared(x, y, seed)
    if (x, y) == (13, 2.0):
        os.kill(os.getpid(), signal.SIGKILL)
    return squared(x, y, seed)


def thrown_brick(friction):
    """A recording: a brick that slides to rest."""
    sim = ff.Simulation("brick", ground=ff.Ground.plane(friction=friction), law="spring-damper")
    velocity = np.zeros(6)
    velocity[0] = 1.0
    return sim.run(0.2, qvel=velocity, record_dt=0.01)


def hold(path):
    """Lock a file, say so beside it, and keep it for as long as this process lives."""
    import fcntl
    import time
    from pathlib import Path

    file = Path(path).open("w")  # noqa: SIM115
    fcntl.flock(file, fcntl.LOCK_EX)
    Path(path).with_name("locked").touch()
    time.sleep(1000.0)
