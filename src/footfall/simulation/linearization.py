"""The derivative of a step as a value: matrices with named axes, and the kinks near which it changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.engine.constraints.active_set import FRICTION, HOLDS
from footfall.engine.derivatives.cone import TOUCH
from footfall.simulation.setup import Setup
from footfall.solve.contacts import OPEN, SLIDE

#: Share of a quantity's own size below which a kink is where the state is: what solvers leave of their tolerance.
AT_KINK = 1e-9


class Kink(NamedTuple):
    """A point or joint whose derivative would be another one beyond a ``distance`` (``unit``)."""

    where: str  # "left.p0", or a joint
    change: str  # "opens", "slides", "sticks", "touches", "enters", "holds", "slips", "reaches its limit"
    distance: float
    unit: str
    share: float  # the distance over the size of the quantity itself

    def __str__(self) -> str:
        return f"{self.where} {self.change} in {self.distance:.3g} {self.unit}"


@public
@dataclass(frozen=True, eq=False, repr=False)
class Linearization:
    """The derivative of one step: ``dx' = A dx + B du``, x being coordinates and velocities in MuJoCo's tangent space.

    The first nv rows and columns are small motions of the coordinates (m or rad, as ``mj_integratePos`` takes them),
    the others velocities. Controls are in the units of the actuators. What the law remembers (anchors of its points,
    who stuck) is held fixed.

    Attributes:
        A, B: derivatives by state and by controls.
        force: (P, 3, 2 nv + nu) N per unit of state and control, of the ground on each contact point, world frame.
        method: "exact", or "differences" of the step itself.
        why: why it is no exact one, "" if it is.
        error: the largest error that is to be expected of differences, in the units of the entries; 0 for exact ones.
        time: of the step's beginning, s.
    """

    A: np.ndarray
    B: np.ndarray
    force: np.ndarray
    time: float
    simulation: Setup
    why: str
    error: float
    seen: dict[str, Any]  # of contacts and joint rows in the step, for kinks

    @property
    def method(self) -> str:
        return "differences" if self.why else "exact"

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Names of the rows, and of the columns of A: "base x", ..., then "base x rate", ..."""
        names = [self.simulation.robot.dof_name(dof) for dof in range(self.simulation.robot.model.nv)]
        return (*names, *(f"{name} rate" for name in names))

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """Names of the columns of B: those of the actuators."""
        model = self.simulation.robot.model
        return tuple(model.actuator(i).name or f"actuator {i}" for i in range(model.nu))

    @cached_property
    def kinks(self) -> list[Kink]:
        """What would change the derivative, the nearest first, by the share of its own size."""
        return sorted([*_contact_kinks(self), *_joint_kinks(self)], key=lambda kink: kink.share)

    @property
    def one_sided(self) -> list[Kink]:
        """The kinks at which the step is: there the derivative is that of one side."""
        return [kink for kink in self.kinks if kink.share <= AT_KINK]

    def __repr__(self) -> str:
        sim, (rows, columns) = self.simulation, self.B.shape
        nearest = f", nearest kink: {self.kinks[0]}" if self.kinks else ""
        return (
            f"Linearization({sim.robot.name} under {sim.law.name} at t = {self.time:g} s, A ({rows}, {rows}), "
            f"B ({rows}, {columns}), {self.method}{nearest})"
        )


def read_step(points: Any, contacts: Any, joints: Any, data: Any, qpos: np.ndarray) -> dict[str, Any]:
    """What kinks are read from, right after a step that began at ``qpos``."""
    near = contacts.points[: contacts.number[0]]
    slots = contacts.body[near]
    found: dict[str, Any] = {name: getattr(contacts, name)[near] for name in ("gap", "frame", "static_friction")}
    found |= {name: getattr(points, name)[near] for name in ("force", "mode", "position")}
    names = ("kind", "dof", "address", "sign", "bound", "margin", "state", "inertia", "reference")
    found |= {"rows": {name: getattr(joints, name).copy() for name in names}}
    # Velocities of bodies are those at the beginning; the end has what qacc adds.
    chains = [points.chain[slot, : points.chain_length[slot]] for slot in slots]
    speeds = [data.cvel[points.body[slot]] for slot in slots]
    pulls = [data.qacc[chain] @ data.cdof[chain] for chain in chains]
    found |= {"speed": np.reshape(speeds, (-1, 6)), "pull": np.reshape(pulls, (-1, 6))}
    com = data.subtree_com[points.root[slots]]
    return found | {"near": near.copy(), "com": com, "qacc": data.qacc.copy(), "qpos": qpos.copy()}


def _contact_kinks(lin: Linearization) -> list[Kink]:
    """Of all near points; sizes are the normal force of all points and what gravity does in a step."""
    seen, sim, found = lin.seen, lin.simulation, []
    speed = sim.dt * (sim.robot.weight / sim.robot.mass or 1.0)
    way, whole = sim.dt * speed, float(seen["force"][:, 2].clip(min=0.0).sum()) or 1.0
    rigid = getattr(sim.law, "operator", False)
    names = [f"{foot.name}.p{i}" for foot in sim.robot.feet for i in range(len(foot.points))]
    spatial = seen["speed"] + sim.dt * seen["pull"]
    moved = spatial[:, 3:] + np.cross(spatial[:, :3], seen["position"] - seen["com"])
    end = np.einsum("nij,nj->ni", seen["frame"], moved)
    for i, p in enumerate(seen["near"]):
        gap, (x, y, normal), mode = float(seen["gap"][i]), seen["force"][i], seen["mode"][i]
        changes = []
        if mode == OPEN:
            left = abs(gap + sim.dt * end[i, 2] if rigid else gap)
            changes.append(("touches", left, "m", max(way, left)))
        elif rigid:
            changes += [("opens", normal, "N", whole), ("enters", abs(gap), "m", max(way, TOUCH))]
        else:
            changes.append(("opens", abs(gap), "m", max(abs(gap), way)))
        limit = float(seen["static_friction"][i] * normal)
        if mode == SLIDE:
            slip = float(np.hypot(*end[i, :2]))
            changes.append(("sticks", slip, "m/s", max(speed, slip)))
        elif mode != OPEN and limit > 0.0:
            changes.append(("slides", abs(limit - float(np.hypot(x, y))), "N", limit))
        where = names[p] if p < len(names) else f"another body's point {p - len(names)}"
        found += [Kink(where, change, float(far), unit, float(far / size)) for change, far, unit, size in changes]
    return found


def _joint_kinks(lin: Linearization) -> list[Kink]:
    """Of joint friction and joint limits."""
    seen, rows, found = lin.seen, lin.seen["rows"], []
    for i, dof in enumerate(rows["dof"]):
        name, sign, bound = lin.simulation.robot.dof_name(int(dof)), rows["sign"][i], float(rows["bound"][i])
        if rows["kind"][i] == FRICTION:
            value = rows["inertia"][i] * (rows["reference"][i] - sign * seen["qacc"][dof])
            far = abs(bound - abs(float(value)))
            found.append(Kink(name, "slips" if rows["state"][i] == HOLDS else "holds", far, "N or N m", far / bound))
        else:
            away = float(sign * (seen["qpos"][rows["address"][i]] - bound) - rows["margin"][i])
            change = "reaches its limit" if away > 0.0 else "leaves its limit"
            found.append(Kink(name, change, abs(away), "m or rad", abs(away)))
    return found
