"""Bravo 2021, sections 2 and 6: shocks in short succession, from event to event and in time steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, seen, unlike
from footfall.papers.bravo2021.gait import FRICTION
from footfall.solve.contacts import OPEN

ABOVE, SPEED = 0.02, 0.3  # m over the ground at the start, m/s down
RESTITUTION = 0.4  # where impacts accumulate
DURATION = 0.1  # s, of the landing
#: m, rad: length, heights and tilt at the start of bricks, and the height of the one that is judged.
LENGTH, HEIGHTS, TILT, ROCKS = 0.2, (0.1, 0.3, 0.4), 0.1, 0.3


class Landings(NamedTuple):
    bouncing: ff.Recording  # a landing with restitution
    rocking: dict[float, tuple[ff.Recording, ff.Recording]]  # bricks by height, from event to event and in time steps


def run_landings() -> Landings:
    rocking = {
        height: (rock("acceleration-complementarity", height), rock("time-stepping", height)) for height in HEIGHTS
    }
    return Landings(land(), rocking)


def land() -> ff.Recording:
    """The biped falls flat onto its feet, from event to event, controlled every 1 ms."""
    law = ff.contact.AccelerationComplementarity(restitution=RESTITUTION)
    sim = ff.Simulation("planar-biped", ground=ff.Ground.plane(friction=FRICTION), law=law, dt=1e-3)
    down = np.zeros(sim.robot.model.nv)
    down[1] = -SPEED
    return sim.run(DURATION, controller="posture", qpos=sim.place(above=ABOVE), qvel=down, control_dt=1e-3).check()


def rock(law: Any, height: float) -> ff.Recording:
    """A brick that stands on one of its lower edges, let go."""
    robot = ff.load_robot("brick", length=LENGTH, width=0.1, height=height)
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=FRICTION), law=law, dt=1e-3)
    start = sim.place()
    start[3:7] = np.cos(TILT / 2), 0.0, np.sin(TILT / 2), 0.0
    start[2] = 0.5 * (height * np.cos(TILT) + LENGTH * np.sin(TILT))
    return sim.run(1.0, qpos=start)


def judge_landings(data: Landings) -> Findings:
    """Shocks in short succession (sections 1, 2.2 and 6)."""
    rocked = {height: events.signals["impacts"] for height, (events, _) in data.rocking.items()}
    bricks = ", ".join(f"{int(one.sum())} of one {height:g} m high" for height, one in rocked.items())
    events, stepped = data.rocking[ROCKS]
    times = events.time[np.flatnonzero(rocked[ROCKS])]
    between = 1e3 * np.diff(times)
    touching = stepped.mode != OPEN
    landed = stepped.time[1:][(~touching[:-1] & touching[1:]).any(axis=1)]
    bouncing = data.bouncing.signals["impacts"]
    total, most = int(rocked[ROCKS].sum()), int(rocked[ROCKS].max())
    given: dict[str, Any] = {"impacts": int(bouncing.sum()), "most": int(bouncing.max()), "bricks": bricks}
    told = f"{total}, {most}; {', '.join(f'{one:.0f}' for one in between)}"
    yield seen("shocks", told, holds=total > 10 and most > 5 and bool((np.diff(between) <= 1.0).all()), **given)
    told = f"{len(landed)}, {1e3 * min(np.diff(landed), default=0.0):.0f} ms"
    yield seen("fixed-step", told, holds=len(landed) < total and stepped.failure is None)
    ended = data.bouncing.failure is None
    yield unlike("blocking", "goes on to its end" if ended else "blocks", holds=not ended)
