"""Gait: when feet touch and leave the ground, and the strides between."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from footfall.arguments import public
from footfall.measure.common import feet, runs
from footfall.record import Record
from footfall.solve.contacts import OPEN
from footfall.standing import at_home, scratch_data

#: Length of heel and of toe, as a share of the length of the foot.
END = 0.3


@dataclass(frozen=True)
class Stance:
    """One stay of a foot on the ground. Times in s, NaN for what did not happen within the recording.

    Attributes:
        foot: its name.
        first: what touched first: "heel", "toe", "flat" (both at once, or neither), "" if the recording begins in this
            stance.
        strike: first touch; for a foot that lands on its heel, heel strike.
        flat: heel and toe both on the ground.
        heel_off: the heel has left while the foot stays.
        toe_off: the foot has left.
        start, end: strike and toe off, or the ends of the recording.
    """

    foot: str
    first: str
    strike: float
    flat: float
    heel_off: float
    toe_off: float
    start: float
    end: float


@dataclass(frozen=True)
class Event:
    """Something that happened to a foot at a time (s): "strike", "flat", "heel off" or "toe off"."""

    time: float
    foot: str
    kind: str


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of a gait.

    Attributes:
        contact: (T, feet) whether each foot is on the ground, short chatter removed.
        stances: every stay of every foot on the ground, in order of time.
        flight: (start, end) in s of every interval with no foot on the ground.
    """

    contact: np.ndarray
    stances: tuple[Stance, ...]
    flight: tuple[tuple[float, float], ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of all feet in order of time."""
        kinds = {"strike": "strike", "flat": "flat", "heel off": "heel_off", "toe off": "toe_off"}
        found = [
            Event(getattr(stance, name), stance.foot, kind)
            for stance in self.stances
            for kind, name in kinds.items()
            if not math.isnan(getattr(stance, name))
        ]
        return tuple(sorted(found, key=lambda event: event.time))


@public
def heel_and_toe(rec: Record) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each foot, the indices of its heel points and of its toe points.

    The robot faces along world x in its home pose; heel and toe are what lies within 30 % of the foot's
    length of its rear and front end there. All points are both on a foot without length.
    """
    model = rec.robot.model
    data = at_home(rec.robot, scratch_data(model))
    found = []
    for foot, points in zip(rec.robot.feet, feet(rec), strict=True):
        along = foot.points @ data.body(foot.body).xmat.reshape(3, 3)[0]
        index = np.arange(points.start, points.stop)
        reach = max(END * np.ptp(along), 1e-3)
        found.append((index[along <= along.min() + reach], index[along >= along.max() - reach]))
    return found


@public
def phases(rec: Record, shortest: float = 0.02) -> Phases:
    """When each foot touches, lies flat, rolls off and leaves.

    A foot touches while any of its points is closed. Contacts and gaps shorter than ``shortest`` (s) are
    taken for chatter and passed over.
    """
    closed = rec.mode != OPEN
    contact = np.zeros((len(rec), len(rec.robot.feet)), dtype=bool)
    stances = []
    for i, (heel_points, toe_points) in enumerate(heel_and_toe(rec)):
        contact[:, i] = _steady(closed[:, feet(rec)[i]].any(axis=1), rec.time, shortest)
        heel = _steady(closed[:, heel_points].any(axis=1), rec.time, shortest)
        toe = _steady(closed[:, toe_points].any(axis=1), rec.time, shortest)
        for a, b in runs(contact[:, i]):
            stances.append(_stance(rec, rec.robot.feet[i].name, a, b, heel, toe))
    flight = tuple(
        (float(rec.time[a]), float(rec.time[min(b, len(rec) - 1)]))
        for a, b in runs(np.logical_not(contact.any(axis=1)))
    )
    return Phases(contact, tuple(sorted(stances, key=lambda stance: stance.start)), flight)


def _stance(rec: Record, foot: str, a: int, b: int, heel: np.ndarray, toe: np.ndarray) -> Stance:
    """The stance from sample ``a`` to ``b``, exclusive."""
    time, begun, left = rec.time, a > 0, b < len(rec)
    both = np.flatnonzero(heel[a:b] & toe[a:b])
    flat = float(time[a + both[0]]) if both.size and (begun or both[0] > 0) else math.nan
    on_heel = np.flatnonzero(heel[a:b])
    heel_off = float(time[a + on_heel[-1] + 1]) if on_heel.size and a + on_heel[-1] + 1 < b else math.nan
    if not begun:
        first = ""
    else:
        first = "flat" if heel[a] == toe[a] else ("heel" if heel[a] else "toe")
    return Stance(
        foot=foot,
        first=first,
        strike=float(time[a]) if begun else math.nan,
        flat=flat,
        heel_off=heel_off,
        toe_off=float(time[b]) if left else math.nan,
        start=float(time[a]),
        end=float(time[b] if left else time[-1]),
    )


def _steady(active: np.ndarray, time: np.ndarray, shortest: float) -> np.ndarray:
    """Close gaps shorter than ``shortest`` (s), then drop contacts shorter than that, except at both ends."""
    steady = active.copy()
    for value in (False, True):
        for a, b in runs(steady == value):
            if a > 0 and b < len(time) and time[b] - time[a] < shortest:
                steady[a:b] = not value
    return steady


@dataclass(frozen=True)
class Stride:
    """From one strike of a foot to its next.

    Attributes:
        foot: its name.
        start: s, the first strike.
        time: s.
        length: m, horizontal distance between the two footholds.
        speed: m/s.
        cadence: steps of all feet per minute, if each makes one per stride.
        duty_factor: part of the stride that the foot is on the ground.
    """

    foot: str
    start: float
    time: float
    length: float
    speed: float
    cadence: float
    duty_factor: float


@public
def strides(rec: Record, shortest: float = 0.02) -> list[Stride]:
    """Every whole stride of every foot, in order of time. ``shortest`` as in ``phases``.

    A foothold is the middle of the foot's points when it lies flat, or at the strike if it never does.
    """
    found = []
    stances = phases(rec, shortest).stances
    for foot in rec.robot.feet:
        own = [s for s in stances if s.foot == foot.name and not math.isnan(s.strike)]
        at = [s.strike if math.isnan(s.flat) else s.flat for s in own]
        holds = rec.position[np.searchsorted(rec.time, at), rec.foot(foot.name), :2].mean(axis=1)
        for i in range(len(own) - 1):
            time = own[i + 1].strike - own[i].strike
            length = float(np.linalg.norm(holds[i + 1] - holds[i]))
            found.append(
                Stride(
                    foot=foot.name,
                    start=own[i].strike,
                    time=time,
                    length=length,
                    speed=length / time,
                    cadence=60.0 * len(rec.robot.feet) / time,
                    duty_factor=(own[i].toe_off - own[i].strike) / time,
                )
            )
    return sorted(found, key=lambda stride: stride.start)
