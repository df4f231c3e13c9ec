"""`footfall laws` and `footfall robots`: what there is, or one of them described."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from footfall.cli.shared.options import described_fields
from footfall.cli.shared.output import print_facts, print_json, print_table, print_text, tell, without_markup
from footfall.cli.shared.task import RobotOptions
from footfall.cli.shared.usage import JsonOption, argument, option

if TYPE_CHECKING:
    from footfall.contact.base import Law
    from footfall.robot import Robot


#: By the kind of a law what it sees, and what that means.
KINDS = {
    "point": ("one point", "point law: sees one contact point at a time"),
    "coupled": ("all points", "coupled law: sees all contact points"),
    "native": ("all points", "MuJoCo's own contacts"),
}


class Laws(JsonOption):
    """List the contact laws, one line each, or describe one."""

    name: str | None = argument("[LAW]", "name of a law", None)

    def run(self) -> int:
        from footfall.contact import law_class, laws

        if self.name is not None:
            return _show_law(law_class(self.name), json=self.json)
        found = [law_class(name) for name in laws()]
        return tell(self.json, [describe(law) for law in found], lambda: _show_laws(found))


def describe(law: type[Law]) -> dict[str, Any]:
    """A law and its options, as JSON can hold them."""
    notes = described_fields(law)
    hints = {  # as they are written
        name: reduce(or_, get_args(hint)) if get_origin(hint) is Union else hint
        for name, hint in get_type_hints(law).items()
    }
    options = [
        {
            "name": one.name,
            "type": inspect.formatannotation(hints[one.name]),
            "default": None if one.default is MISSING else one.default,
            "required": one.default is MISSING,
            "note": notes.get(one.name, ""),
        }
        for one in fields(law)
    ]
    return {"name": law.name, "kind": _kind(law), "citation": law.citation, "options": options}


def _kind(law: type[Law]) -> str:
    return "native" if law.native else "coupled" if law.coupled else "point"


def _default(option: dict[str, Any]) -> str:
    if option["required"]:
        return "required"
    value = option["default"]
    return "derived" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _show_laws(found: list[type[Law]]) -> None:
    about = [without_markup((inspect.getdoc(law) or "").partition("\n")[0]) for law in found]
    rows = [[law.name, KINDS[_kind(law)][0], what] for law, what in zip(found, about, strict=True)]
    print_table(("law", "sees", "what it is"), rows, one_line=True)
    print("footfall laws NAME says more; footfall run ROBOT --law NAME uses one.")


def _show_law(law: type[Law], *, json: bool) -> int:
    module = sys.modules.get(law.__module__)
    about_law = (inspect.getdoc(law) or "").partition("\nAttributes:\n")[0].rstrip()  # its options are a table below
    texts = [inspect.getdoc(module) or "" if module and law.__module__ != "types" else "", about_law]
    described = describe(law)

    def show() -> None:
        print_facts({"kind": KINDS[described["kind"]][1], "source": law.citation}, title=law.name)
        print()
        for text in filter(None, texts):
            print_text(text)
        if described["options"]:
            columns = ("option", "type", "default", "unit and meaning")
            print_table(columns, [[o["name"], o["type"], _default(o), o["note"]] for o in described["options"]])

    return tell(json, described | {"documentation": "\n\n".join(filter(None, texts))}, show)


class Robots(RobotOptions, JsonOption):
    """List the built-in robots, or describe one: built in, or from an .xml (MJCF) or .urdf file."""

    name: str | None = argument("[ROBOT]", "built-in name or file", None)
    soles: str | None = option(
        None, "draw the feet of one robot with the soles and contact points found, as .png, .svg or .pdf", "FILE"
    )

    def run(self) -> int:
        from footfall.robot import load_robot, robots

        if self.name is None:
            found = [_brief(load_robot(name)) for name in robots()]
            return tell(self.json, found, lambda: _show_robots(found))
        robot = self.loaded(self.name)
        _show_robot(robot, json=self.json)
        if self.soles is not None:
            from footfall.show.pictures import draw_soles
            from footfall.show.plots import save_plot

            save_plot(draw_soles(robot), self.soles)
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


def _show_robots(found: list[dict[str, Any]]) -> None:
    rows = [[one["name"], str(one["degrees_of_freedom"]), f"{one['mass_kg']:g}", one["summary"]] for one in found]
    print_table(("robot", "DoF>", "kg>", "what it is"), rows, one_line=True)
    print("footfall robots NAME says more; footfall run NAME simulates one.")


def _show_robot(robot: Robot, *, json: bool) -> None:
    from footfall.robot.built_in import BUILT_IN, documentation, module_of

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
    if robot.ties or robot.other_equalities:
        facts["ties of joints"] = "; ".join([*map(robot.tie_name, robot.ties), *robot.other_equalities])
    print_facts(facts, title=robot.name)
    if not built_in:
        return
    print()
    print_text(about)
    if robot.parameters:
        columns = ("parameter", "default>")
        values = robot.parameters.items()
        print_table(columns, [[name, f"{v:.4g}" if isinstance(v, float) else str(v)] for name, v in values])
        print_text(module_of(robot.name).Parameters.__doc__)
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
