"""Every error that Footfall raises on purpose, under one base class, and its warnings."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


class FootfallError(Exception):
    """The base class of all errors that Footfall raises on purpose.

    ``refused`` is the name of an argument whose value its type does not allow, and what it must be.
    """

    refused: tuple[str, str] | None = None


class RobotError(FootfallError):
    """A robot cannot be loaded, or has no usable feet."""


class GroundError(FootfallError):
    """A ground is ill-defined, or returned something that is not a height.

    ``recording`` holds what was simulated up to that point, or ``None``.
    """

    recording: Any = None


class LawError(FootfallError):
    """A contact law does not exist, or was given options it cannot take."""


class SolveError(FootfallError):
    """A solver was given an invalid problem: shapes that do not fit, NaN, negative friction."""


class SimulationError(FootfallError):
    """A simulation was asked for something impossible, or could not go on.

    ``recording`` holds what was simulated up to that point, or ``None``.
    """

    def __init__(self, message: str, recording: Any = None) -> None:
        super().__init__(message)
        self.recording = recording


class ControllerError(SimulationError):
    """A controller raised, or returned something that is not a set of controls."""


class StudyError(FootfallError):
    """A study cannot be run: its inputs, its data or its folder are not what it needs."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. ``recording`` holds what was simulated up to then.

    It is a ``KeyboardInterrupt``, so that a script ends as any other does; at a prompt the recording is
    ``sys.last_value.recording``.
    """

    def __init__(self, message: str, recording: Any = None) -> None:
        super().__init__(message)
        self.recording = recording


class GaitError(FootfallError):
    """A gait cannot be found, read or walked."""


class RecordingError(FootfallError):
    """A recording cannot be written, or what was found is not a recording."""


class UsageError(FootfallError):
    """An option of a command cannot be understood; the command exits with 2."""


class FootfallWarning(UserWarning):
    """Something a user should know that does not stop the work."""


def warn(message: str) -> None:
    """Warn a user, pointing at the line of their own code that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "footfall":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FootfallWarning, stacklevel=level)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress Footfall's warnings where the caller reports the same in another way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FootfallWarning)
        yield


#: Packages that only some things need: what people call them, and what pip installs to get them.
OPTIONAL = {
    "c3d": ("c3d", "footfall[study]"),
    "casadi": ("CasADi", "footfall[gait]"),
    "distributed": ("Dask", "footfall[cluster]"),
    "gymnasium": ("Gymnasium", "footfall[learn]"),
    "jax": ("JAX", "footfall[jax]"),
    "matplotlib": ("Matplotlib", "footfall[plot]"),
    "mcap": ("mcap", "footfall[export]"),
    "onnxruntime": ("onnxruntime", "footfall[policy]"),
    "onnxscript": ("onnxscript", "footfall[train]"),
    "mcap_ros2": ("mcap-ros2-support", "footfall[logs]"),
    "pandas": ("pandas", "pandas"),
    "PIL": ("Pillow", "footfall[video]"),
    "pyarrow": ("pyarrow", "footfall[study]"),
    "rerun": ("Rerun's SDK", "footfall[rerun]"),
    "rsl_rl": ("rsl_rl", "footfall[train]"),
    "scipy": ("SciPy", "footfall[study]"),
    "tensordict": ("tensordict", "footfall[train]"),
    "torch": ("PyTorch", "footfall[train]"),
    "xarray": ("xarray", "xarray"),
}


def optional_package(module: str, what: str = "this") -> Any:
    """A module of an optional package, or an error that says ``what`` needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        name, source = OPTIONAL[module.partition(".")[0]]
        raise FootfallError(f'{what} needs {name}: pip install "{source}" ({error})') from error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A half-sentence that names the nearest known name and lists the rest."""
    known = sorted(known)
    near = nearest(name, known)
    hint = f"did you mean '{near}'? " if near else ""
    return f"{hint}known: {', '.join(known)}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like it, None if there is none."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)), None)
