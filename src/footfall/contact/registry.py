"""The contact laws by name. To add one: write its file, add its line here, add its row in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from footfall.arguments import public
from footfall.contact.base import Law, make
from footfall.errors import LawError, did_you_mean

BUILT_IN = {
    "spring-damper": "spring_damper:SpringDamper",
    "hunt-crossley": "hunt_crossley:HuntCrossley",
    "distributed": "distributed:Distributed",
    "linearizing-penalty": "linearizing_penalty:LinearizingPenalty",
    "constraint-selection": "constraint_selection:ConstraintSelection",
    "time-stepping": "time_stepping:TimeStepping",
    "acceleration-complementarity": "acceleration_complementarity:AccelerationComplementarity",
    "mujoco": "mujoco_native:MujocoNative",
}
#: The default law of simulations and commands.
DEFAULT_LAW = "linearizing-penalty"
_registered: dict[str, type[Law]] = {}


def laws() -> tuple[str, ...]:
    """Names of all laws, built in and registered."""
    return tuple(sorted({*BUILT_IN, *_registered}))


@public
def law_class(name: str) -> type[Law]:
    """The class behind a law's name."""
    if name in _registered:
        return _registered[name]
    if name not in BUILT_IN:
        raise LawError(f"no contact law is called '{name}': {did_you_mean(name, laws())}")
    module, _, attribute = BUILT_IN[name].partition(":")
    return getattr(import_module(f"footfall.contact.{module}"), attribute)


@public
def law(name: str | Law | Mapping[str, Any], **options: Any) -> Law:
    """A contact law from its name and options, or from the dictionary that ``to_dict`` gives and a fit stores.

    >>> law("linearizing-penalty", kp=500, kv=250, eps=1e-6)
    LinearizingPenalty(kp=500, kv=250, eps=1e-06)
    """
    if isinstance(name, Law):
        return name.replace(**options) if options else name
    if isinstance(name, Mapping) and isinstance(name.get("name"), str):
        kept = {key: tuple(v) if isinstance(v, list) else v for key, v in name.items() if key != "name"}
        if name["name"] in BUILT_IN and kept.get("k") is not None:  # old files have a rest depth of 1 mm beside k
            kept.pop("rest_penetration", None)
        return make(law_class(name["name"]), kept | options)
    if not isinstance(name, str):
        raise LawError(f"a contact law is a name or a law, not {name!r}")
    return make(law_class(name), options)


def chosen_laws(given: str | Law | Iterable[str | Law]) -> list[Law]:
    """The named laws: "all", one, or several."""
    if isinstance(given, str | Law):
        given = laws() if given == "all" else [given]
    return [law(one) for one in given]


@public
def register(law: type[Law]) -> type[Law]:
    """Make a law known by its name. Usable as a decorator.

    A user's law replaces an earlier one of the same name, but not a built-in one.
    """
    if law.name in BUILT_IN:
        raise LawError(f"'{law.name}' is a built-in law; give yours another name")
    _registered[law.name] = law
    return law


@dataclass(frozen=True, kw_only=True)
class UnknownLaw(Law):
    """Stands for the unregistered law of a loaded recording: name and options, but no forces."""

    name: str  # type: ignore[misc]
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    citation = "unknown"

    def options(self) -> dict[str, Any]:
        return dict(self.given)

    def resolve(self, setting: Any) -> Any:
        raise LawError(
            f"the law '{self.name}' of this recording is not known here; import the module that registers it "
            "and load the recording again"
        )
