"""Footfall: a laboratory for the contact between legged robots and the ground."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from footfall.process.garbage import no_garbage_search
from footfall.process.glfw_library import name_glfw
from footfall.version import __version__

if TYPE_CHECKING:
    from footfall import contact, control, errors, export, gait, measure, show, solve, study
    from footfall.contact import law, laws, point_law
    from footfall.contact.from_function import spring_friction
    from footfall.errors import FootfallError, FootfallWarning, Interrupted
    from footfall.files.joint_motion import JointMotion, load_joint_motion
    from footfall.files.measured import Measured
    from footfall.files.motion import load_forces, load_motion
    from footfall.ground import FrictionTable, Ground
    from footfall.measure.audit import audit
    from footfall.record import Push
    from footfall.recording import Recording, load_recording
    from footfall.robot import Foot, Robot, load_robot, robots
    from footfall.robot.motors import assisted
    from footfall.simulation import Simulation
    from footfall.simulation.worlds import Worlds
    from footfall.solve.contacts import coulomb
    from footfall.study.compare import compare
    from footfall.study.fit import fit
    from footfall.study.identify import identify_friction
    from footfall.study.sweep import sweep

# Where each public name lives; imported on first use, so that `import footfall` is quick.
_HOMES = {
    "Foot": "robot",
    "FootfallError": "errors",
    "FootfallWarning": "errors",
    "FrictionTable": "ground",
    "Ground": "ground",
    "Interrupted": "errors",
    "JointMotion": "files.joint_motion",
    "Measured": "files.measured",
    "Push": "record",
    "Recording": "recording",
    "Robot": "robot",
    "Simulation": "simulation",
    "Worlds": "simulation.worlds",
    "assisted": "robot.motors",
    "audit": "measure.audit",
    "compare": "study.compare",
    "coulomb": "solve.contacts",
    "fit": "study.fit",
    "identify_friction": "study.identify",
    "law": "contact",
    "laws": "contact",
    "load_forces": "files.motion",
    "load_joint_motion": "files.joint_motion",
    "load_motion": "files.motion",
    "load_recording": "recording",
    "load_robot": "robot",
    "point_law": "contact",
    "robots": "robot",
    "spring_friction": "contact.from_function",
    "sweep": "study.sweep",
}
_ROOMS = ("contact", "control", "errors", "export", "gait", "measure", "show", "solve", "study")

__all__ = [*_HOMES, *_ROOMS, "__version__"]


name_glfw()


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
