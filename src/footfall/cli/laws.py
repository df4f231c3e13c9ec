"""`footfall laws`: the contact laws and their options."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.options import described_fields
from footfall.cli.shared.output import print_facts, print_json, print_table, print_text, without_markup

if TYPE_CHECKING:
    from footfall.contact.base import Law

SEES = {"point": "one point", "coupled": "all points", "native": "all points"}


@dataclass(frozen=True)
class Command:
    """List the contact laws, one line each, or describe one."""

    name: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="[LAW]", help_behavior_hint="")]] = None
    """name of a law"""
    long: bool = False
    """list the options of every law as well"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.contact import law_class, laws

        if self.name is None:
            _show_all([law_class(name) for name in laws()], long=self.long, json=self.json)
        else:
            _show_one(law_class(self.name), json=self.json)
        return 0


def describe(law: type[Law]) -> dict[str, Any]:
    """A law and its options, as JSON can hold them."""
    kind = "native" if law.native else "coupled" if law.coupled else "point"
    return {"name": law.name, "kind": kind, "citation": law.citation, "options": _options(law)}


def _options(law: type[Law]) -> list[dict[str, Any]]:
    notes = described_fields(law)
    return [
        {
            "name": one.name,
            "type": one.type if isinstance(one.type, str) else getattr(one.type, "__name__", str(one.type)),
            "default": None if one.default is MISSING else one.default,
            "required": one.default is MISSING,
            "note": notes.get(one.name, ""),
        }
        for one in fields(law)
    ]


def _default(option: dict[str, Any]) -> str:
    if option["required"]:
        return "required"
    value = option["default"]
    return "derived" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _show_all(found: list[type[Law]], *, long: bool, json: bool) -> None:
    described = [describe(law) for law in found]
    if json:
        print_json(described)
        return
    if not long:
        about = [without_markup((inspect.getdoc(law) or "").partition("\n")[0]) for law in found]
        rows = [[one["name"], SEES[one["kind"]], what] for one, what in zip(described, about, strict=True)]
        print_table(("law", "sees", "what it is"), rows, one_line=True)
        print("footfall laws NAME or --long says more; footfall run ROBOT --law NAME uses one.")
        return
    rows = []
    for one in described:
        options = [f"{o['name']} = {_default(o)}" + (f": {o['note']}" if o["note"] else "") for o in one["options"]]
        rows.append([one["name"], one["kind"], one["citation"], "\n".join(options) + "\n"])
    print_table(("law", "kind", "source", "options = defaults: unit and meaning"), rows)
    print("footfall laws NAME says more; footfall run ROBOT --law NAME --law.OPTION VALUE uses one.")


def _show_one(law: type[Law], *, json: bool) -> None:
    module = sys.modules.get(law.__module__)
    about_law = (inspect.getdoc(law) or "").partition("\nAttributes:\n")[0].rstrip()  # its options are a table below
    texts = [inspect.getdoc(module) or "" if module and law.__module__ != "types" else "", about_law]
    described = describe(law)
    if json:
        print_json(described | {"documentation": "\n\n".join(filter(None, texts))})
        return
    kinds = {
        "point": "point law: sees one contact point at a time",
        "coupled": "coupled law: sees all contact points together",
        "native": "MuJoCo's own contacts",
    }
    print_facts({"kind": kinds[described["kind"]], "source": law.citation}, title=law.name)
    print()
    for text in filter(None, texts):
        print_text(text)
    if described["options"]:
        columns = ("option", "type", "default", "unit and meaning")
        print_table(columns, [[o["name"], o["type"], _default(o), o["note"]] for o in described["options"]])
