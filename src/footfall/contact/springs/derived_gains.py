"""Gains derived from the behaviour that options ask for: a depth at rest, a restitution, a damping ratio."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from footfall.contact.base import Law, check, check_positive
from footfall.contact.setting import Setting
from footfall.contact.springs.material import layer_gains
from footfall.contact.springs.normal_terms import NormalTerms, damping_for
from footfall.errors import LawError
from footfall.given_numbers import is_number

if TYPE_CHECKING:
    from footfall.robot import Robot


#: Default depth of points at rest, m, and the most it may be of the depth at which the robot would tip and of the
#: robot's size: robots smaller than 10 cm sink in by less.
USUAL_DEPTH, STEADY, SHALLOW = 1e-3, 0.25, 0.01


def steady_depth(law: Any, tipping: float, size: float) -> float:
    """The depth (m) at which points rest: the one asked for, or a default that a robot of that ``tipping`` depth can
    bear.
    """
    asked: float | None = law.rest_penetration
    return min(USUAL_DEPTH, SHALLOW * size, STEADY * tipping) if asked is None else asked


def check_derived(law: Law, stiffness: str, damping: str) -> None:
    """Refuse such options where they are out of range, or contradict a gain or each other."""
    check_positive(law, "rest_penetration", "impact_speed")
    check_positive(law, "damping_ratio", zero=True)
    wanted: Any = law.options()["restitution"]
    good = wanted is None or (is_number(wanted) and 0 < wanted <= 1)
    check(good, law.name, "restitution", wanted, "in (0, 1]")
    _only_one(law, "the stiffness", (stiffness, "rest_penetration"))
    _only_one(law, "the damping", (damping, "damping_ratio", "restitution"))


def critical_damping(terms: NormalTerms, setting: Setting) -> float:
    """The damping ``c`` that is critical for the mass a point carries, about its depth at rest."""
    depth = terms.depth(setting.load)
    return 2.0 * (terms.slope(depth) * setting.share) ** 0.5 / float(depth**terms.beta)


def derived_damping(law: Any, setting: Setting, terms: NormalTerms) -> float | None:
    """The damping ``c`` for a law's ``restitution`` or ``damping_ratio``; None if neither is given."""
    critical = critical_damping(terms, setting)
    if law.restitution is not None:
        bounce = _Bounce(setting.share, law.impact_speed, setting.load / setting.share)
        return _damping_for(law.restitution, terms, bounce, critical)
    return None if law.damping_ratio is None else law.damping_ratio * critical


class _Bounce(NamedTuple):
    """A mass (kg) that lands at a speed (m/s) under gravity (m/s2)."""

    mass: float
    speed: float
    gravity: float


@lru_cache(maxsize=64)  # a simulation asks several times, and the search integrates some ten bounces
def _damping_for(restitution: float, terms: NormalTerms, bounce: _Bounce, scale: float) -> float:
    k, alpha, _, beta = terms
    return damping_for(
        restitution,
        lambda c: lambda depth, rate: max(0.0, k * depth**alpha + c * depth**beta * rate),
        **bounce._asdict(),
        scale=scale,
    )


class OnElasticLayer:
    """What laws share whose points can represent parts of an elastic layer."""

    name: ClassVar[str]

    @classmethod
    def from_material(
        cls,
        youngs_modulus: float,
        poisson_ratio: float,
        *,
        thickness: float,
        robot: Robot | None = None,
        area: float | None = None,
        **options: Any,
    ) -> Self:
        """The law for a sole, or a ground, that is an elastic layer of ``thickness`` (m); Young's modulus in Pa.

        Each point represents ``area`` (m2), or its share of the soles of ``robot``. ``options`` are those of the law,
        such as ``restitution``, and ``loss``, the material's loss factor. See :mod:`footfall.contact.springs.material`.
        """
        normal, shear, rest = layer_gains(cls.name, youngs_modulus, poisson_ratio, thickness, robot, area, options)
        return cls.of_layer(normal, shear, rest)

    @classmethod
    def of_layer(cls, normal: float, shear: float, options: dict[str, Any]) -> Self:
        """The law with these stiffnesses of a point, N/m."""
        raise NotImplementedError


def _only_one(law: Law, what: str, names: tuple[str, ...]) -> None:
    """Refuse two options that determine the same quantity."""
    given = [name for name in names if getattr(law, name) is not None]
    if len(given) > 1:
        raise LawError(f"{law.name}: {' and '.join(given)} both settle {what}; give one of them")


def check_soles(law: Law, robot: Robot) -> None:
    """Refuse soles under fewer than three points; feet that are a point or a line by nature have what they need."""
    for foot in robot.feet:
        if len(foot.polygon) > 2 and len(foot.points) < 3:
            count = "one testing point" if len(foot.points) == 1 else "two testing points"
            raise LawError(
                f"{law.name}: foot '{foot.name}' has a sole but only {count}, and fewer than three carry no moment; "
                "give it a grid, such as load_robot(..., points=(6, 3))"
            )
