"""What commands share that let a robot do something under a controller of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.push import parse_push
from footfall.cli.shared.result import save, simulate
from footfall.cli.shared.robot_choice import RobotChoice

if TYPE_CHECKING:
    from footfall.recording import Recording
    from footfall.robot import Robot


@dataclass(frozen=True, kw_only=True)
class UnderControl(RobotChoice):
    """A robot under the controller of a command, on a ground under a law."""

    ground: Annotated[str, tyro.conf.arg(metavar="KIND")] = "plane"
    """plane, slope, stairs, heightfield, ...; its options are --ground.OPTION"""
    law: Annotated[str, tyro.conf.arg(metavar="NAME")] = "time-stepping"
    """contact law, see footfall laws; its options are --law.OPTION"""
    dt: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """step, s; left out 1 ms, or less where the springs of the law need it on light feet"""
    push: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PUSH")] = ()
    """'FORCE N DIRECTION BODY DURATION s at START s', as in footfall run"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """save the recording here"""
    json: bool = False
    """print one JSON object"""

    ground_options: tyro.conf.Suppress[Any] = None
    law_options: tyro.conf.Suppress[Any] = None

    def simulated(self, robot: Robot, controller: Any) -> tuple[Recording, Path | None]:
        """The recording of as long as the controller lasts, and where it is saved."""
        from footfall.simulation import Simulation

        sim = Simulation(robot, ground=self.ground_options.make(), law=self.law_options.make(), dt=self.dt)
        pushes = [parse_push(text, robot) for text in self.push]
        rec = simulate(sim, controller.duration, folder=self.out, controller=controller, pushes=pushes)
        return rec, None if self.out is None else save(rec, self.out)
