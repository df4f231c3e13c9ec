"""Measures: functions of a recording. World frame with z up, SI units, one row per sample."""

from footfall.measure.audit import Audit, AuditRow, audit
from footfall.measure.course import Course, FootEvent, course, foot_events
from footfall.measure.fall import Fall, fall, has_fallen
from footfall.measure.forces import GroundReaction, Impact, grf, impacts, penetration
from footfall.measure.gait import Event, Phases, Stance, Stride, heel_and_toe, phases, strides
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
from footfall.measure.pressure import capture_point, cop, free_moment, overall_cop, support_margin, support_polygon, zmp
from footfall.measure.slip import Interval, creep_distance, intervals, slip_distance, slip_speed
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
    "FootEvent",
    "GroundReaction",
    "Impact",
    "Interval",
    "Motion",
    "Phases",
    "Stance",
    "Stride",
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
    "foot_events",
    "free_moment",
    "grf",
    "has_fallen",
    "heel_and_toe",
    "impacts",
    "intervals",
    "joint_torques",
    "momentum",
    "overall_cop",
    "penetration",
    "phases",
    "settled",
    "slip_distance",
    "slip_speed",
    "strides",
    "summarise",
    "support_margin",
    "support_polygon",
    "zmp",
]
