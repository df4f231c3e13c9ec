"""Controllers with a memory in many worlds, one for each world."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.control.inside import Inside
from footfall.engine.worlds.view import Felt, make_view
from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.simulation.setup import Setup


class InWorlds:
    """One controller for each world, started on that world's ground and friction."""

    def __init__(
        self, setup: Setup, controller: Any, grounds: Sequence[Ground], felt: Felt, friction: np.ndarray, dt: float
    ) -> None:
        model, robot, count = setup.scene.model, setup.robot, len(felt.mode)
        self._own: list[Inside] = []
        self.gains = np.zeros((count, 1))
        for w in range(count):
            static, dynamic = (float(one) for one in friction[min(w, len(friction) - 1)])
            ground = grounds[min(w, len(grounds) - 1)]
            ground = dataclasses.replace(ground, static_friction=static, dynamic_friction=dynamic)
            own = controller.start(robot, ground, dt)
            if not isinstance(own, Inside):
                raise ControllerError(
                    f"many worlds take a compiled controller, such as Posture or Walk; {controller} calls Python here"
                )
            times = (setup.law.near(setup.dt), setup.dt)
            view, data = make_view(model, robot, ground, Felt(felt.mode[w], felt.force[w]), times)
            self._pointer, self.gains[w] = own.join_apart(view, data)
            self._own.append(own)

    def pointer(self) -> Any:
        """The function that all worlds call, each with its own gains."""
        return self._pointer

    def warnings(self, world: int) -> list[dict[str, Any]]:
        """The warnings of a world's controller."""
        return [warning._asdict() for warning in self._own[world].warnings]
