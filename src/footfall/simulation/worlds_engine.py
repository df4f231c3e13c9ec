"""Engines of many worlds, for the cores of a CPU or a GPU, with their arrays and controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from footfall.contact.base import CoupledLaw, Law
from footfall.control.inside import Inside
from footfall.control.posture import lowest_point
from footfall.engine.dynamics.tree import Tree, body_lengths, make_tree
from footfall.engine.other_bodies.points import Points
from footfall.engine.world import make_points
from footfall.engine.worlds.arrays import Shapes, Space, WorldState, make_soles
from footfall.engine.worlds.one_world import Robot
from footfall.engine.worlds.step import Functions, Plan
from footfall.engine.worlds.view import Felt, make_view
from footfall.errors import ControllerError
from footfall.kinds import shapes
from footfall.simulation.controls import no_control
from footfall.simulation.outcome import energy_at_hand
from footfall.simulation.setup import Setup, pairs_are_the_laws
from footfall.simulation.workspace import around, law_pointers, signal_count
from footfall.simulation.worlds_given import Inputs
from footfall.solve.problem import Size
from footfall.standing import at_home


def make_engine(inputs: Inputs, *, device: str, threads: int | None) -> Any:
    """The engine that steps worlds on a ``device``."""
    setup, surface, count = inputs.setup, inputs.surface, inputs.count
    law, surroundings = setup.law, around(setup, inputs.grounds)
    every = make_points(setup.scene.model, setup.robot, law.memory_size, surroundings)
    layout = _Layout(setup, make_tree(setup.scene.model), every)
    if device == "cpu":
        return _on_cores(layout, surface, count, threads)
    return _on_gpu(layout, surface, count)


def solves_contacts(law: Law) -> TypeGuard[CoupledLaw]:
    """Whether a law needs the Delassus operator of all points."""
    return isinstance(law, CoupledLaw) and law.operator


@dataclass(frozen=True)
class _Layout:
    """Robot and contact points of worlds, which determine the shapes of their arrays."""

    setup: Setup
    tree: Tree
    every: Points  # the points of all bodies

    def shapes(self, points: int, slots: int, *, operator: bool, **of_pairs: int) -> tuple[Shapes, Shapes]:
        """What a world remembers from step to step, and what a step computes in; on a GPU, with lengths
        ``of_pairs`` of bodies.
        """
        setup, solved = self.setup, (points, slots) if operator else (0, 0)
        lengths = body_lengths(setup.scene.model, self.tree) | {
            "P": points,
            "F": setup.robot.point_count,
            "K": slots,
            "B": len(self.every.others.body),
            "M": max(1, setup.law.memory_size),
            "R": len(setup.scene.joints.kind),
            "S": max(1, signal_count(setup)),
            "solved": solved[0],
            "L": solved[1],
            "6L": 6 * solved[1],
            "rolls": points + 1 if self.every.others.curved else 1,
            **{name: of_pairs.get(name, 0) for name in ("places", "owners")},
        }
        return shapes(WorldState, lengths), shapes(Space, lengths)


def _on_cores(layout: _Layout, surface: Any, count: int, threads: int | None) -> Any:
    from footfall.engine.worlds.threads import Cores

    law, every, scene = layout.setup.law, layout.every, layout.setup.scene
    size = Size(len(every.local), len(every.body), scene.model.nv)
    return Cores(
        Robot(layout.tree, make_soles(every, layout.tree), scene.joints),
        every,
        scene.model,
        scene.widened,
        layout.shapes(size.points, size.bodies, operator=True),
        count,
        Functions(*law_pointers(law), surface, no_control().control.compiled),
        lambda: law.scratch(size) if isinstance(law, CoupledLaw) else None,
        threads,
    )


def _on_gpu(layout: _Layout, surface: Any, count: int) -> Any:
    from footfall.engine.other_bodies.solids import make_meetings
    from footfall.engine.worlds.every_body import every_sole
    from footfall.engine.worlds.every_pair import pair_lengths, pair_space, pairs_of_all
    from footfall.engine.worlds.gpu import Gpu

    setup, model = layout.setup, layout.setup.scene.model
    solids, meetings = make_meetings(model, setup.robot.home, pairs_are_the_laws(setup))
    lengths = pair_lengths(model, meetings)
    pairs = pairs_of_all(layout.every, layout.tree, solids, meetings)
    soles, rest = every_sole(layout.every, layout.tree, pairs, lengths["places"])
    points, slots = len(soles.radius), len(soles.body) + lengths["A"]
    robot = Robot(layout.tree, soles, setup.scene.joints, rest)
    made = layout.shapes(points, slots, operator=solves_contacts(setup.law), owners=points, **lengths)
    return Gpu(robot, made, pair_space(lengths), count, setup.law, surface)


def make_plan(inputs: Inputs, fall: float) -> Plan:
    """The plan of worlds without control and recording; ``fall`` as :class:`footfall.Worlds` takes it."""
    sim, law, data = inputs.setup, inputs.setup.law, at_home(inputs.setup.robot)
    root = sim.robot.model.body_rootid[sim.robot.point_body[0]]
    return Plan(
        dt=sim.dt,
        margin=law.near(sim.dt),
        operator=int(solves_contacts(law)),
        bends=int(not all(ground.flat for ground in inputs.grounds)),
        coupled=int(law.coupled),
        energy=energy_of_worlds(inputs),
        fall=float(fall) * float(data.subtree_com[root, 2] - lowest_point(sim.robot, data)),
        control=0,
        control_every=1,
        record_every=1,
    )


def energy_of_worlds(inputs: Inputs) -> float:
    """J, energy available without motors in any world: that of the hardest pushes on the lightest bodies."""
    robot = inputs.setup.robot
    mass = robot.model.body_mass
    lightest = float((inputs.arrays.body_mass[:, mass > 0.0] / mass[mass > 0.0]).min(initial=1.0))
    return max(energy_at_hand(robot, one) for one in inputs.pushes) / lightest


class InWorlds:
    """One controller for each world, started on that world's ground and friction."""

    def __init__(self, inputs: Inputs, controller: Any, felt: Felt, dt: float) -> None:
        setup, count = inputs.setup, inputs.count
        self._own: list[Inside] = []
        self.gains = np.zeros((count, 1))
        for w in range(count):
            ground = inputs.ground_of(w)
            own = controller.start(setup.robot, ground, dt)
            if not isinstance(own, Inside):
                raise ControllerError(
                    f"many worlds take a compiled controller, such as Posture or Walk; {controller} calls Python here"
                )
            times = (setup.law.near(setup.dt), setup.dt)
            view, data = make_view(setup.scene.model, setup.robot, ground, Felt(felt.mode[w], felt.force[w]), times)
            self._pointer, self.gains[w] = own.join_apart(view, data)
            self._own.append(own)

    def pointer(self) -> Any:
        """The compiled controller that all worlds call, each with its own gains."""
        return self._pointer

    def warnings(self, world: int) -> list[dict[str, Any]]:
        """The warnings of a world's controller."""
        return [warning._asdict() for warning in self._own[world].warnings]
