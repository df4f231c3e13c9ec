"""Measures: functions of a recording. World frame with z up, SI units, one row per sample."""

from footfall.measure.audit import Audit, AuditRow, audit
from footfall.measure.course import Course, course
from footfall.measure.fall import Fall, fall, has_fallen
from footfall.measure.forces import GroundReaction, Impact, grf, impacts, penetration
from footfall.measure.gait import Event, Phases, Stance, phases
from footfall.measure.motion import (
    Actuation,
    Energy,
    Motion,
    actuation,
    com_height,
    cost_of_transport,
    energy,
    joint_torques,
    momentum,
)
from footfall.measure.pressure import capture_point, cop, overall_cop, support_margin, support_polygon, zmp
from footfall.measure.slip import creep_distance, slip_distance, slip_speed
from footfall.measure.summary import Assistance, assistance, settled, summarise

__all__ = [
    "Actuation",
    "Assistance",
    "Audit",
    "AuditRow",
    "Course",
    "Energy",
    "Event",
    "Fall",
    "GroundReaction",
    "Impact",
    "Motion",
    "Phases",
    "Stance",
    "actuation",
    "assistance",
    "audit",
    "capture_point",
    "com_height",
    "cop",
    "cost_of_transport",
    "course",
    "creep_distance",
    "energy",
    "fall",
    "grf",
    "has_fallen",
    "impacts",
    "joint_torques",
    "momentum",
    "overall_cop",
    "penetration",
    "phases",
    "settled",
    "slip_distance",
    "slip_speed",
    "summarise",
    "support_margin",
    "support_polygon",
    "zmp",
]
