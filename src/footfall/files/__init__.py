"""File formats of others, and atomic writing; measured data and motions as values."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.files.joint_motion import JointMotion, load_joint_motion
    from footfall.files.measured import Measured
    from footfall.files.motion import load_forces, load_motion

_HOMES = {
    "JointMotion": "joint_motion",
    "Measured": "measured",
    "load_forces": "motion",
    "load_joint_motion": "joint_motion",
    "load_motion": "motion",
}

__all__ = ["JointMotion", "Measured", "load_forces", "load_joint_motion", "load_motion"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"footfall.files.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'footfall.files' has no attribute '{name}'")
