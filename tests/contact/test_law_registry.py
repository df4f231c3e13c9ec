"""Laws as values, by name, with options."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from physics.laws import every_law

import footfall as ff
from footfall.contact import law_class
from footfall.contact.base import CoupledLaw, Law, PointLaw
from footfall.errors import LawError


def test_the_laws_of_the_core_are_there():
    assert {"spring-damper", "hunt-crossley", "linearizing-penalty", "mujoco"} <= set(ff.laws())
    assert list(ff.laws()) == sorted(ff.laws())


@every_law
def test_a_law_is_a_value(law):
    one = ff.law(law)
    assert one == ff.law(law) and hash(one) == hash(ff.law(law))
    assert law_class(law)(**{k: v for k, v in one.to_dict().items() if k != "name"}) == one
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "other"
    assert law in str(one)
    assert ff.law(one) is one


@every_law
def test_a_law_says_where_it_comes_from_and_what_it_is(law):
    one = ff.law(law)
    assert one.name == law and one.citation and type(one).__doc__
    assert isinstance(one, PointLaw) + isinstance(one, CoupledLaw) + one.native == 1
    assert issubclass(getattr(ff.contact, type(one).__name__), Law)


#: What an option is only allowed with.
COMPANIONS = {"pull": {"cop_rule": False}} | {name: {"rules": "paper"} for name in ("d", "a_t", "v_t")}


@every_law
def test_a_changed_law_is_another_value(law):
    options = ff.law(law).options()
    option = next(name for name, value in options.items() if isinstance(value, float | None))
    beside = COMPANIONS.get(option, {})
    changed = beside | {option: 0.5 * (options[option] or 1.0)}
    assert ff.law(law, **changed) != ff.law(law, **beside)
    assert ff.law(ff.law(law), **changed) == ff.law(law, **changed)


def test_an_unknown_law_is_answered_with_the_nearest():
    with pytest.raises(LawError, match=r"'spring-dampr'.*did you mean 'spring-damper'.*known: .*mujoco"):
        ff.law("spring-dampr")


@every_law
def test_an_unknown_option_is_answered_with_those_there_are(law):
    known = next(iter(ff.law(law).options()))
    for base in (law, ff.law(law)):
        with pytest.raises(LawError, match=rf"{law} has no option '{known}x'.*did you mean '{known}'"):
            ff.law(base, **{known + "x": 1.0})


@every_law
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "stiff"])
def test_numbers_that_make_no_sense_are_refused(law, value):
    for option, default in ff.law(law).options().items():
        if isinstance(default, float) or default is None:
            with pytest.raises(LawError, match=rf"{law}: {option} = .* but it must be"):
                ff.law(law, **{option: value})


@every_law
def test_numbers_of_numpy_are_numbers(law):
    for option, default in ff.law(law).options().items():
        if isinstance(default, float) or default is None:
            for kind in (np.float64, np.float32, np.int64):
                given = {option: kind(1)} | COMPANIONS.get(option, {})
                assert ff.law(law, **given).options()[option] == 1


def test_options_of_mujoco_are_checked():
    for options in ({"cone": "round"}, {"solref": (1.0,)}, {"solimp": (0.9,)}, {"solref": (np.nan, 1.0)}):
        with pytest.raises(LawError, match=next(iter(options))):
            ff.law("mujoco", **options)


def test_options_of_time_stepping_are_checked():
    for options in ({"restitution": 2.0}, {"correction": 2.0}):
        with pytest.raises(LawError, match=f"time-stepping: {next(iter(options))} = .* but it must be"):
            ff.law("time-stepping", **options)


def test_a_built_in_name_cannot_be_taken():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(PointLaw):
        name = "spring-damper"

    with pytest.raises(LawError, match="built-in law; give yours another name"):
        ff.contact.register(Mine)


def test_numbers_of_numpy_become_pythons():
    """As they come out of a table: they stood in labels as np.float64(20000.0)."""
    assert str(ff.law("spring-damper", k=np.float64(2e4))) == str(ff.law("spring-damper", k=2e4))
