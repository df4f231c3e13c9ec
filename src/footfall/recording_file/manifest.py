"""The manifest: the description of a recording as JSON, checked throughout before it is used."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.unknown import UnknownLaw
from footfall.errors import FootfallError, LawError, RecordingError
from footfall.given_numbers import is_number, is_whole
from footfall.ground import Ground
from footfall.record import COLUMNS, Failure, Push, Record
from footfall.recording_file.samples import BINARY, digest_of
from footfall.robot import Robot

#: Recordings of version 1 hold the robot's files in the manifest.
FORMAT, VERSION, READABLE = "footfall-recording", 2, (1, 2)
CHECKSUMS = "checksums"


class Description(NamedTuple):
    """The description of a recording in a manifest."""

    robot: Robot
    other_points: tuple[int, ...]
    ground: Ground
    law: Law
    dt: float
    samples: int
    signals: dict[str, tuple[int, ...]]  # the shape of a sample of each
    pushes: tuple[Push, ...]
    failure: Failure | None
    info: dict[str, Any]


# ---- writing -----------------------------------------------------------------------------------------------


def described(rec: Record) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the manifest of a recording says, as plain values, and the files of the robot that it refers to.

    A ``RecordingError`` says what JSON cannot hold.
    """
    robot, files = rec.robot.to_dict(), dict(rec.robot.assets)
    del robot["assets"]
    if binary := robot.pop("mjb"):
        files[BINARY] = base64.b64decode(binary)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "samples": len(rec),
        "dt": rec.dt,
        "columns": {
            name: {
                "shape": getattr(rec, name).shape,
                "axes": ["time", *c.axes],
                "dtype": c.dtype,
                "unit": c.unit,
            }
            for name, c in COLUMNS.items()
        },
        "signals": {name: values.shape[1:] for name, values in rec.signals.items()},
        "other_points": rec.other_points.tolist(),
        "pushes": [push.to_dict() for push in rec.pushes],
        "failure": None if rec.failure is None else asdict(rec.failure),
        "info": dict(rec.info),
        "law": rec.law.to_dict(),
        "ground": rec.ground.to_dict(),
        "robot": robot,
        "files": digest_of(files) if files else None,
    }
    try:
        plain: dict[str, Any] = json.loads(json.dumps(content, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"cannot save the recording: info or the law's options: {error}") from error
    return plain, files


def text_of(content: Mapping[str, Any], samples_digest: str) -> str:
    """The manifest of samples with that digest, as text, with its own checksum."""
    own = {key: value for key, value in content.items() if key != CHECKSUMS}
    checksums = {"samples": samples_digest, "manifest": _digest(own)}
    return json.dumps(own | {CHECKSUMS: checksums}, indent=1)


def _digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain values, whatever the order of their keys and the spaces between them."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Plain values for JSON in place of NumPy's numbers and arrays, mappings and paths."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is not a number, text, list or mapping")


# ---- reading -----------------------------------------------------------------------------------------------


def parsed(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The content itself, if it is a manifest that this version reads and is unchanged since it was saved."""
    if content.get("format") != FORMAT:
        raise RecordingError(f"'{folder}' is not a recording: its manifest.json does not say '{FORMAT}'")
    if content.get("version") not in READABLE:
        version, known = content.get("version"), " and ".join(map(str, READABLE))
        raise RecordingError(f"the recording '{folder}' has format version {version}, and this Footfall reads {known}")
    if CHECKSUMS in content:  # recordings of 0.1.0 have none
        own = {key: value for key, value in content.items() if key != CHECKSUMS}
        said = content[CHECKSUMS].get("manifest") if isinstance(content[CHECKSUMS], dict) else None
        if said != _digest(own):
            raise RecordingError(f"the manifest of the recording '{folder}' was changed after it was saved")
    return content


def saved_digest(content: Mapping[str, Any], otherwise: str) -> str:
    """The digest of the samples that a manifest belongs to, ``otherwise`` where it does not say."""
    checksums = content.get(CHECKSUMS)
    return str(checksums.get("samples")) if isinstance(checksums, dict) else otherwise


def restored(content: Mapping[str, Any], files: Mapping[str, bytes], folder: Path) -> Description:
    """What a manifest and the robot's files describe; a ``RecordingError`` says what is invalid."""
    try:
        return _restored(content, files)
    except FootfallError as error:
        raise RecordingError(f"the manifest of the recording '{folder}' is damaged: {error}") from error
    except Exception as error:  # it may hold anything, and robots, grounds and laws are made from it
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise RecordingError(f"the manifest of the recording '{folder}' is damaged: {reason}") from error


def _restored(content: Mapping[str, Any], files: Mapping[str, bytes]) -> Description:
    """What a manifest says of a recording."""
    info = dict(_mapping(content, "info"))
    kept = info.pop("pushes", ())  # where recordings of version 0.1.0 have them
    if "remarks" in info:  # what they call warnings
        info["warnings"] = info.pop("remarks")
    failure = content["failure"]
    signals = _mapping(content, "signals") if "signals" in content else {}
    own: dict[str, Any] = {"assets": dict(files), "mjb": None}
    if _mapping(content, "robot").get("mjcf") is None:
        own["mjb"] = own["assets"].pop(BINARY, None)
    robot = Robot.from_dict(own | dict(_mapping(content, "robot")))
    others = [_count(point, "a point") for point in content.get("other_points", ())]
    if sorted(set(others)) != others or (others and others[-1] >= len(robot.others)):
        raise RecordingError(f"its other points are {_shown(others)}, and the robot has {len(robot.others)}")
    return Description(
        robot=robot,
        other_points=tuple(others),
        ground=Ground.from_dict(_mapping(content, "ground")),
        law=_law(_mapping(content, "law")),
        dt=_step(content["dt"]),
        samples=_count(content["samples"], "samples"),
        signals={name: tuple(_count(n, f"a length of signal '{name}'") for n in signals[name]) for name in signals},
        pushes=tuple(map(Push.from_dict, content.get("pushes") or kept)),
        failure=None if failure is None else _failure(_mapping(content, "failure")),
        info=info,
    )


def _mapping(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = content[key]
    if not isinstance(value, Mapping):
        raise RecordingError(f"its '{key}' is {_shown(value)} and no object")
    return value


def _count(value: Any, what: str) -> int:
    if not (is_whole(value, 0) and value < 2**40):
        raise RecordingError(f"{what} is {_shown(value)} and no number of things")
    return value


def _step(value: Any) -> float:
    if isinstance(value, bool) or not (is_number(value) and value > 0.0):
        raise RecordingError(f"dt is {_shown(value)} and no step in s")
    return float(value)


def _failure(value: Mapping[str, Any]) -> Failure:
    failure = Failure(**value)
    if not isinstance(failure.time, int | float) or not all(
        isinstance(text, str) for text in (failure.cause, failure.joint, failure.message)
    ):
        raise RecordingError("its 'failure' does not hold time, cause, joint and message")
    return failure


def _law(description: Mapping[str, Any]) -> Law:
    name = description["name"]
    if not isinstance(name, str):
        raise RecordingError(f"its law is called {_shown(name)}, which is not a name")
    # Options are hashable, so what JSON holds as a list was a tuple.
    options = {key: tuple(v) if isinstance(v, list) else v for key, v in description.items() if key != "name"}
    try:
        return make_law(description)
    except LawError:
        return UnknownLaw(name=name, given=options)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
