"""`footfall run`: simulate a robot on a ground under a contact law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footfall.cli.shared.result import LawOptions, conclude, simulate
from footfall.cli.shared.task import TaskOptions
from footfall.cli.shared.usage import option

if TYPE_CHECKING:
    from footfall.simulation import Simulation


class Run(TaskOptions, LawOptions):
    """Simulate a robot on a ground under a contact law.

    footfall run spatial-biped --controller walk --speed 0.4 --steps 10

    footfall run spatial-biped --law spring-damper --law.k 1e5 --ground slope --ground.angle 5deg

    The law, the ground, the controller and the robot have options of their own: write --law NAME, --ground KIND,
    --controller NAME or the robot before --help to see them. A quantity is a number in the unit that the help shows, or
    has one of its own: 1s, 0.5ms, 5deg, 20cm.
    """

    record_dt: float | None = option(None, "between samples of the recording", unit="s", note="(default: dt)")

    def run(self) -> int:
        self.check_place(self.out)
        sim, duration, options = self.prepared()
        return conclude(simulate(sim, duration, folder=self.out, **options), self.out, json=self.json)

    def prepared(self) -> tuple[Simulation, float, dict[str, Any]]:
        """The simulation, the duration of its run (s), and what that is given besides."""
        robot = self.chosen_robot()
        sim, controller = self.simulation(robot), self.chosen_controller()
        options = {
            "controller": controller,
            "qpos": self.start(robot, sim.ground),
            "pushes": self.chosen_pushes(robot),
            "record_dt": self.record_dt,
        }
        return sim, self.chosen_duration(controller), options
