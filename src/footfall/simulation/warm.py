"""Compilation ahead of time: the engine, the laws and their solvers, each a job that any process can do.

Run as a program, this module does the jobs on its command line that no other process has claimed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from footfall.compiled import compile_cold
from footfall.contact import law_class, laws
from footfall.contact.base import CoupledLaw, PointLaw
from footfall.contact.event_law import EventLaw
from footfall.control import controllers
from footfall.engine.tape import make_tape
from footfall.process.cache_folder import cache_folder
from footfall.process.machine import cores
from footfall.process.workers import end_with_parent
from footfall.simulation.first_start import HELPER, claim, spawn
from footfall.simulation.simulation import Simulation
from footfall.simulation.workspace import idle_workspace, loop_of
from footfall.simulation.worlds import Worlds


def compile_loop(law: str = "time-stepping") -> None:
    """Compile the loop of a law without the law: all laws of a kind share their loop. No step is taken."""
    sim = Simulation("ball", law=law)
    space = idle_workspace(sim)
    tape = make_tape(space.model, 1, sim.robot.point_count, 0)
    loop_of(sim.law).advance(*space.laid_out(tape), 0, 0)


#: Compiled controllers, each with the robot that it is compiled with.
CONTROLLED_BY = {
    "walk": "spatial-biped",
    "balance": "spatial-biped",
    "quadruped-walk": "quadruped",
    "posture": "ball",
}


#: A law of each loop.
LOOPS = {"step": "time-stepping", "events": "acceleration-complementarity"}


def own_laws() -> list[str]:
    """The built-in laws, without those that a user has registered."""
    return [name for name in laws() if law_class(name).__module__.startswith("footfall.")]


def jobs() -> list[str]:
    """All jobs; the loops come first, because controllers are compiled in a run."""
    return [
        "loops",
        "worlds",
        "derivatives",
        *(f"controller-{one}" for one in CONTROLLED_BY),
        *(f"law-{one}" for one in own_laws()),
    ]


def do(job: str) -> None:
    """Do a job. Loops of worlds, and derivatives, are the same for all laws."""
    kind, _, name = job.partition("-")
    if job == "loops":  # one after the other: they share most of their parts
        for law in LOOPS.values():
            compile_loop(law)
    elif job in LOOPS:
        compile_loop(LOOPS[job])
    elif job == "worlds":
        Worlds(Simulation("ball", law="spring-damper"), 1).step()
    elif job == "derivatives":
        Simulation("ball", law="time-stepping").start(recorded=False).linearize()
    elif kind == "controller":
        if name in controllers():
            Simulation(CONTROLLED_BY[name], law="mujoco").run(0.0, controller=name)
    else:
        given = law_class(name)()
        if isinstance(given, PointLaw | CoupledLaw):
            assert given.pointer().address
        if isinstance(given, EventLaw):
            assert given.impact_pointer().address


def warm(say: Callable[[str], None], processes: int | None = None) -> None:
    """Compile everything, in ``processes``, one per core by default; calls ``say`` with the progress."""
    waiting = jobs()
    total, begin = len(waiting), time.perf_counter()

    def finished(job: str) -> None:
        waiting.remove(job)
        say(f"{time.perf_counter() - begin:.0f} s, {total - len(waiting)} of {total}: {job}")

    with tempfile.TemporaryDirectory(prefix="claims-", dir=cache_folder("compiled")) as folder:
        claims, room = Path(folder), processes or cores()
        helpers = [spawn([*waiting, "cold"], claims) for _ in range(room)] if room > 1 else []
        running = [one for one in helpers if one is not None]
        while running:
            time.sleep(0.05)
            running = [one for one in running if one.poll() is None]
            for job in [job for job in waiting if (claims / f"{job} done").exists()]:
                finished(job)
        for job in waiting.copy():  # jobs whose process did not start or failed: their errors show here
            do(job)
            finished(job)
        compile_cold(lambda name: claim(claims, name))


def work_through(jobs: list[str], claims: Path) -> None:
    """Do the jobs that no other process has claimed; cold kernels are claimed one by one."""
    for job in jobs:
        if job in ("soon", "cold"):
            compile_cold(lambda name: claim(claims, name), soon=job == "soon")
        elif claim(claims, job):
            do(job)
            (claims / f"{job} done").touch()


if __name__ == "__main__":
    end_with_parent()
    work_through(sys.argv[1:], Path(os.environ[HELPER]))
    os._exit(0)  # all results are on disk; freeing the compiler's memory would take seconds
