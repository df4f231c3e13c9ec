"""How well a motion was followed, and with how much help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from footfall.measure import Assistance, assistance, audit, fall
from footfall.record import Record


@dataclass(frozen=True)
class FollowOutcome:
    """What became of a motion: errors are those of the state against the motion at the same time."""

    joint_rms: float  # rad, over all joints and samples
    joint_worst: float  # rad
    worst_joint: str
    root_rms: float  # m
    root_worst: float  # m
    tilt_worst: float  # rad
    help: Assistance  # of motors between world and root
    audit: str  # verdict
    audit_summary: str  # with the rows that are not as they should be
    fall: str  # when and why; empty where it did not fall


def follow_outcome(rec: Record) -> FollowOutcome:
    """Judge the recording of a run under ``Follow``."""
    model = rec.robot.model
    joints = np.abs(rec.signals["joint_error"])
    root = np.linalg.norm(rec.signals["root_error"], axis=1)
    own = np.flatnonzero(~rec.robot.root_motors)
    worst = int(joints.max(axis=0).argmax())
    fallen, audited = fall(rec), audit(rec)
    return FollowOutcome(
        joint_rms=float(np.sqrt(np.mean(joints**2))),
        joint_worst=float(joints.max()),
        worst_joint=rec.robot.joint_names[int(model.actuator_trnid[own[worst], 0])],
        root_rms=float(np.sqrt(np.mean(root**2))),
        root_worst=float(root.max()),
        tilt_worst=float(rec.signals["tilt_error"].max()),
        help=assistance(rec),
        audit=audited.verdict,
        audit_summary=audited.summary,
        fall="" if fallen is None else str(fallen),
    )
