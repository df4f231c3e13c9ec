"""What a run computes in: MuJoCo's data and the engine's arrays, laid out for compiled code.

Making all this takes longer than some hundred steps. So a workspace that a run has finished with is reset and serves
the next run, of the same simulation or one like it (see :mod:`footfall.simulation.prepared`). A workspace belongs to
one run at a time, so that runs in several threads stay independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numba
import numpy as np

from footfall.compiled import ByReference
from footfall.contact.base import CoupledLaw, Law
from footfall.contact.event_law import EventLaw
from footfall.engine import step
from footfall.engine.clearance import make_clearance
from footfall.engine.constraints.shared_rows import make_made_rows, make_shared_rows
from footfall.engine.events import integration
from footfall.engine.events.flow import Flow, carry_over, make_flow
from footfall.engine.first_values import FirstValues
from footfall.engine.other_bodies.points import CHANGING, SIZES, Others, own_copy, with_places, with_tape
from footfall.engine.tape import OUTCOME_SIZE, Tape, make_tape
from footfall.engine.world import (
    Pushes,
    Scratch,
    make_constraints,
    make_contacts,
    make_scratch,
    make_world,
    with_size,
    with_slots,
)
from footfall.simulation.compiled_laws import idle_laws
from footfall.simulation.controls import no_control
from footfall.simulation.prepared import Prepared, prepared_with, with_time_stepping_law
from footfall.simulation.pushes import no_pushes
from footfall.simulation.setup import Setup

#: Samples up to which copying a record takes less time than allocating new arrays for it.
FEW_SAMPLES = 64
#: The parts that a workspace lays out again when it first makes room for more points.
LAID_OUT = ("size", "_all_points", "points", "contacts", "scratch", "of_law", "conditions", "flow", "parts")


class Workspace:
    """MuJoCo's data and all arrays of one run; it grows as points of bodies other than feet come near the ground."""

    def __init__(self, sim: Setup, shared: Prepared) -> None:
        model, ground, feet = sim.scene.model, sim.ground, len(sim.robot.feet)
        self.model, self.data = model, mujoco.MjData(model)
        self.world = make_world(model, self.data)
        self._all_points = own_copy(shared.points)
        self._all_contacts = make_contacts(self._all_points, ground.static_friction, ground.dynamic_friction)
        self._laws = shared.laws
        self.conditions = step.Conditions(
            plan=shared.plan,
            guard=shared.guard,
            clearance=make_clearance(sim.scene.widened, self.data),
            constraints=make_constraints(
                make_made_rows(sim.scene.rows, self.data),
                sim.scene.joints,
                make_shared_rows(model, feet, shared.shared_rows),
            ),
            native=sim.scene.native.copy(),
            pushes=no_pushes(),
            ground=shared.ground,
            control=no_control().control,
        )
        self.flow: Flow | None = None
        self._lay_out(sim, 0, None, shared.law_signals)
        self._first_layout = self._layout()
        self._layouts = {0: self._first_layout}
        self._first_values = FirstValues(self._remembered())
        self._first_values.put_back()  # so that it is compiled at the first start, and not for the second run
        self.warned: np.ndarray = self.data.warning.number  # (kinds,) how often MuJoCo warned, live
        self.outcome = np.zeros(OUTCOME_SIZE, dtype=np.int64)
        self._few = make_tape(model, 0, sim.robot.point_count, 0)
        self._tape = ByReference(self._few)
        self._laid_out: tuple[Any, ...] = ()

    def _lay_out(self, sim: Setup, size: int, before: Scratch | None, signals: int) -> None:
        """Lay out everything that depends on the number of points and bodies there is room for; ``before`` is the old
        layout.
        """
        self.size = size
        self.points, self.contacts = with_size(self._all_points, self._all_contacts, size)
        law, count, slots = sim.law, len(self.points.local), len(self.points.body)
        known = self.flow
        scratch = make_scratch(self.model, self.points, signals)
        if before is not None:
            feet = [*range(self.points.others.feet), -1]
            scratch.held.peak[feet] = before.held.peak[feet]
            scratch = scratch._replace(signals=before.signals, back=before.back, clock=before.clock)
            constraints = with_slots(self.conditions.constraints, slots)
            self.conditions = self.conditions._replace(constraints=constraints)
        self.scratch: Scratch = scratch
        if isinstance(law, EventLaw):
            ground, margin, precise = sim.ground, law.in_steps().near(sim.dt), law.tolerance
            self.flow = make_flow(self.model, count, slots, sim.dt, tolerance=precise, ground=ground, margin=margin)
            if known is not None:
                carry_over(known, self.flow)
        of_points = tuple(map(ByReference, (self.points, self.contacts, self.scratch)))
        laws = ByReference(self._with_scratch(law, count, slots))
        if before is None:
            world, conditions = ByReference(self.world), ByReference(self.conditions)
        else:
            world, conditions = self.parts[0], self.parts[4].replace(constraints=self.conditions.constraints)
        flow = None if self.flow is None else ByReference(self.flow)
        self.parts: tuple[Any, ...] = (world, *of_points, conditions, laws, flow)

    def _with_scratch(self, law: Law, points: int, bodies: int) -> step.Laws | integration.EventLaws:
        """The law with its scratch arrays, which this workspace keeps."""
        made = [
            one.scratch(points, bodies) if isinstance(one, CoupledLaw) else None for one in with_time_stepping_law(law)
        ]
        self.of_law = [None if one is None else ByReference(one) for one in made]
        return self._computing_in_scratch()

    def _computing_in_scratch(self) -> step.Laws | integration.EventLaws:
        own, *in_steps = [0 if one is None else one.address for one in self.of_law]
        laws = self._laws
        if isinstance(laws, step.Laws):
            return laws._replace(scratch=own)
        return laws._replace(
            between=laws.between._replace(scratch=own), in_steps=laws.in_steps._replace(scratch=in_steps[0])
        )

    def serve(self, sim: Setup, shared: Prepared) -> None:
        """Serve a simulation from whose ``shared.spare`` it was taken, in its first state."""
        if self._laws is not shared.laws:  # another simulation
            self._laws = shared.laws
            self.conditions = self.conditions._replace(ground=shared.ground)
            self._set_part(4, self.parts[4].replace(ground=shared.ground))
            self._set_part(5, ByReference(self._computing_in_scratch()))
            self._first_layout |= {"conditions": self.conditions, "parts": self.parts}
            self._layouts = {0: self._first_layout}  # larger ones have another ground and law
        mujoco.mj_resetData(self.model, self.data)
        self._first_values.put_back()
        self._all_contacts.static_friction[:] = sim.ground.static_friction
        self._all_contacts.dynamic_friction[:] = sim.ground.dynamic_friction
        self.outcome[:] = 0

    def sizes(self) -> list[int]:
        """Each size's number of places for points of bodies other than feet."""
        return [min(places, len(self._all_points.others.who)) for places, _ in SIZES]

    @property
    def roomiest(self) -> int:
        """The largest size that any run of the same simulation needed."""
        return max(self._layouts)

    def resize(self, sim: Setup, size: int, samples: int) -> None:
        """Make room, in the loop and in the record, for ``SIZES[size]`` points of bodies other than feet."""
        self._all_points = self._all_points._replace(others=with_tape(self._all_points.others, size, samples))
        self._all_points.others.who[self.sizes()[size] :] = -1  # a smaller size is for points of feet alone
        if size in self._layouts:
            self._return_to_layout(size)
        else:
            self._lay_out(sim, size, self.scratch, 0)
            self._layouts[size] = self._layout()

    def _layout(self) -> dict[str, Any]:
        """What is laid out now."""
        return {name: getattr(self, name) for name in LAID_OUT}

    def _set(self, layout: dict[str, Any]) -> None:
        for name, value in layout.items():
            setattr(self, name, value)

    def _return_to_layout(self, size: int) -> None:
        """Return to an earlier layout of this size: a fraction of the work of a new one.

        What a step leaves to the next is carried over; the rest is reset, except the laws' scratch arrays.
        """
        before, known, run, all_points = self.scratch, self.flow, self.conditions, self._all_points
        self._set(self._layouts[size])
        self._all_points = all_points
        self._set_others(with_places(all_points.others, size))
        if self.scratch.held is not before.held:  # another size than now
            for array in _arrays((self.scratch.held, self.scratch.half, self.contacts.mobility)):
                array[...] = 0
            feet = [*range(all_points.others.feet), -1]
            self.scratch.held.peak[feet] = before.held.peak[feet]
        own: dict[str, Any] = {"signals": before.signals, "back": before.back, "clock": before.clock}
        self.scratch = self.scratch._replace(**own)
        self._set_part(3, self.parts[3].replace(**own))
        self._set_conditions(run)
        if self.flow is not None and known is not None and known is not self.flow:
            carry_over(known, self.flow)

    def _set_others(self, others: Others) -> None:
        self.points = self.points._replace(others=others)
        self._set_part(1, self.parts[1].replace(others=others))

    def _set_conditions(self, of: step.Conditions) -> None:
        """Take plan, pushes and controller from other conditions."""
        own: dict[str, Any] = {"plan": of.plan, "pushes": of.pushes, "control": of.control}
        self.conditions = self.conditions._replace(**own)
        self._set_part(4, self.parts[4].replace(**own))

    def _remembered(self) -> Iterator[np.ndarray]:
        """All arrays that one step leaves to the next, and the small scratch arrays.

        Of constraints over several dofs only their number: each step writes the rows before it reads them.
        """
        constraints, clearance = self.conditions.constraints, self.conditions.clearance
        looked = (clearance.place, clearance.room, clearance.looks)
        few = constraints._replace(shared=constraints.shared.number, made=())
        places = tuple(getattr(self._all_points.others, name) for name in CHANGING)
        points = tuple(value for name, value in self._all_points._asdict().items() if name != "others")
        operators = (self.points.shared, self.contacts.mobility)
        of_law = tuple(one.named for one in self.of_law if one is not None)
        rest = (self.scratch, of_law, few, looked, self.conditions.native, self.flow or ())
        contacts = tuple(value for name, value in self._all_contacts._asdict().items() if "friction" not in name)
        return _arrays((points, places, contacts, operators, rest))

    def release(self) -> None:
        """Forget what a run brought, such as its controller, and return to the first size."""
        bare = self._first_layout["_all_points"].others.tape
        for size, layout in self._layouts.items():
            if layout["_all_points"].others.tape is not bare:  # this run was the first to need so much
                self._set(layout)
                self._all_points = self._first_layout["_all_points"]
                self._set_others(self.points.others._replace(tape=bare))
                self._set_conditions(self._first_layout["conditions"])
                self._layouts[size] = self._layout()
        self._set(self._first_layout)
        if self._laid_out and self._laid_out[0].named[: len(self.parts) - 1] != self.parts[:-1]:
            self._laid_out = ()
        if self._tape.named is not self._few:
            self._tape, self._laid_out = ByReference(self._few), ()

    def for_run(self, plan: step.Plan, pushes: Pushes, control: step.Control, signals: int) -> None:
        """Lay out the parts of the loop for a run with this plan and number of signals.

        Plan and pushes stay for the next run, which is often of the same kind. A controller is not kept.
        """
        known = self.conditions
        if plan != known.plan or pushes is not known.pushes:
            self.conditions = known._replace(plan=plan, pushes=pushes)
            self._set_part(4, self.parts[4].replace(plan=plan, pushes=pushes))
            self._first_layout |= {"conditions": self.conditions, "parts": self.parts}
        if control is not known.control:
            self.conditions = self.conditions._replace(control=control)
            self._set_part(4, self.parts[4].replace(control=control))
        if signals != len(self.scratch.signals):
            self.scratch = self.scratch._replace(signals=np.zeros(signals))
            self._set_part(3, self.parts[3].replace(signals=self.scratch.signals))

    def _set_part(self, number: int, part: ByReference) -> None:
        self.parts = (*self.parts[:number], part, *self.parts[number + 1 :])

    def make_tape(self, samples: int, points: int, signals: int) -> Tape:
        """Arrays for this many samples; :meth:`keeps` says who owns them."""
        if samples > FEW_SAMPLES:
            return make_tape(self.model, samples, points, signals)
        if self._few.signals.shape != (FEW_SAMPLES, signals):
            self._few = make_tape(self.model, FEW_SAMPLES, points, signals)
        return self._few

    def keeps(self, tape: Tape) -> bool:
        """Whether the next run will record into the same arrays."""
        return tape is self._few

    def laid_out(self, tape: Tape) -> tuple[Any, ...]:
        """The arguments of the loop other than the steps, recording into these arrays."""
        if self._tape.named is not tape:
            self._tape, self._laid_out = ByReference(tape), ()
        parts, flow = self.parts[:-1], self.parts[-1]
        if not self._laid_out or self._laid_out[0].named[: len(parts)] != parts:
            loop = ByReference(step.Loop._make((*parts, self._tape, self.outcome)))
            self._laid_out = (loop,) if flow is None else (loop, flow)
        return self._laid_out


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a tuple of tuples that may change."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _arrays(one)


def take_workspace(sim: Setup, shared: Prepared) -> Workspace:
    """A workspace in its first state, for one run; return it to ``shared.spare`` when nothing refers to its arrays."""
    try:
        found = shared.spare.pop()
    except IndexError:
        return Workspace(sim, shared)
    found.serve(sim, shared)
    return found


def loop_types(sim: Setup) -> list[Any]:
    """The types of the parts of a loop: they are known before the law is compiled."""
    idle = idle_laws()
    laws = integration.EventLaws(idle, idle.coupled, idle) if sim.law.event_driven else idle
    return [numba.typeof(part) for part in Workspace(sim, prepared_with(sim, laws, None)).parts if part is not None]
