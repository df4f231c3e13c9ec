"""`footfall survey`: what each robot does under each law, with defaults, as one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from footfall.cli.shared.output import print_json, print_table, say

if TYPE_CHECKING:
    from footfall.robot import Robot
    from footfall.study.walk_grounds import GroundOutcome
    from footfall.study.walk_outcome import RobotOutcome

HEADER = """# Robots

What robots do with the defaults of `Balance`, `Walk` and `QuadrupedWalk`, by law: whether they stand; the largest
sideways push of 0.1 s on the root that they survive without a step, as impulse over weight (any, of a robot in a
plane); whether they walk {steps} steps; the speed that is asked for and reached; mechanical cost of transport; the
audit of the walk's contact forces. Servos are driven as motors. Made on {date} by

```text
$ {command}
```

{pictures}| robot | law | stands | largest push | walks | asked | reached | cost of transport | audit |
|---|---|---|---|---|---|---|---|---|
"""


GROUNDS_HEADER = """
## On other grounds

The same walks of {steps} steps with defaults alone: on slopes of 5 degrees; over round bumps up to 3 cm; up three
steps of 5 cm; over ice of friction 0.15, three steps long, amid ground of 0.7. Bumps, steps and ice begin one and a
half steps ahead of the toes. The ground is felt by the soles and not seen. Who stays upright and reaches less than half
of the speed is held up.

| robot | ground | law | outcome | asked | reached | drift |
|---|---|---|---|---|---|---|
"""

GLANCE_HEADER = """
## Other grounds at a glance

Under how many laws each robot walks there, of those of the table above:

"""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Let robots stand, be pushed and walk under contact laws, with defaults, and write one table.

    footfall survey quadruped --laws time-stepping mujoco --steps 6 --out robots.md

    footfall survey quadruped --laws mujoco --steps 4 --grounds --out robots.md

    Each row is written as soon as it is known.
    """

    robots: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="all|ROBOT...")] = ("all",)
    """built-in names that can walk, or files: .xml (MJCF) or .urdf"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME...")] = ("all",)
    """which laws, see footfall laws"""
    steps: int = 10
    """of the walk"""
    grounds: bool = False
    """walk on slopes, bumps, steps and ice too, and write a second table"""
    pictures: bool = False
    """draw each robot in its walk too, into the folder images beside the table"""
    actuators: Literal["as-is", "motor"] = "motor"
    """motor: servos become torque motors of their force range"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.md", help_behavior_hint="")] = None
    """write the table here, as Markdown"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.contact import laws as all_laws
        from footfall.robot import load_robot
        from footfall.study.walk_grounds import ground_outcomes
        from footfall.study.walk_outcome import robot_outcome

        laws = all_laws() if self.laws == ("all",) else self.laws
        names = WALKERS if self.robots == ("all",) else self.robots
        robots = []
        for name in names:
            file = Path(name).suffix in (".xml", ".urdf")
            robots.append(load_robot(name, actuators=self.actuators) if file else load_robot(name))
        shown = " ".join(Path(one).name for one in names)
        more = " --grounds" * self.grounds + " --pictures" * self.pictures
        command = f"footfall survey {shown} --laws {' '.join(laws)} --steps {self.steps}{more} --out robots.md"
        head = {"steps": self.steps, "command": command, "date": date.today().isoformat()}
        self._write(HEADER.format(**head, pictures=self._pictures(robots)), "w")
        found: list[RobotOutcome] = []
        for robot in robots:
            for law in laws:
                say(f"{robot.name} under {law}")
                found.append(robot_outcome(robot, law, steps=self.steps))
                self._write(_row(cells(found[-1])))
        elsewhere: list[GroundOutcome] = []
        if self.grounds:
            self._write(GROUNDS_HEADER.format(steps=self.steps))
            for robot in robots:
                for law in laws:
                    say(f"{robot.name} on other grounds under {law}")
                    for one in ground_outcomes(robot, law, steps=self.steps):
                        elsewhere.append(one)
                        self._write(_row(ground_cells(one)))
            self._write(GLANCE_HEADER + glance(elsewhere))
        if self.json:
            print_json([*map(asdict, found), *map(asdict, elsewhere)])
            return 0
        titles = ("robot", "law", "stands", "push>", "walks", "asked>", "reached>", "cost>", "audit")
        print_table(titles, [list(cells(one)) for one in found], title="What robots do with defaults alone")
        if self.grounds:
            heads = ("robot", "ground", "law", "outcome", "asked>", "reached>", "drift>")
            print_table(heads, [list(ground_cells(one)) for one in elsewhere], title="On other grounds")
        return 0

    def _pictures(self, robots: list[Robot]) -> str:
        """Draw the robots that walk; gives the pictures as Markdown."""
        from footfall.errors import FootfallError
        from footfall.show.picture import write_picture
        from footfall.study.walk_outcome import in_mid_step

        if self.out is None or not self.pictures:
            return ""
        shown = []
        for robot in robots:
            say(f"a picture of {robot.name}")
            try:
                rec, time = in_mid_step(robot)
            except FootfallError:
                continue  # it does not walk, and the table says why
            file = write_picture(rec, time, self.out.parent / "images" / f"{robot.name}.png")
            shown.append(f'<img src="{file.parent.name}/{file.name}" alt="{robot.name} walks" width="160">')
        return " ".join(shown) + "\n\n" if shown else ""

    def _write(self, text: str, mode: Literal["a", "w"] = "a") -> None:
        """Add to the file, if there is one."""
        if self.out is not None:
            with self.out.open(mode, encoding="utf-8") as file:
                file.write(text)


def _row(texts: tuple[str, ...]) -> str:
    return "| " + " | ".join(texts) + " |\n"


#: Built-in robots with legs and a free base.
WALKERS = (
    "full-humanoid",
    "hanavan",
    "point-biped",
    "quadruped",
    "small-humanoid",
    "spatial-biped",
    "torque-biped",
)


def cells(one: RobotOutcome) -> tuple[str, ...]:
    """A row of the table."""
    walk = one.walk
    numbers = ("", "", "", "")
    if walk is not None:
        numbers = (f"{one.asked:.2f} m/s", f"{walk.speed:.2f} m/s", f"{walk.cost_of_transport:.2f}", walk.audit)
    push = "" if math.isnan(one.push) else "any" if math.isinf(one.push) else f"{one.push:.3f} s"
    return (one.robot, one.law, one.stands, push, one.walks, *numbers)


def ground_cells(one: GroundOutcome) -> tuple[str, ...]:
    """A row of the table of grounds."""
    numbers = ("", "", "")
    if not math.isnan(one.asked):
        numbers = (f"{one.asked:.2f} m/s", f"{one.speed:.2f} m/s", f"{one.drift:+.2f} m")
    return (one.robot, one.ground, one.law, one.outcome, *numbers)


def glance(found: Sequence[GroundOutcome]) -> str:
    """A table of robots and grounds: under how many laws a robot walks on each."""
    grounds = list(dict.fromkeys(one.ground for one in found if not math.isnan(one.asked)))
    lines = [_row(("robot", *grounds)), "|" + "---|" * (len(grounds) + 1) + "\n"]
    for robot in dict.fromkeys(one.robot for one in found):
        own = [[one.outcome == "walks" for one in found if (one.robot, one.ground) == (robot, g)] for g in grounds]
        lines.append(_row((robot, *(f"{sum(walks)} of {len(walks)}" if walks else "" for walks in own))))
    return "".join(lines)
