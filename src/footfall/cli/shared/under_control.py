"""What commands share that run a robot under their own controller (walk, follow)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import tyro

from footfall.cli.shared.output import print_facts, print_json, say
from footfall.cli.shared.push import parse_push
from footfall.cli.shared.result import figures, save, simulate
from footfall.cli.shared.task import GroundOptions

if TYPE_CHECKING:
    from footfall.recording import Recording
    from footfall.robot import Robot


class Told(NamedTuple):
    """What a command reports of a run, in addition to what all runs report."""

    title: str
    fall: str  # when and why it fell; empty if it did not
    asked: dict[str, str]  # what the robot was to do
    facts: dict[str, str]  # what it did
    outcome: dict[str, Any]  # the same in numbers


@dataclass(frozen=True, kw_only=True)
class UnderControl(GroundOptions):
    """A robot under the controller of a command, on a ground under a law."""

    law: Annotated[str, tyro.conf.arg(metavar="NAME")] = "time-stepping"
    """contact law, see footfall laws; its options are --law.OPTION"""
    push: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PUSH")] = ()
    """'FORCE N DIRECTION BODY DURATION s at START s', as in footfall run"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """save the recording here"""
    json: bool = False
    """print one JSON object"""

    law_options: tyro.conf.Suppress[Any] = None

    def simulated(self, robot: Robot, controller: Any) -> tuple[Recording, Path | None]:
        """The recording of a run as long as the controller lasts, and where it is saved."""
        from footfall.simulation import Simulation

        sim = Simulation(robot, ground=self.chosen_ground(), law=self.law_options.make(), dt=self.dt)
        pushes = [parse_push(text, robot) for text in self.push]
        rec = simulate(sim, controller.duration, folder=self.out, controller=controller, pushes=pushes)
        return rec, None if self.out is None else save(rec, self.out)

    def tell(self, rec: Recording, saved: Path | None, told: Told) -> int:
        """Print the outcome of a run, as facts or as JSON, and its warnings; gives the exit code, 1 after a fall."""
        if self.json:
            print_json(figures(rec) | told.outcome | {"recording": None if saved is None else str(saved)})
        else:
            ended = told.fall or (rec.failure.message if rec.failure else "did not fall")
            print_facts(
                {"law": str(rec.law), "ground": str(rec.ground), **told.asked, "outcome": ended, **told.facts}
                | {"recording": "not saved (--out DIR saves it)" if saved is None else str(saved)},
                title=told.title,
            )
            for one in rec.info.get("warnings", ()):
                say(f"{one['kind']}: {one['message']}")
        rec.check()
        return 1 if told.fall else 0
