"""Where a robot may push: the points of its feet on the ground, and others that are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from footfall.compiled import kernel
from footfall.control.base import State
from footfall.errors import ControllerError, did_you_mean
from footfall.ground import Ground
from footfall.ground.surface import tangent_frame
from footfall.robot import Robot


@dataclass(frozen=True)
class Contact:
    """A point of a body that holds against something: a hand on a rail.

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
        self.contacts, self._ground = tuple(contacts), ground
        self._level = ground.flat
        self.position, self.frames = np.zeros((self.count, 3)), np.zeros((self.count, 3, 3))
        self.frames[: self.feet] = ground.frame(np.zeros(3))
        for i, contact in enumerate(contacts, self.feet):
            if contact.body not in names:
                raise ControllerError(
                    f"contact: no body is called '{contact.body}': {did_you_mean(contact.body, names)}"
                )
            size = float(np.linalg.norm(contact.normal))
            if not (np.isfinite(size) and size > 0.0):
                raise ControllerError(f"contact on {contact.body}: its normal {contact.normal} is no direction")
            self.body.append(int(robot.model.body(contact.body).id))
            tangent_frame(*(float(x) / size for x in contact.normal), self.frames[i])

    def friction(self, usual: float) -> np.ndarray:
        """(P,) coefficient of each point."""
        own = [usual if contact.friction is None else contact.friction for contact in self.contacts]
        return np.array([usual] * self.feet + own)

    def now(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Positions (P, 3) in m and contact frames (P, 3, 3), world frame."""
        self.position[: self.feet] = state.position
        if not self._level:
            _frames(self._ground.gap(state.position)[1], self.frames)
        for i, contact in enumerate(self.contacts, self.feet):
            body = self.body[i]
            self.position[i] = state.data.xpos[body] + state.data.xmat[body].reshape(3, 3) @ contact.point
        return self.position, self.frames


@kernel
def _frames(normals, frames):
    for p in range(normals.shape[0]):
        tangent_frame(normals[p, 0], normals[p, 1], normals[p, 2], frames[p])
