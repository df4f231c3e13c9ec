"""The start transient: a robot whose soles just touch at the start first settles under its weight."""

from __future__ import annotations

import numpy as np

from footfall.record import Record

#: It has settled when the ground carries its weight within this share of it ...
NEAR = 0.1
#: ... for so long, s.
QUIET = 0.1
#: Largest share of a run that may be its start transient.
MOST = 0.5


def settled(rec: Record) -> float:
    """When the start transient of a run has died out, s; the first sample's time where there is none.

    A run has one if it begins on the ground, and then carries its weight within 10 % for 0.1 s before the first push
    and before half of the run is over. A robot that falls onto the ground, or walks off at once, has none.
    """
    if len(rec) < 2 or not rec.mode[0].any() or not rec.robot.weight:
        return float(rec.time[0]) if len(rec) else 0.0
    begin = float(rec.time[0])
    until = min([begin + MOST * rec.duration, *(push.start for push in rec.pushes if push.start > begin)])
    near = np.abs(rec.peak_total_force[:, 2] / rec.robot.weight - 1.0) <= NEAR
    since = begin  # of the last sample that was not near
    for time, good in zip(rec.time, near, strict=True):
        if time > until:
            return begin
        if not good:
            since = float(time)
        elif time - since >= QUIET - 0.5 * rec.record_dt:
            return since
    return begin
