"""What the page of a running simulation draws of one instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from footfall.measure import has_fallen, zmp
from footfall.measure.common import threshold
from footfall.record import COLUMNS
from footfall.recording import Recording
from footfall.robot.facing import axis_words
from footfall.robot.model import centre_of_mass
from footfall.show.frames import body_poses
from footfall.show.panels import FEET
from footfall.simulation import Simulation
from footfall.simulation.run import Run

#: Most points of bodies other than feet that are drawn at once.
PLACES = 24


def at_rest(simulation: Simulation, qpos: np.ndarray) -> Recording:
    """One sample of a simulation's robot in the pose ``qpos`` (nq,), at rest and without forces."""
    robot = simulation.robot
    model = robot.model
    others = np.arange(min(PLACES, len(robot.others.points)) if simulation.body_contacts else 0)
    points = robot.point_count + len(others)
    zero = np.zeros((1, points, 3))
    return Recording(
        robot=robot,
        ground=simulation.ground,
        law=simulation.law,
        dt=simulation.dt,
        time=np.zeros(1),
        qpos=qpos[None],
        qvel=np.zeros((1, model.nv)),
        ctrl=np.zeros((1, model.nu)),
        force=zero,
        position=zero,
        velocity=zero,
        gap=np.zeros((1, points)),
        mode=np.zeros((1, points)),
        status=np.zeros(1),
        other_points=others,  # places for whichever come near the ground
        info={"integrator": "event-driven" if simulation.law.event_driven else simulation.integrator},
    )


def panels(rest: Recording) -> list[dict[str, Any]]:
    """The plots of a running simulation, without values; ``frame`` returns the values of an instant in the same
    order.
    """
    feet = [foot.name for foot in rest.robot.feet]
    total = [("total", -1, 0, "")] if len(feet) > 1 else []
    by_foot = [(name, FEET[f % len(FEET)], f // len(FEET), "") for f, name in enumerate(feet)]
    places = [("centre of mass", 0, 0, "com"), ("CoP", 0, 0, "cop"), ("ZMP", 0, 0, "zmp")]
    weight, way = rest.robot.weight, axis_words(rest.robot.forward)[0]
    wanted = [
        ("Ground reaction force, vertical, z", "N", [*by_foot, *total], {"zero": True, "narrow": 0.02 * weight}),
        (f"Ground reaction force, {way}, x", "N", [*by_foot, *total], {"narrow": 0.02 * weight}),
        ("Centre of pressure, x", "m", places, {"narrow": 0.01}),
        ("Centre of pressure, y", "m", places, {"narrow": 0.01}),
        ("Height over the ground, lowest point of each foot", "mm", by_foot, {"narrow": 0.01}),
    ]
    return [
        {
            "title": title,
            "unit": unit,
            "curves": [
                {"name": name, "color": color, "role": role, "dash": dash, "width": 2.0 if i == 0 else 1.2, "run": 0}
                for i, (name, color, dash, role) in enumerate(curves)
            ],
            "bands": [],
            "lines": [{"y": weight, "label": "weight"}] if i == 0 and weight else [],
            "zero": False,
            **look,
        }
        for i, (title, unit, curves, look) in enumerate(wanted)
    ]


def frame(rest: Recording, bodies: list[int], run: Run, row: int, push: Any) -> dict[str, Any]:
    """What is drawn of one row of a run's tape, ready for JSON: None where something is not defined.

    ``push`` is the external push, or None. The zero moment point is that of the row before, since it needs an
    acceleration.
    """
    robot, ground, tape = rest.robot, rest.ground, run.tape
    model = robot.model
    point, force, normal, mode = _contacts(rest, run, row)
    position, quaternion = body_poses(model, tape.qpos[row : row + 1], bodies)
    com, places = _centres(model, tape.qpos[row])
    load = np.einsum("pi,pi->p", force, normal)
    feet = [np.flatnonzero(robot.point_foot == f) for f in range(len(robot.feet))]

    def centre(points: np.ndarray) -> np.ndarray:
        total = load[points].sum()
        if total <= threshold(rest):
            return np.full(3, np.nan)
        return load[points] @ point[points] / total

    whole = centre(np.arange(len(load)))
    moment = _zmp(rest, run, row)
    by_foot = [force[points].sum(axis=0) for points in feet]
    total = [force.sum(axis=0)] if len(feet) > 1 else []
    lowest = [1e3 * tape.gap[row, points].min(initial=np.inf) for points in feet]
    arrays = {
        "bodyPosition": position[0],
        "bodyQuaternion": quaternion[0],
        "point": point,
        "force": force,
        "mode": mode,
        "normal": normal,
        "cop": np.array([centre(points) for points in feet]),
        "overallCop": whole,
        "zmp": moment,
        "com": com,
        "comGround": np.array([*com[:2], float(ground.height(com[0], com[1]))]),
        "pushPoint": places[model.body(push.body).id] if push else com,
        "pushForce": np.array(push.force if push else (0.0, 0.0, 0.0)),
    }
    values = [
        [one[2] for one in (*by_foot, *total)],
        [one[0] for one in (*by_foot, *total)],
        [com[0], whole[0], moment[0]],
        [com[1], whole[1], moment[1]],
        lowest,
    ]
    return {
        "arrays": {name: _plain(array) for name, array in arrays.items()},
        "values": [_plain(np.array(one)) for one in values],
        "pushed": push.body if push else "",
    }


def is_down(rest: Recording, qpos: np.ndarray) -> bool:
    """Whether a robot has fallen in the pose ``qpos`` (nq,)."""
    twice: dict[str, Any] = {
        name: np.repeat(getattr(rest, name), 2, axis=0) for name in COLUMNS if name not in ("time", "qpos")
    }
    return has_fallen(replace(rest, time=np.array([0.0, 1.0]), qpos=np.stack([rest.qpos[0], qpos]), **twice))


def _zmp(rest: Recording, run: Run, row: int) -> np.ndarray:
    """(3,) m, the zero moment point of the row before this one, NaN in flight and before there are two."""
    if row < 1:
        return np.full(3, np.nan)
    tape, rows = run.tape, slice(row - 1, row + 1)
    both = [_contacts(rest, run, one) for one in (row - 1, row)]
    position, force, normal, mode = (np.stack(pair) for pair in zip(*both, strict=True))
    two = replace(
        rest,
        time=tape.time[rows],
        qpos=tape.qpos[rows],
        qvel=tape.qvel[rows],
        ctrl=tape.ctrl[rows],
        force=force,
        position=position,
        velocity=np.zeros_like(force),
        normal=normal,
        peak_force=force,
        peak_total_force=force.sum(axis=1),
        gap=np.zeros(mode.shape),
        mode=mode,
        status=np.zeros(2),
    )
    return np.asarray(zmp(two)[0])


def _contacts(rest: Recording, run: Run, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, forces, normals (P, 3) and modes (P,) of a row: of the feet's points, then of places for others."""
    others = run.points.others.tape
    taken = others.who[: len(rest.other_points), row] > 0 if row < others.who.shape[1] else np.zeros(0, dtype=bool)
    places = np.flatnonzero(taken)
    found = []
    for name in ("position", "force", "normal", "mode"):
        own = getattr(run.tape, name)[row]
        beside = np.zeros((len(rest.other_points), *own.shape[1:]))
        if places.size:
            beside[places] = getattr(others, name)[places, row]
        found.append(np.concatenate([own, beside]))
    point, force, normal, mode = found
    return point, force, normal, mode


def _plain(array: np.ndarray) -> list[float | None]:
    """Six digits after the point, which is a micrometre or a micronewton."""
    return [float(value) if np.isfinite(value) else None for value in np.round(array.ravel(), 6)]


def _centres(model: mujoco.MjModel, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3,) m, the centre of mass of the robot, and (bodies, 3) m, those of its bodies."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    return centre_of_mass(model, data), np.array(data.xipos)
