"""A simulation described by settings, as a study file has them, and the inputs of a case put into them.

    {"robot": "spatial-biped", "law": {"name": "spring-damper", "k": 1e5}, "ground": {"kind": "slope", "angle": 0.05},
     "controller": "posture", "duration": 1.0, "push": {"body": "trunk", "size": 60.0, "angle": 90.0, "duration": 0.1}}

An input names a setting by its path: ``law`` (the name), ``law.k``, ``ground.friction``, ``push.size``,
``robot.foot_length``. The size of a push is in N, its angle in degrees in the ground's plane, from x towards y.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from footfall.contact import law as make_law
from footfall.contact.registry import DEFAULT_LAW
from footfall.control import chosen_controller
from footfall.errors import StudyError, did_you_mean
from footfall.ground import Ground
from footfall.ground.ground import ground_of_kind
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import load_robot
from footfall.simulation import Simulation
from footfall.simulation.task import make_pushes

#: The key of the name in a setting that may be a name alone.
NAMED = {"robot": "name", "law": "name", "ground": "kind", "controller": "name"}
SIMULATION = ("dt", "body_contacts")
RUN = ("duration", "record_dt")
KNOWN = (*NAMED, *SIMULATION, *RUN, "push")
DEFAULTS = {"law": DEFAULT_LAW, "ground": "plane", "controller": "default"}
DURATION = 1.0  # s
PUSH = ("body", "size", "angle", "force", "torque", "start", "duration")


def check_inputs(settings: Mapping[str, Any], first: Mapping[str, Any]) -> None:
    """Refuse settings and inputs that make no valid simulation: the first case is prepared, but not run."""
    for name in settings:
        if name not in KNOWN:
            raise StudyError(f"a simulation has no setting '{name}': {did_you_mean(name, KNOWN)}")
    if "robot" not in settings and "robot" not in first and "robot.name" not in first:
        raise StudyError("the settings of the simulation name no robot")
    sim, options = prepare(settings, first)
    make_pushes(sim.robot.model, options["pushes"], sim.dt)


def simulate(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> Recording:
    """Run one case."""
    sim, options = prepare(settings, inputs)
    return sim.run(**options)


def prepare(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> tuple[Simulation, dict[str, Any]]:
    """The simulation of a case, and the options of its run. Cases that differ only in the run share the simulation."""
    full = put_in(settings, inputs)
    return simulation_of(full), run_options(full)


def simulation_of(full: Mapping[str, Any]) -> Simulation:
    """The simulation of settings that inputs were put into; the last few are kept."""
    setup = {name: full[name] for name in ("robot", "law", "ground", *SIMULATION) if name in full}
    return _simulation(json.dumps(setup, sort_keys=True))


def run_options(full: Mapping[str, Any]) -> dict[str, Any]:
    """What its run is given."""
    given = full["controller"] or {"name": "none"}
    controller = chosen_controller(given["name"], simulation_of(full).robot, **_without(given, "name"))
    options: dict[str, Any] = {"controller": controller, "pushes": [_push(one) for one in _pushes(full)]}
    options["duration"] = float(full.get("duration", getattr(controller, "duration", DURATION)))
    if "record_dt" in full:
        options["record_dt"] = full["record_dt"]
    return options


@lru_cache(maxsize=32)
def _simulation(text: str) -> Simulation:
    setup = json.loads(text)
    robot = load_robot(setup["robot"]["name"], **_without(setup["robot"], "name"))
    others = {name: setup[name] for name in SIMULATION if name in setup}
    law = make_law(setup["law"]["name"], **_without(setup["law"], "name"))
    return Simulation(robot, ground=ground_of(setup), law=law, **others)


def laws_of(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> set[str]:
    """Names of the laws of all cases."""
    named = [inputs[name] for name in ("law", "law.name") if name in inputs]
    return {str(one) for values in named for one in values} or {put_in(settings, {})["law"]["name"]}


def ground_of(full: Mapping[str, Any]) -> Ground:
    """The ground of full settings."""
    return ground_of_kind(full["ground"]["kind"], _without(full["ground"], "kind"))


def put_in(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the inputs of a case at their places; names alone become tables."""
    full = copy.deepcopy({**DEFAULTS, **settings})
    for path in sorted(inputs, key=lambda path: path.count(".")):  # "law" before "law.k"
        head, *rest = path.split(".")
        if head not in KNOWN:
            raise StudyError(
                f"an input is called '{path}', but a simulation has no setting '{head}': {did_you_mean(head, KNOWN)}"
            )
        if not rest:
            full[head] = inputs[path]
            continue
        full.setdefault(head, {})
        if isinstance(full[head], str):
            full[head] = {NAMED[head]: full[head]}
        place = full[head]
        for part in rest[:-1]:
            place = _inside(place, part, path)
        if isinstance(place, list):
            _inside(place, rest[-1], path)
            place[int(rest[-1])] = inputs[path]
        elif isinstance(place, dict):
            place[rest[-1]] = inputs[path]
        else:
            raise StudyError(f"the input '{path}' names a part of '{head}', which has none")
    for head, key in NAMED.items():
        if isinstance(full.get(head), str):
            full[head] = {key: full[head]}
        if not isinstance(full.get(head, {}), dict):
            raise StudyError(f"{head} = {full[head]!r}, but it must be its {key}, or a table with that and options")
        if head in full and key not in full[head]:
            raise StudyError(f"the settings give options of the {head} but not its {key}")
    return full


def _inside(place: Any, part: str, path: str) -> Any:
    if isinstance(place, dict) and part in place:
        return place[part]
    if isinstance(place, list) and part.isdigit() and int(part) < len(place):
        return place[int(part)]
    raise StudyError(f"the input '{path}' names '{part}', which the settings do not have")


def _pushes(full: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = full.get("push", [])
    return given if isinstance(given, list) else [given]


def _push(given: Mapping[str, Any]) -> Push:
    """A push by force and torque, or by size (N) and angle (degrees from x) in the ground's plane."""
    for name in given:
        if name not in PUSH:
            raise StudyError(f"a push has no '{name}': {did_you_mean(name, PUSH)}")
    if "body" not in given:
        raise StudyError("a push needs the name of the body it acts on")
    options = {name: given[name] for name in ("start", "duration") if name in given}
    if "size" in given or "angle" in given:
        if "force" in given or "torque" in given:
            raise StudyError("a push is given by size and angle or by force and torque, not by both")
        angle = math.radians(given.get("angle", 0.0))
        size = float(given.get("size", 0.0))
        force = (size * math.cos(angle), size * math.sin(angle), 0.0)
        return Push(given["body"], force=force, **options)
    vectors = {name: tuple(float(x) for x in given[name]) for name in ("force", "torque") if name in given}
    return Push(given["body"], **vectors, **options)  # type: ignore[arg-type]


def _without(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}
