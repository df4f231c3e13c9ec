"""`footfall push-limit`: the largest push that a robot survives under each law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from footfall.cli.options import with_options
from footfall.cli.output import print_json, print_table, say
from footfall.cli.push import parse_push
from footfall.cli.robot_choice import RobotChoice


@dataclass(frozen=True, kw_only=True)
class Command(RobotChoice):
    """Find the largest push that a robot survives under each contact law, by bisection.

    footfall push-limit torque-biped --controller balance --push "70 N y hip 0.05 s at 0.2 s"

    The push is the first try; others are as large as it takes. To survive is not to have fallen a while
    after, with the capture point in the support.
    """

    push: Annotated[str, tyro.conf.arg(metavar="PUSH")]
    """'FORCE N DIRECTION BODY DURATION s at START s', as in footfall run"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME...")] = ("all",)
    """which laws, see footfall laws"""
    ground: Literal["plane", "slope", "stairs", "heightfield"] = "plane"
    """kind of ground; its options are --ground.OPTION"""
    controller: Annotated[str | None, tyro.conf.arg(metavar="NAME|none", help_behavior_hint="")] = None
    """posture, balance, or none (left out: posture if all actuators are motors)"""
    dt: float = 1e-3
    """step, s"""
    wait: float = 1.5
    """s after the push until the robot must be safe"""
    within: float = 0.05
    """how exact the answer shall be, relative"""
    json: bool = False
    """print JSON"""

    ground_options: tyro.conf.Suppress[Any] = None

    def run(self) -> int:
        from dataclasses import asdict

        from footfall.cli.options import default_controller
        from footfall.study.largest_push import largest_push

        robot = self.chosen_robot()
        push = parse_push(self.push, robot)
        found = largest_push(
            robot,
            push,
            laws="all" if self.laws == ("all",) else self.laws,
            controller=default_controller(self.controller, robot),
            ground=self.ground_options.make(),
            dt=self.dt,
            wait=self.wait,
            within=self.within,
            progress=lambda law, size, survived: say(f"{law}: {size:.4g} {'survived' if survived else 'too much'}"),
        )
        if self.json:
            print_json([asdict(one) for one in found])
            return 0
        unit = found[0].unit
        rows = [[one.law, f"{one.survived:.4g}", f"{one.failed:.4g}", one.why] for one in found]
        columns = ("law", f"survived, {unit}>", f"too much, {unit}>", "what then")
        print_table(columns, rows, title=f"{robot.name}: the largest push like '{self.push}'")
        return 0


def shape(args: Sequence[str]) -> type[Command]:
    """The command with the options of the ground and the robot that were typed."""
    return with_options(Command, args)
