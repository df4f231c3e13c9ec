"""Requests of the page to a running simulation, kept until the loop takes them."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.errors import FootfallError, did_you_mean


class Drag(NamedTuple):
    """An external force on a body, N in the world frame."""

    body: str
    force: tuple[float, float, float]


class Desk:
    """Requests of the page; the page's threads write, the loop reads."""

    def __init__(self, bodies: list[str], speed: float | None, *, may_change_law: bool) -> None:
        self.bodies, self.may_change_law = bodies, may_change_law
        self.speed, self.paused, self.steps = speed, False, 0
        self.drag: Drag | None = None
        self.law: Law | None = None
        self.changed = threading.Event()

    def command(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take a command of the page: pause, step, speed, push or law; an error says what is wrong with it."""
        known = {"pause": self._pause, "step": self._step, "speed": self._speed, "push": self._push, "law": self._law}
        for name, value in asked.items():
            if name not in known:
                raise FootfallError(f"no command is called '{name}': {did_you_mean(name, known)}")
            known[name](value)
        self.changed.set()
        return {}

    def _pause(self, on: Any) -> None:
        self.paused, self.steps = bool(on), 0

    def _step(self, count: Any) -> None:
        self.paused, self.steps = True, max(1, int(count))

    def _speed(self, value: Any) -> None:
        speed = float(value)
        if not (0.001 <= speed <= 1000.0):
            raise FootfallError(f"speed = {speed:g} but it must be between 0.001 and 1000")
        self.speed = speed

    def _push(self, asked: Any) -> None:
        if asked is None:
            self.drag = None
            return
        x, y, z = (float(value) for value in asked["force"])
        if asked["body"] not in self.bodies:
            raise FootfallError(f"no body is called '{asked['body']}': {did_you_mean(str(asked['body']), self.bodies)}")
        if not all(map(math.isfinite, (x, y, z))):
            raise FootfallError(f"the push ({x:g}, {y:g}, {z:g}) N must be three finite numbers")
        self.drag = Drag(asked["body"], (x, y, z))

    def _law(self, asked: Any) -> None:
        if not self.may_change_law:
            raise FootfallError(
                "the law cannot be changed under a controller with a memory: start anew with --law NAME"
            )
        given = {name: value for name, value in asked.get("options", {}).items() if value is not None}
        self.law = make_law(str(asked["name"]), **given)


def options_of(law: Law) -> list[dict[str, Any]]:
    """The numeric options of a law, which the page can change; None where they are derived."""
    found = []
    for field in fields(law):
        value = getattr(law, field.name)
        if (value is None or isinstance(value, int | float)) and not isinstance(value, bool):
            found.append({"name": field.name, "value": value})
    return found
