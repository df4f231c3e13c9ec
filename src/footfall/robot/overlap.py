"""Bodies that overlap in the standing pose: a URDF cannot say that they must not collide."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.errors import warn
from footfall.robot.model import FREE, SLIDE

#: m, least depth of an overlap: less is rounding.
DEEP = 1e-6


def overlapping(model: mujoco.MjModel, pose: np.ndarray) -> dict[tuple[str, str], float]:
    """Pairs of bodies that overlap in a pose (nq,), and by how much, m."""
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


def exclude_overlaps(spec: mujoco.MjSpec, name: str, pairs: dict[tuple[str, str], float]) -> None:
    """Exclude collisions between overlapping bodies, with one warning for all of them.

    URDF users keep such pairs in other files (``disable_collisions`` in MoveIt's SRDF). In MuJoCo it is an
    ``<exclude>``.
    """
    for first, second in pairs:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    deepest = sorted(pairs, key=lambda pair: -pairs[pair])
    named = ", ".join(f"{a} and {b} by {1e3 * pairs[a, b]:.2g} mm" for a, b in deepest[:3])
    more = ", ..." if len(pairs) > 3 else ""
    many = f"{len(pairs)} pairs of bodies overlap" if len(pairs) > 1 else "two bodies overlap"
    warn(f"robot '{name}': {many} where it stands, and no longer collide: {named}{more}")


def _thrown(model: mujoco.MjModel, bodies: list[int]) -> bool:
    """Whether two bodies belong to different moving roots, such as the robot and a loose object that it may touch."""
    roots = [int(model.body_rootid[body]) for body in bodies]
    return roots[0] != roots[1] and any(
        model.jnt_type[model.body_jntadr[root]] in (FREE, SLIDE) for root in roots if model.body_jntnum[root]
    )
