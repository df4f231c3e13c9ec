"""Cases of a study as worlds: those that differ only in pushes, friction, ground, and numbers of law or controller.

Cases with different robots, laws or times form separate groups of worlds. Cases that worlds cannot compute like a
single run, and cases that end early, run on their own, with the reason.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from footfall.control import controller_class
from footfall.control.base import StatefulController
from footfall.errors import FootfallError, without_warnings
from footfall.recording import Recording
from footfall.simulation.worlds import Worlds
from footfall.study.as_worlds import (
    Variant,
    apart_until,
    controller_refusal,
    refusal,
    run_together,
)
from footfall.study.sweep.settings import ground_of, law_of, put_in, run_options, simulation_of

#: Least number of cases for which worlds are worth the minute that their loop takes to compile.
MANY = 100

MET = "two bodies of the robot touched"
ENDED = "the run ended early"


class Computed(NamedTuple):
    """A case that ran as a world: its recording and computing time (s), or why it must run on its own."""

    recording: Recording | None = None
    seconds: float = 0.0
    alone: str = ""


def compute_cases(settings: Mapping[str, Any], cases: Mapping[int, Mapping[str, Any]]) -> dict[int, Computed]:
    """The cases that worlds can compute, by number. Errors of a case are left to its own run."""
    companies: dict[str, dict[int, dict[str, Any]]] = {}
    for case, inputs in cases.items():
        try:
            full = put_in(settings, inputs)
        except FootfallError:  # its own run says so
            continue
        companies.setdefault(_company(full), {})[case] = full
    found: dict[int, Computed] = {}
    for company in companies.values():
        try:
            with without_warnings():  # the rows say the same
                found |= _compute(company)
        except (FootfallError, ValueError, TypeError, MemoryError) as error:
            found |= dict.fromkeys(company, Computed(alone=str(error)))
    return found


def compile_ahead(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Compile the loop of many worlds here once, and not in every process at the same time."""
    full = put_in(settings, inputs)
    sim = simulation_of(full)
    if not refusal(sim, run_options(full)["controller"]):
        with without_warnings():
            Worlds(sim, 1, threads=1).step()


def _company(full: Mapping[str, Any]) -> str:
    """What cases must share to be worlds of one simulation."""
    ground = {name: None if _number(value) else value for name, value in full["ground"].items()}
    law = {name: None if isinstance(value, float) else value for name, value in full["law"].items()}
    controller = full.get("controller", {})
    if controller and not issubclass(controller_class(controller["name"]), StatefulController):
        controller = {name: None if _number(value) else value for name, value in controller.items()}
    same = {name: value for name, value in full.items() if name != "push"}
    return json.dumps({**same, "ground": ground, "law": law, "controller": controller}, sort_keys=True)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compute(company: Mapping[int, Mapping[str, Any]]) -> dict[int, Computed]:
    begin = time.perf_counter()
    fulls = list(company.values())
    sim, options = simulation_of(fulls[0]), [run_options(full) for full in fulls]
    controller, duration = options[0]["controller"], options[0]["duration"]
    why = controller_refusal(sim, controller)  # worlds that cannot be say so themselves
    if why:
        return dict.fromkeys(company, Computed(alone=why))
    grounds = _made(fulls, "ground", ground_of)
    if any(ground.friction_field is not None for ground in grounds):
        return dict.fromkeys(company, Computed(alone="many worlds have one friction each"))
    if any(one["duration"] != duration for one in options):
        return dict.fromkeys(company, Computed(alone="the cases last different times"))
    varied = [name for name, value in fulls[0]["law"].items() if isinstance(value, float)]
    recordings = run_together(
        sim,
        [Variant(ground, one["controller"], one["pushes"]) for ground, one in zip(grounds, options, strict=True)],
        duration,
        record_dt=options[0].get("record_dt"),
        law_options={name: np.array([full["law"][name] for full in fulls]) for name in varied},
        threads=1,
    )
    found = {}
    each = (time.perf_counter() - begin) / len(fulls)
    laws = _made(fulls, "law", law_of)
    for case, rec, ground, law in zip(company, recordings, grounds, laws, strict=True):
        start = time.perf_counter()
        own = replace(rec, ground=ground, law=law)
        alone = ENDED if own.failure is not None else MET if apart_until(sim, own) < np.inf else ""
        took = each + time.perf_counter() - start
        found[case] = Computed(None if alone else own, took, alone)
    return found


def _made(fulls: Sequence[Mapping[str, Any]], name: str, make: Any) -> list[Any]:
    """A ground or law for each case, those that are alike the same one."""
    known: dict[str, Any] = {}
    return [known.setdefault(json.dumps(full[name], sort_keys=True), make(full)) for full in fulls]
