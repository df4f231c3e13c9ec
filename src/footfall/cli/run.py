"""`footfall run`: simulate a robot on a ground under a contact law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from footfall.cli.options import chosen_controller, chosen_duration, with_options
from footfall.cli.push import parse_push
from footfall.cli.result import conclude, simulate
from footfall.cli.robot_choice import RobotChoice

if TYPE_CHECKING:
    pass

DURATION = 5.0  # s


@dataclass(frozen=True, kw_only=True)
class Command(RobotChoice):
    """Simulate a robot on a ground under a contact law.

    footfall run spatial-biped --controller walk --speed 0.4 --steps 10

    footfall run spatial-biped --law spring-damper --law.k 1e5 --ground slope --ground.angle 5deg

    Options of the law, the ground, the controller and the robot follow their names: write --law NAME, --ground KIND,
    --controller NAME or the robot before --help to see them. Lengths are in m, times in s, forces in N.
    """

    law: Annotated[str, tyro.conf.arg(metavar="NAME")] = "linearizing-penalty"
    """contact law, see footfall laws; its options are --law.OPTION"""
    ground: Literal["plane", "slope", "stairs", "heightfield"] = "plane"
    """kind of ground; its options are --ground.OPTION"""
    duration: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="(default: 5)")] = None
    """s; left out, a walk is as long as it takes"""
    dt: float = 1e-3
    """step, s"""
    controller: Annotated[str | None, tyro.conf.arg(metavar="NAME|none", help_behavior_hint="")] = None
    """posture, balance, gait, ... or none (left out: posture if all actuators are motors); its options are
    --controller.OPTION"""
    push: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PUSH")] = ()
    """'FORCE N DIRECTION BODY DURATION s at START s', as in '70 N y trunk 0.05 s at 1 s': x, y, z, -x, ... in the
    world; 'TORQUE Nm roll|pitch|yaw BODY ...' turns; the body may be called hip or base, the root"""
    drop: float = 0.0
    """start this much above the ground, m"""
    align: bool = False
    """start with the soles along the ground, not upright"""
    integrator: Literal["euler", "rk4"] = "euler"
    """semi-implicit Euler, or Runge-Kutta 4 for smooth laws"""
    record_dt: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="(default: dt)")] = None
    """s between samples of the recording"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """save the recording here; a run that fails is kept in any case"""
    json: bool = False
    """print one JSON object"""

    law_options: tyro.conf.Suppress[Any] = None
    ground_options: tyro.conf.Suppress[Any] = None
    controller_options: tyro.conf.Suppress[Any] = None

    def run(self) -> int:
        from footfall.ground import Ground
        from footfall.simulation import Simulation
        from footfall.standing import place

        robot = self.chosen_robot()
        pushes = [parse_push(text, robot) for text in self.push]
        sim = Simulation(
            robot, ground=self.ground_options.make(), law=self.law_options, dt=self.dt, integrator=self.integrator
        )
        qpos = sim.place(align=self.align) if self.align or self.drop else None
        if qpos is not None and self.drop:
            # What lifts a robot differs, a free base or a slide: the difference of two places does not.
            level, above = (place(robot, Ground.plane(height=h), (0.0, 0.0), align=False) for h in (0.0, self.drop))
            qpos += above - level
        controller = chosen_controller(self, robot)
        rec = simulate(
            sim,
            chosen_duration(self, controller, DURATION),
            folder=self.out,
            controller=controller,
            qpos=qpos,
            pushes=pushes,
            record_dt=self.record_dt,
        )
        return conclude(rec, self.out, json=self.json)


def shape(args: Sequence[str]) -> type[Command]:
    """The command with the options of the law, ground, robot and controller that were typed."""
    return with_options(Command, args)
