"""Bodies of a robot that lie in each other where it stands: what a URDF cannot say shall not collide."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.errors import warn
from footfall.robot.model import FREE, SLIDE

#: m, by which bodies must be in each other to overlap: less is rounding.
DEEP = 1e-6


def overlapping(model: mujoco.MjModel, pose: np.ndarray) -> dict[tuple[str, str], float]:
    """Pairs of bodies that collide with each other in a pose (nq,), and how deep they are in each other, m."""
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_fwdPosition(model, data)
    found: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        if contact.dist < -DEEP and 0 not in bodies and not _thrown(model, bodies):
            names = (model.body(bodies[0]).name, model.body(bodies[1]).name)
            found[names] = max(found.get(names, 0.0), -float(contact.dist))
    return found


def part(spec: mujoco.MjSpec, name: str, pairs: dict[tuple[str, str], float]) -> None:
    """Let bodies that overlap no longer collide with each other, with one warning for all of them.

    A URDF has no place for this: its users keep such pairs in other files, and list there what touches in the default
    pose (MoveIt's SRDF, ``disable_collisions``). In MuJoCo it is an ``<exclude>``.
    """
    for first, second in pairs:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    deepest = sorted(pairs, key=lambda pair: -pairs[pair])
    named = ", ".join(f"{a} and {b} by {1e3 * pairs[a, b]:.2g} mm" for a, b in deepest[:3])
    more = ", ..." if len(pairs) > 3 else ""
    many = f"{len(pairs)} pairs of bodies overlap" if len(pairs) > 1 else "two bodies overlap"
    warn(f"robot '{name}': {many} where it stands, and no longer collide: {named}{more}")


def _thrown(model: mujoco.MjModel, bodies: list[int]) -> bool:
    """Whether two bodies hang on different roots that move about: a thing beside the robot, which it may touch."""
    roots = [int(model.body_rootid[body]) for body in bodies]
    return roots[0] != roots[1] and any(
        model.jnt_type[model.body_jntadr[root]] in (FREE, SLIDE) for root in roots if model.body_jntnum[root]
    )
