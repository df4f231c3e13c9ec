"""Derivatives of the next step of many worlds: on the threads of a CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from footfall.engine.derivatives import space
from footfall.engine.derivatives.space import EXACT, REASONS
from footfall.engine.worlds.step import Plan
from footfall.errors import SimulationError
from footfall.process.machine import cores
from footfall.simulation.linearization import Linearization, bounces, state_names
from footfall.simulation.linearize import Probe, check_smoothing, law_kind, not_exact
from footfall.simulation.parameters import find_parameters
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task
from footfall.simulation.worlds_given import Inputs, make_inputs


@dataclass(frozen=True, eq=False, repr=False)
class Linearizations:
    """Derivatives of one step of W worlds on a GPU, as :class:`Linearization` has them of one.

    Attributes:
        A, B: (W, 2 nv, 2 nv) and (W, 2 nv, nu) on the device, in the memory of one array; NaN for worlds whose step has
            no exact derivative.
        exact: (W,) whether it has one.
        smoothing: compliance, m/N, by which contacts were softened, 0 if not.
        time: (W,) of the step's beginning, s.
    """

    A: Any
    B: Any
    exact: np.ndarray
    smoothing: float
    time: np.ndarray
    simulation: Setup
    reasons: np.ndarray  # (W,) numbers of the sentences of ``why``

    @property
    def why(self) -> list[str]:
        """The reason of each world why its step has no exact derivative, "" if it has one."""
        return [REASONS[number] for number in self.reasons]

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the rows, and of the columns of A."""
        return state_names(self.simulation)

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of the columns of B."""
        return self.simulation.robot.actuator_names

    def __repr__(self) -> str:
        sim, (worlds, rows, columns) = self.simulation, self.B.shape
        softened = f", softened by {self.smoothing:g} m/N" if self.smoothing else ""
        return (
            f"Linearizations({sim.robot.name} under {sim.law.name}, A ({worlds}, {rows}, {rows}), "
            f"B ({worlds}, {rows}, {columns}), {np.count_nonzero(self.exact)} exact{softened})"
        )


class OnThreads:
    """Derivatives of worlds on a CPU; each thread keeps its probes from call to call."""

    def __init__(self, given: Inputs, to: tuple[str, ...]) -> None:
        sim, names = given.setup, ("friction", "values", "body_mass", "body_inertia")
        plain = make_inputs(sim, 1, ground=None, friction=None, law_options=None, mass_scale=None, pushes=())
        same = all((getattr(given.arrays, name) == getattr(plain.arrays, name)).all() for name in names)
        if not same or given.grounds != plain.grounds:
            raise SimulationError("worlds that have their own friction, ground, law options or masses cannot linearize")
        self.given, self.to, self.probes = given, to, [dict[int, Probe]() for _ in range(min(cores(), given.count))]

    def linearize(self, states: Sequence[State], smoothing: float) -> list[Linearization]:
        """The derivative of the next step from the state of each world."""
        count = len(self.probes)

        def every(first: int) -> list[Linearization]:
            probes, found = self.probes[first], []
            for w in range(first, len(states), count):
                own = min(w, len(self.given.pushes) - 1)
                if own not in probes:
                    probes[own] = Probe(self.given.setup, Task(pushes=self.given.pushes[own]), to=self.to)
                found.append(probes[own].linearize(states[w], None, smoothing))
            return found

        with ThreadPoolExecutor(count) as pool:
            parts = list(pool.map(every, range(count)))
        return [parts[w % count][w // count] for w in range(len(states))]


class OnGpu:
    """Derivatives of worlds on a GPU, whose memory and kernels are kept from call to call."""

    def __init__(self, given: Inputs, engine: Any, tapes: Any) -> None:
        sim = given.setup
        reasons = {
            not_exact(sim): True,
            "the ground is curved, which derivatives on a GPU do not see": not all(one.flat for one in given.grounds),
        }
        why = next((why for why, holds in reasons.items() if why and holds), "")
        if why:
            raise SimulationError(f"worlds on a GPU have only exact derivatives, and these have none: {why}")
        self.given, self.engine, self.tapes = given, engine, tapes
        self.kind = cast(int, law_kind(sim.law))
        self.made: Any = None

    def _make(self, plan: Plan) -> Any:
        from footfall.engine.worlds.derivative import Own, Shared
        from footfall.engine.worlds.gpu_derivatives import Derivatives

        sim, engine, kind = self.given.setup, self.engine, self.kind
        model, by = sim.scene.model, find_parameters(sim, (), 0).by
        held = sim.robot.point_count if kind != space.OF_POINTS else 0
        sizes = space.Sizes(0, len(engine.robot.soles.body), held, engine.state.memory.shape[1])
        slopes = space.make_space(model, sizes, kind, space.NOTHING, by)
        everywhere = engine.state.mode.shape[0]
        shared = Shared(
            dt=sim.dt,
            kind=kind,
            carried=space.NOTHING,
            by=by,
            soft=np.zeros(2),
            **space.make_fixed(model)._asdict(),
            held=held if kind != space.OF_POINTS else everywhere,
            bounces=int(bounces(sim.law)),
        )
        own = Own(slopes, np.zeros(model.nu), np.zeros(model.nv))
        return Derivatives(engine, plan, shared, own, self.tapes)

    def linearize(self, plan: Plan, time: np.ndarray, smoothing: float) -> Linearizations:
        """The derivative of the next step of all worlds."""
        sim, made = self.given.setup, self.made
        check_smoothing(sim, smoothing)
        plan = plan._replace(fall=0.0)
        if made is None or made.plan != plan or made.given is not self.engine.given:
            self.made = None  # gives its memory back first
            made = self.made = self._make(plan)
        slopes, why = made.find(np.array([smoothing, sim.robot.weight]))
        last = 2 * sim.scene.model.nv
        by_state, by_controls = (self.engine.world_first(one) for one in (slopes[:, :last], slopes[:, last:]))
        return Linearizations(by_state, by_controls, why == EXACT, smoothing, time, sim, why)
