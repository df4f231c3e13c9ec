"""`footfall walk`: let a robot walk, and report speed, distance and cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.under_control import Told, UnderControl


@dataclass(frozen=True, kw_only=True)
class Command(UnderControl):
    """Let a robot walk on two legs or on four, and report speed, distance, cost of transport and audit.

    footfall walk spatial-biped --speed 0.3 --ground slope --ground.angle 5deg

    footfall walk quadruped --speed 0.6 --gait trot --law mujoco

    Options that are left out are derived from the length of the legs. Exits with 1 if the robot falls.
    """

    speed: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """m/s; left out, by Froude's number"""
    steps: int = 10
    """how many"""
    turn: float = 0.0
    """rad/s, to the left"""
    gait: Literal["trot", "crawl"] | None = None
    """of four legs, trot if left out"""
    heel_off: Annotated[bool | None, tyro.conf.arg(metavar="{True,False}", help_behavior_hint="")] = None
    """of two flat feet: heels rise before feet are lifted; left out, where the legs do not reach without"""

    def run(self) -> int:
        from footfall.control import walker
        from footfall.study.walk_outcome import walk_outcome

        robot = self.chosen_robot()
        controller = walker(
            robot, speed=self.speed, turn=self.turn, steps=self.steps, gait=self.gait, heel_off=self.heel_off
        )
        rec, saved = self.simulated(robot, controller)
        found = walk_outcome(rec)
        told = Told(
            title=f"{robot.name} walks under {rec.law.name}",
            fall=found.fall,
            asked={"walk": str(controller)},
            facts={
                "speed": f"{found.speed:.3g} m/s",
                "way": f"{found.way:.3g} m forward, {found.drift:+.3g} m to the left",
                "cost of transport": f"{found.cost_of_transport:.3g}",
                "audit": found.audit_summary,
            },
            outcome=asdict(found),
        )
        return self.tell(rec, saved, told)
