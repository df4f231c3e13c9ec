"""Where a robot may push: the contact points of its feet, and further named points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.errors import ControllerError, did_you_mean
from footfall.ground import Ground
from footfall.ground.surface import tangent_frame
from footfall.robot import Robot


@dataclass(frozen=True)
class Contact:
    """A point of a body that pushes against something, such as a hand on a rail.

    ``point`` is in the body's frame (m), ``normal`` is the direction in which it is pushed, world frame; ``friction``
    is the ground's if left out.
    """

    body: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    friction: float | None = None


class ContactPlaces:
    """The places of all contact points: those of the feet, whose frames the ground gives, then the others."""

    def __init__(self, robot: Robot, ground: Ground, contacts: Sequence[Contact]) -> None:
        names = [robot.model.body(i).name for i in range(1, robot.model.nbody)]
        self.feet, self.count = robot.point_count, robot.point_count + len(contacts)
        self.body = [int(b) for b in robot.point_body]
        self.contacts = tuple(contacts)
        self.position, self.frames = np.zeros((self.count, 3)), np.zeros((self.count, 3, 3))
        self.frames[: self.feet] = ground.frame(np.zeros(3))
        for i, contact in enumerate(contacts, self.feet):
            if contact.body not in names:
                raise ControllerError(
                    f"contact: no body is called '{contact.body}': {did_you_mean(contact.body, names)}"
                )
            size = float(np.linalg.norm(contact.normal))
            if not (np.isfinite(size) and size > 0.0):
                raise ControllerError(f"contact on {contact.body}: its normal {contact.normal} is not a direction")
            self.body.append(int(robot.model.body(contact.body).id))
            tangent_frame(*(float(x) / size for x in contact.normal), self.frames[i])

    def friction(self, usual: float) -> np.ndarray:
        """(P,) coefficient of each point."""
        own = [usual if contact.friction is None else contact.friction for contact in self.contacts]
        return np.array([usual] * self.feet + own)


class CompiledPlaces(NamedTuple):
    """The places of all contact points as compiled code reads and writes them."""

    feet: int  # points of the feet
    level: int  # 1 where the ground is one plane, so that frames stay as they are
    surface: Any  # the ground's function
    shape: np.ndarray
    table: np.ndarray
    body: np.ndarray  # (P - feet,) of the others
    point: np.ndarray  # (P - feet, 3) m, body frame
    position: np.ndarray  # (P, 3) m, world frame
    frames: np.ndarray  # (P, 3, 3) rows tangent, tangent, normal
    arms: np.ndarray  # (P, 3) m, from the centre of mass


def compiled_places(places: ContactPlaces, ground: Ground) -> CompiledPlaces:
    """The places where a robot may push, for compiled code."""
    surface, shape, table = ground.compiled()
    others = places.contacts
    return CompiledPlaces(
        feet=places.feet,
        level=int(ground.flat),
        surface=surface,
        shape=np.array(shape),
        table=np.array(table),
        body=np.array(places.body[places.feet :], dtype=np.int64),
        point=np.array([one.point for one in others], dtype=float).reshape(-1, 3),
        position=places.position,
        frames=places.frames,
        arms=np.zeros((places.count, 3)),
    )


@inlined
def place_contacts(senses, contacts):
    """Write positions (P, 3) in m and contact frames (P, 3, 3) of all contact points, world frame."""
    position = contacts.position
    for p in range(contacts.feet):
        for c in range(3):
            position[p, c] = senses.position[p, c]
        if not contacts.level:
            x, y, z = position[p, 0], position[p, 1], position[p, 2]
            _, nx, ny, nz = contacts.surface(x, y, z, contacts.shape, contacts.table)
            tangent_frame(nx, ny, nz, contacts.frames[p])
    for i in range(contacts.body.size):
        at, turned, point = senses.xpos[contacts.body[i]], senses.xmat[contacts.body[i]], contacts.point[i]
        for r in range(3):
            own = turned[3 * r] * point[0] + turned[3 * r + 1] * point[1] + turned[3 * r + 2] * point[2]
            position[contacts.feet + i, r] = at[r] + own
