"""Gait: when feet touch the ground, roll over it and leave it."""

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
    """A foot "touches" or "lifts" at a time (s)."""

    time: float
    foot: str
    what: str


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of a gait.

    Attributes:
        stances: every stay of every foot on the ground, in order of time.
    """

    stances: tuple[Stance, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """Touch-downs and lift-offs of all feet in order of time."""
        found = [Event(one.strike, one.foot, "touches") for one in self.stances]
        found += [Event(one.toe_off, one.foot, "lifts") for one in self.stances]
        return tuple(sorted((one for one in found if not math.isnan(one.time)), key=lambda event: event.time))


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
    closed, stances = rec.mode != OPEN, []
    for foot, points, ends in zip(rec.robot.feet, feet(rec), heel_and_toe(rec), strict=True):
        contact, heel, toe = (
            steady(closed[:, some].any(axis=1), rec.time, shortest) for some in (points, ends[0], ends[1])
        )
        stances += [_stance(rec, foot.name, a, b, heel, toe) for a, b in runs(contact)]
    return Phases(tuple(sorted(stances, key=lambda stance: stance.start)))


def _stance(rec: Record, foot: str, a: int, b: int, heel: np.ndarray, toe: np.ndarray) -> Stance:
    """The stance from sample ``a`` to ``b``, exclusive."""
    time, begun, left = rec.time, a > 0, b < len(rec)
    both = np.flatnonzero(heel[a:b] & toe[a:b])
    flat = float(time[a + both[0]]) if both.size and (begun or both[0] > 0) else math.nan
    on_heel = np.flatnonzero(heel[a:b])
    heel_off = float(time[a + on_heel[-1] + 1]) if on_heel.size and a + on_heel[-1] + 1 < b else math.nan
    touched = "flat" if heel[a] == toe[a] else "heel" if heel[a] else "toe"
    return Stance(
        foot=foot,
        first=touched if begun else "",
        strike=float(time[a]) if begun else math.nan,
        flat=flat,
        heel_off=heel_off,
        toe_off=float(time[b]) if left else math.nan,
        start=float(time[a]),
        end=float(time[b] if left else time[-1]),
    )


def steady(active: np.ndarray, time: np.ndarray, shortest: float) -> np.ndarray:
    """Close gaps shorter than ``shortest`` (s), then drop contacts shorter than that, except at both ends."""
    steady = active.copy()
    for value in (False, True):
        for a, b in runs(steady == value):
            if a > 0 and b < len(time) and time[b] - time[a] < shortest:
                steady[a:b] = not value
    return steady
