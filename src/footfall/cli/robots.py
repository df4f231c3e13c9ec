"""`footfall robots`: the built-in robots, or one described."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.output import print_facts, print_json, print_table, print_text
from footfall.cli.shared.robot_choice import RobotOptions

if TYPE_CHECKING:
    from footfall.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Command(RobotOptions):
    """List the built-in robots, or describe one: built in, or from an .xml (MJCF) or .urdf file."""

    name: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="[ROBOT]", help_behavior_hint="")]] = None
    """built-in name or file"""
    long: bool = False
    """whole sentences, and the numbers of actuators and contact points"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.robot import load_robot, robots

        if self.name is None:
            _show_all([load_robot(name) for name in robots()], long=self.long, json=self.json)
        else:
            _show_one(self.loaded(self.name), json=self.json)
        return 0


def _brief(robot: Robot) -> dict[str, Any]:
    from footfall.robot import robots, summary

    return {
        "name": robot.name,
        "degrees_of_freedom": robot.model.nv,
        "actuators": robot.model.nu,
        "points": robot.point_count,
        "mass_kg": robot.mass,
        "summary": summary(robot.name) if robot.name in robots() else "",
    }


def _show_all(found: list[Robot], *, long: bool, json: bool) -> None:
    described = [_brief(robot) for robot in found]
    if json:
        print_json(described)
        return
    if not long:
        rows = [
            [str(one["name"]), str(one["degrees_of_freedom"]), f"{one['mass_kg']:g}", one["summary"]]
            for one in described
        ]
        print_table(("robot", "DoF>", "kg>", "what it is"), rows, one_line=True)
        print("footfall robots NAME or --long says more; footfall run NAME simulates one.")
        return
    columns = ("robot", "DoF>", "actuators>", "points>", "mass, kg>", "what it is")
    print_table(columns, [[f"{v:g}" if isinstance(v, float) else str(v) for v in one.values()] for one in described])
    print("footfall robots NAME says more; footfall run NAME simulates one.")


def _show_one(robot: Robot, *, json: bool) -> None:
    from footfall.robot.built_in import BUILT_IN, documentation

    built_in = robot.name in BUILT_IN
    about = documentation(robot.name) if built_in else ""
    if json:
        feet = [{"name": f.name, "body": f.body, "points": f.points.tolist()} for f in robot.feet]
        details = {
            "feet": feet,
            "forward": robot.forward.tolist(),
            "joints": robot.joint_names,
            "actuated": robot.actuated,
        }
        print_json(_brief(robot) | details | {"parameters": dict(robot.parameters), "documentation": about})
        return
    facts = {
        "mass": f"{robot.mass:g} kg",
        "degrees of freedom": str(robot.model.nv),
        "actuators": str(robot.model.nu),
        "feet": ", ".join(f"{f.name} (body {f.body}, {_points(len(f.points))})" for f in robot.feet),
        "faces": _faces(robot),
        "joints": ", ".join(robot.joint_names),
    }
    print_facts(facts, title=robot.name)
    if not built_in:
        return
    print()
    print_text(about)
    if robot.parameters:
        columns = ("parameter", "default>")
        values = robot.parameters.items()
        print_table(columns, [[name, f"{v:.4g}" if isinstance(v, float) else str(v)] for name, v in values])
        print_text(import_module(BUILT_IN[robot.name].module).Parameters.__doc__)
        print(f"Set them with footfall run {robot.name} --robot.PARAMETER VALUE.")


def _faces(robot: Robot) -> str:
    """Which way a robot faces, and by what."""
    from footfall.robot.facing import described

    found, reason, doubt = robot.facing
    if robot.forward @ found < 1.0 - 1e-9:
        return f"{described(robot.forward)}, as given"
    return f"{described(found)} of the world in its home pose, by {reason}{f', but {doubt}' if doubt else ''}"


def _points(count: int) -> str:
    return f"{count} point{'s' if count != 1 else ''}"
