"""The derivative of a step as a value: matrices with named axes, and the kinks near which it changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from footfall.contact.base import Law
from footfall.contact.linearizing_penalty import LinearizingPenalty
from footfall.contact.time_stepping import TimeStepping
from footfall.engine.constraints.active_set import FRICTION, HOLDS
from footfall.engine.derivatives.cone import TOUCH
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.solve.contacts import OPEN, SLIDE
from footfall.solve.newton import SOLVED


class Kink(NamedTuple):
    """A change of contact or joint state, at a ``distance`` (``unit``), beyond which the derivative is another."""

    where: str  # "left.p0", or a joint
    change: str  # "opens", "slides", "sticks", "touches", "enters", "rises", "sinks", "holds", "reaches its limit", ...
    distance: float
    unit: str
    share: float  # the distance as a share of the size of the quantity

    def __str__(self) -> str:
        return f"{self.where} {self.change} in {self.distance:.3g} {self.unit}"


@dataclass(frozen=True, eq=False, repr=False)
class Linearization:
    """The derivative of one step: ``dx' = A dx + B du``, x being coordinates and velocities in MuJoCo's tangent space.

    The first nv rows and columns are small motions of the coordinates (m or rad, as ``mj_integratePos`` takes them),
    the others velocities. Controls are in the units of the actuators. The memory of the law (anchors and modes of its
    points) is held fixed.

    Attributes:
        A, B: derivatives by state and by controls.
        P: (2 nv, K) derivatives by the requested ``parameters``.
        parameters: their names: "friction", a number added to all coefficients; "slope", rad, increase of the slope of
            a plane, about the origin; "mass of ...", kg, of a body, its inertia in proportion; "law.k" and so on,
            options of the law; "left.p0 x" and so on, m, position of a point on its body. Each is varied alone:
            defaults of the law and of joints that derive from masses or positions are held fixed.
        smoothing: compliance, m/N, by which contacts were softened, 0 if not.
        method: "exact", or "differences" of the step itself.
        why: the reason why it is not exact, "" if it is.
        error: the largest expected error of differences, in the units of the entries; 0 for exact ones.
        time: of the step's beginning, s.
    """

    A: np.ndarray
    B: np.ndarray
    P: np.ndarray
    parameters: tuple[str, ...]
    smoothing: float
    time: float
    simulation: Setup
    why: str
    error: float
    seen: dict[str, Any]  # of contacts and joint rows in the step, for forces and kinks

    @property
    def method(self) -> str:
        return "differences" if self.why else "exact"

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Names of the rows, and of the columns of A: "base x", ..., then "base x rate", ..."""
        return state_names(self.simulation)

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """Names of the columns of B: those of the actuators."""
        return self.simulation.robot.actuator_names

    @cached_property
    def force(self) -> np.ndarray:
        """(points, 3, 2 nv + nu + K) derivative of the ground's force on each contact point, N, world frame, by state,
        controls and parameters.
        """
        seen, points = self.seen, self.simulation.robot.point_count
        if "world force" in seen:
            return seen["world force"]
        feet, found = seen["near"] < points, np.zeros((points, 3, seen["slopes"].shape[2]))
        found[seen["near"][feet]] = np.einsum("nij,nik->njk", seen["frame"][feet], seen["slopes"][feet])
        if "slope" in self.parameters:  # forces turn with the ground
            force = np.einsum("nij,ni->nj", seen["frame"][feet], seen["force"][feet])
            column = self.A.shape[1] + self.B.shape[1] + self.parameters.index("slope")
            found[seen["near"][feet], :, column] += np.cross(seen["turn"], force)
        return found

    @cached_property
    def kinks(self) -> list[Kink]:
        """The kinks around this step, by increasing ``share``."""
        found = [*_contact_kinks(self), *_joint_kinks(self), *_actuator_kinks(self)]
        return sorted(found, key=lambda kink: kink.share)

    @property
    def one_sided(self) -> list[Kink]:
        """The kinks at which this step lies, within the residual of solvers: its derivative there is one-sided."""
        return [kink for kink in self.kinks if kink.share <= SOLVED]

    def __repr__(self) -> str:
        sim, (rows, columns) = self.simulation, self.B.shape
        softened = f", softened by {self.smoothing:g} m/N" if self.smoothing else ""
        nearest = f", nearest kink: {self.kinks[0]}" if self.kinks else ""
        return (
            f"Linearization({sim.robot.name} under {sim.law.name} at t = {self.time:g} s, A ({rows}, {rows}), "
            f"B ({rows}, {columns}), {self.method}{softened}{nearest})"
        )


def state_names(sim: Setup) -> tuple[str, ...]:
    """Names of coordinates, then of velocities, in MuJoCo's tangent space."""
    names = [sim.robot.dof_name(dof) for dof in range(sim.robot.model.nv)]
    return (*names, *(f"{name} rate" for name in names))


def bounces(law: Law) -> bool:
    """Whether points rebound: time stepping with a restitution."""
    return isinstance(law, TimeStepping) and law.restitution > 0.0


def read_step(run: Run, qpos: np.ndarray) -> dict[str, Any]:
    """The values that forces and kinks are computed from, right after a step that began at ``qpos``."""
    points, contacts, joints, data = run.points, run.contacts, run.conditions.constraints.joints, run.data
    near = contacts.points[: contacts.number[0]].copy()
    slots = contacts.body[near]
    found: dict[str, Any] = {
        name: getattr(contacts, name)[near] for name in ("gap", "velocity", "frame", "static_friction")
    }
    found |= {name: getattr(points, name)[near] for name in ("force", "mode", "position")}
    found |= {name: getattr(data, name).copy() for name in ("qacc", "ctrl", "actuator_force")}
    found["rows"] = {name: getattr(joints, name) for name in ("kind", "dof", "address", "sign", "bound", "margin")}
    found["rows"] |= {name: getattr(joints, name).copy() for name in ("state", "inertia", "reference")}  # of this step
    # MuJoCo has the velocities of bodies at the beginning of the step; qacc leads to those at the end.
    speeds = np.zeros((len(points.body), 6))
    for slot in set(slots.tolist()):
        chain = points.chain[slot, : points.chain_length[slot]]
        speeds[slot] = data.cvel[points.body[slot]] + run.simulation.dt * data.qacc[chain] @ data.cdof[chain]
    com = data.subtree_com[points.root[slots]]
    return found | {"near": near, "end": speeds[slots], "com": com, "qpos": qpos.copy()}


def _contact_kinks(lin: Linearization) -> list[Kink]:
    """Kinks of near points; sizes are the normal force of all points, and gravity's effect in a step."""
    seen, sim, found = lin.seen, lin.simulation, []
    speed = sim.dt * (sim.robot.weight / sim.robot.mass or 1.0)
    way, whole = sim.dt * speed, float(seen["force"][:, 2].clip(min=0.0).sum()) or 1.0
    rigid, prescribed = getattr(sim.law, "operator", False), isinstance(sim.law, LinearizingPenalty)
    names = [f"{foot.name}.p{i}" for foot in sim.robot.feet for i in range(len(foot.points))]
    moved = seen["end"][:, 3:] + np.cross(seen["end"][:, :3], seen["position"] - seen["com"])
    end = np.einsum("nij,nj->ni", seen["frame"], moved)
    for i, p in enumerate(seen["near"]):
        gap, (x, y, normal), mode = float(seen["gap"][i]), seen["force"][i], seen["mode"][i]
        changes = []
        if mode == OPEN:
            left = abs(gap + sim.dt * end[i, 2] if rigid and not prescribed else gap)
            changes.append(("touches", left, "m", max(way, left)))
        elif rigid:
            changes += [("opens", normal, "N", whole), ("enters", abs(gap), "m", max(way, TOUCH))]
        else:
            changes.append(("opens", abs(gap), "m", max(abs(gap), way)))
        rate = float(seen["velocity"][i, 2])
        if mode != OPEN and (prescribed or bounces(sim.law)):
            changes.append(("rises" if rate < 0.0 else "sinks", abs(rate), "m/s", max(speed, abs(rate))))
        limit = float(seen["static_friction"][i] * normal)
        if mode == SLIDE and prescribed and "motion" in seen:
            missing = float(np.hypot(*seen["motion"][i, :2]))
            changes.append(("sticks", missing, "m/s2", max(speed / sim.dt, missing)))
        elif mode == SLIDE:
            slip = float(np.hypot(*end[i, :2]))
            changes.append(("sticks", slip, "m/s", max(speed, slip)))
        elif mode != OPEN and limit > 0.0:
            changes.append(("slides", abs(limit - float(np.hypot(x, y))), "N", limit))
        where = names[p] if p < len(names) else f"another body's point {p - len(names)}"
        found += [Kink(where, change, float(far), unit, float(far / size)) for change, far, unit, size in changes]
    return found


def _joint_kinks(lin: Linearization) -> list[Kink]:
    """Kinks of joint friction and joint limits."""
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


def _actuator_kinks(lin: Linearization) -> list[Kink]:
    """Kinks of controls and actuator forces at their limits; sizes are the widths of their ranges."""
    model, found = lin.simulation.robot.model, []
    kinds = (("ctrl", "ctrl", "of its control"), ("actuator_force", "force", "N or N m"))
    for seen, name, unit in kinds:
        limited, limits = getattr(model, f"actuator_{name}limited"), getattr(model, f"actuator_{name}range")
        for i in np.flatnonzero(limited):
            value, (low, high) = float(lin.seen[seen][i]), limits[i]
            if name == "force":  # as the step clips it
                value = min(max(value, low), high)
            change = "reaches its limit" if low < value < high else "leaves its limit"
            far = float(min(abs(value - low), abs(value - high)))
            found.append(Kink(lin.controls[i], change, far, unit, far / float(high - low)))
    return found
