"""`footfall survey`: what each robot does under each law, with defaults alone, as one table."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from footfall.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from footfall.study.walk_outcome import RobotOutcome

HEADER = """# Robots

What robots do with the defaults of `Balance`, `Walk` and `QuadrupedWalk`, by law: whether they stand; the largest
sideways push of 0.1 s on the root that they survive without a step, as impulse over weight; whether they walk
{steps} steps; the speed that is asked for and reached; mechanical cost of transport; the audit of the walk's contact
forces. Servos are driven as motors. Made by

```text
$ {command}
```

| robot | law | stands | largest push | walks | asked | reached | cost of transport | audit |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Let robots stand, be pushed and walk under contact laws, with defaults alone, and write one table.

    footfall survey quadruped --laws time-stepping mujoco --steps 6 --out robots.md

    Each row is written as soon as it is known.
    """

    robots: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="all|ROBOT...")] = ("all",)
    """built-in names that can walk, or files: .xml (MJCF) or .urdf"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME...")] = ("all",)
    """which laws, see footfall laws"""
    steps: int = 10
    """of the walk"""
    actuators: Literal["as-is", "motor"] = "motor"
    """motor: servos become torque motors of their force range"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.md", help_behavior_hint="")] = None
    """write the table here, as Markdown"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.contact import laws as all_laws
        from footfall.robot import load_robot
        from footfall.study.walk_outcome import robot_outcome

        laws = all_laws() if self.laws == ("all",) else self.laws
        robots = WALKERS if self.robots == ("all",) else self.robots
        found: list[RobotOutcome] = []
        if self.out is not None:
            names = " ".join(Path(one).name for one in robots)
            command = f"footfall survey {names} --laws {' '.join(laws)} --steps {self.steps} --out robots.md"
            self.out.write_text(HEADER.format(steps=self.steps, command=command), encoding="utf-8")
        for name in robots:
            servos = Path(name).suffix in (".xml", ".urdf")
            robot = load_robot(name, actuators=self.actuators) if servos else load_robot(name)
            for law in laws:
                say(f"{robot.name} under {law}")
                found.append(robot_outcome(robot, law, steps=self.steps))
                if self.out is not None:
                    with self.out.open("a", encoding="utf-8") as file:
                        file.write("| " + " | ".join(cells(found[-1])) + " |\n")
        if self.json:
            print_json([asdict(one) for one in found])
        else:
            titles = ("robot", "law", "stands", "push>", "walks", "asked>", "reached>", "cost>", "audit")
            print_table(titles, [list(cells(one)) for one in found], title="What robots do with defaults alone")
        return 0


#: Built-in robots with legs and a free base.
WALKERS = ("full-humanoid", "quadruped", "small-humanoid", "spatial-biped", "torque-biped")


def cells(one: RobotOutcome) -> tuple[str, ...]:
    """A row of the table."""
    walk = one.walk
    numbers = ("", "", "", "")
    if walk is not None:
        numbers = (f"{one.asked:.2f} m/s", f"{walk.speed:.2f} m/s", f"{walk.cost_of_transport:.2f}", walk.audit)
    push = "" if math.isnan(one.push) else f"{one.push:.3f} s"
    return (one.robot, one.law, one.stands, push, one.walks, *numbers)
