"""Footfall: a laboratory for the contact between legged robots and the ground."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from footfall.process.garbage import no_garbage_search
from footfall.process.glfw_library import name_glfw
from footfall.version import __version__

if sys.platform == "win32":
    raise ImportError("Footfall runs on Linux and macOS; on Windows install it in Windows Subsystem for Linux (WSL)")

if TYPE_CHECKING:
    from footfall import contact as contact
    from footfall import control as control
    from footfall import errors as errors
    from footfall import export as export
    from footfall import files as files
    from footfall import gait as gait
    from footfall import ground as ground
    from footfall import logs as logs
    from footfall import measure as measure
    from footfall import robot as robot
    from footfall import show as show
    from footfall import solve as solve
    from footfall import study as study
    from footfall.contact import law as law
    from footfall.contact import laws as laws
    from footfall.contact import point_law as point_law
    from footfall.errors import FootfallError as FootfallError
    from footfall.errors import FootfallWarning as FootfallWarning
    from footfall.files.motion import load_forces as load_forces
    from footfall.files.motion import load_motion as load_motion
    from footfall.ground import Ground as Ground
    from footfall.logs.estimate import estimate as estimate
    from footfall.logs.reading import load_log as load_log
    from footfall.measure.audit import audit as audit
    from footfall.record import Push as Push
    from footfall.recording import Recording as Recording
    from footfall.recording import load_recording as load_recording
    from footfall.robot import Foot as Foot
    from footfall.robot import Robot as Robot
    from footfall.robot import load_robot as load_robot
    from footfall.robot import robots as robots
    from footfall.simulation import Simulation as Simulation
    from footfall.simulation.worlds import Worlds as Worlds
    from footfall.study.compare import compare as compare
    from footfall.study.fit import fit as fit
    from footfall.study.sweep import sweep as sweep


# What the first pages use, by where it lives; imported on first use, so that `import footfall` is quick.
_NAMES = {
    "contact": ("law", "laws", "point_law"),
    "errors": ("FootfallError", "FootfallWarning"),
    "files.motion": ("load_forces", "load_motion"),
    "ground": ("Ground",),
    "logs.estimate": ("estimate",),
    "logs.reading": ("load_log",),
    "measure.audit": ("audit",),
    "record": ("Push",),
    "recording": ("Recording", "load_recording"),
    "robot": ("Foot", "Robot", "load_robot", "robots"),
    "simulation": ("Simulation",),
    "simulation.worlds": ("Worlds",),
    "study.compare": ("compare",),
    "study.fit": ("fit",),
    "study.sweep": ("sweep",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
#: Everything else that is public is in the rooms.
_ROOMS = (
    "contact",
    "control",
    "errors",
    "export",
    "files",
    "gait",
    "ground",
    "logs",
    "measure",
    "robot",
    "show",
    "solve",
    "study",
)

__all__ = [*_HOMES, *_ROOMS, "__version__"]


name_glfw()
# Numba words and colours why each candidate does not fit, and forgets it when the next fits: a ninth of compiling.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        with no_garbage_search():
            return import_module(f"footfall.{name}")
    if name in _HOMES:
        with no_garbage_search():
            value = getattr(import_module(f"footfall.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'footfall' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
