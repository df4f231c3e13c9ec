"""The contract of a contact law.

A law answers one question: given the contact points now, what force does the ground apply to each? It is a
frozen value (its options) plus a kernel (the answer, compiled). What an implementer owes:

1. a frozen dataclass with the law's options, validated, derived from :class:`PointLaw` (sees one point) or
   :class:`CoupledLaw` (sees all points together);
2. ``resolve(setting)``: the numbers the kernel needs for this robot, ground and step, as a ``NamedTuple``;
3. ``kernel``: a plain function of the signature described below, compiled by the engine.

and one line in :mod:`footfall.contact.registry`. Everything that changes with time is passed in and handed back.

Point kernel::

    kernel(depth, depth_rate, slip, slip_velocity, memory, parameters) -> (normal, tangent_1, tangent_2, mode)

``depth`` m and ``depth_rate`` m/s are positive into the ground; ``slip`` (2,) m is the way from the point's
anchor (where it touched down), ``slip_velocity`` (2,) m/s its rate, both in the tangent plane. Writing to
``slip`` moves the anchor; ``memory`` is the point's own, zero at touch-down. Forces are in N, those of the
ground on the robot, in the same frame.

Coupled kernel::

    kernel(contacts, dt, memory, force, mode, scratch, signals, parameters) -> status

with :class:`Contacts` of the near points and the arrays ``scratch`` that ``CoupledLaw.scratch`` makes. It writes
``force`` (P, 3) N in contact frames and ``mode`` (P,) of every near point (the others are zero already), and to the
head of ``signals`` the numbers declared as ``Law.signals`` and, for each foot, as ``Law.foot_signals``, in that order.
``status`` is 0, or 1 if no solution was found and the forces are only the best approximation.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np

from footfall.arguments import public
from footfall.contact.setting import Setting
from footfall.contact.trial import check_foreign, is_foreign
from footfall.errors import LawError, did_you_mean
from footfall.solve.contacts import ALL, SLIDE, STICK, coupled_signature, write_mobility
from footfall.solve.problem import Size


class NativeContact(NamedTuple):
    """MuJoCo's settings of its own contacts; names and meaning are MuJoCo's."""

    solref: tuple[float, float]
    solimp: tuple[float, float, float, float, float]
    cone: str
    impratio: float


@public
@dataclass(frozen=True, kw_only=True)
class Law:
    """The root of all contact laws: a frozen set of options with a name and a source."""

    name: ClassVar[str]
    citation: ClassVar[str]

    #: Its kernel takes all points together, with the free accelerations and the Delassus operator.
    coupled: ClassVar[bool] = False
    #: Forces are those of MuJoCo's own contacts, see :mod:`footfall.engine.mujoco_law`.
    native: ClassVar[bool] = False
    #: Its motion is integrated from event to event, see :mod:`footfall.contact.event_law`.
    event_driven: ClassVar[bool] = False
    #: Numbers that each point remembers from step to step.
    memory_size: ClassVar[int] = 0
    #: Largest gap of points that the law is given, m; a nanometre, so that rounding does not open contacts.
    margin: ClassVar[float] = 1e-9
    #: Largest speed, m/s, of points further away that the law is given because they may reach the ground in a step.
    fastest: ClassVar[float] = 0.0
    #: Names and units of numbers that a coupled law reports in each step, recorded as ``rec.signals``.
    signals: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Names and units of further numbers that it reports for every foot.
    foot_signals: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Rows of the audit in which the law has errors by design, up to the limit of the row, each with the reason.
    by_design: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @property
    def cone_of_foot(self) -> bool:
        """Whether the friction of a whole foot is limited, and not that of each point."""
        return False

    @property
    def unclaimed(self) -> Mapping[str, str]:
        """Rows of the audit that the law does not claim to satisfy, by design, each with the reason."""
        return {}

    @property
    def reach(self) -> float:
        """The largest gap (m) of a resting point that the law may push by design; zero for most laws."""
        return 0.0

    def near(self, dt: float) -> float:
        """The largest gap (m) of points that the law is given in steps of ``dt`` (s)."""
        return max(self.margin, self.fastest * dt, self.reach)

    def resolve(self, setting: Setting) -> Any:
        """The numbers the kernel needs, as a ``NamedTuple`` of floats."""
        raise NotImplementedError

    def native_contact(self) -> NativeContact | None:
        """Settings of MuJoCo's own contacts, for a law that is ``native``."""
        return None

    def creep(self, ratio: float, setting: Setting) -> float:
        """Speed in m/s at which a point that should stick drifts under a tangential load of ``ratio`` times
        the sliding load. Zero for laws with true stick.
        """
        return 0.0

    @classmethod
    def kernels(cls) -> list[Callable[..., Any]]:
        """The plain functions of the law that are compiled."""
        return [getattr(cls, name) for name in ("kernel", "impact") if hasattr(cls, name)]

    def options(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **self.options()}

    def replace(self, **changes: Any) -> Self:
        """The same law with other options."""
        _check_names(type(self), changes)
        return dataclasses.replace(self, **_plain(changes))

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.options().items() if value is not None)
        return f"{self.name}({given})"


SINKS = MappingProxyType({"penetration": "the ground presses a point by as much as it is deep"})


@public
class PointLaw(Law):
    """A law of a single point."""

    by_design = SINKS
    kernel: ClassVar[Callable[..., Any]]

    @classmethod
    def pointer(cls) -> Any:
        """The compiled kernel, of the signature the engine calls."""
        return _point_pointer(cls.kernel, parameters_of(cls), cls.name)


@public
class CoupledLaw(Law):
    """A law of all points together."""

    coupled = True
    #: Needs the Delassus operator: the engine computes free accelerations, arms and the mobility.
    operator: ClassVar[bool] = True
    kernel: ClassVar[Callable[..., Any]]

    def scratch(self, size: Size) -> Any:
        """The scratch arrays of the kernel: a ``NamedTuple`` of arrays of float64 or int64, or of further such tuples.
        A law that needs none leaves this out.

        Their values do not outlast a step. Their number, types, dimensions and initial values are the same for all
        options of a law; only sizes may differ.
        """
        return None

    def pointer(self) -> Any:
        """The compiled kernel, of the signature the engine calls."""
        return coupled_pointer(self.kernel, parameters_of(type(self)), scratch_type(self), self.operator)

    @classmethod
    def adapter(cls) -> Any:
        """The kernel with the engine's signature as a plain function, for a GPU: :meth:`pointer` would also compile it
        for the CPU, which takes half a minute.
        """
        return coupled_adapter(cls.kernel, parameters_of(cls), operator=cls.operator)


def scratch_type(law: CoupledLaw) -> Any:
    """The type of a reference to the scratch arrays of a law, ``None`` if it has none."""
    kind = type(law)
    if kind not in _scratch_types:
        from footfall.compiled import reference_to

        sample = law.scratch(Size(1, 1, 1))
        _scratch_types[kind] = None if sample is None else reference_to(sample)
    return _scratch_types[kind]


#: Cached by class of law, whose options change only sizes, since Numba takes a millisecond to find a type.
_scratch_types: WeakKeyDictionary[type[CoupledLaw], Any] = WeakKeyDictionary()


def parameters_of(law: type[Law]) -> type:
    """The ``NamedTuple`` class a law's ``resolve`` returns."""
    return typing.get_type_hints(law.resolve)["return"]


def check(condition: bool, law: str, option: str, value: object, rule: str) -> None:
    """Refuse an option with a sentence that names it, its value and what it must be."""
    if not condition:
        raise LawError(f"{law}: {option} = {value} but it must be {rule}")


def make(law: type[Law], options: dict[str, Any]) -> Law:
    """Build a law from options given by name, or say which name is wrong."""
    _check_names(law, options)
    return law(**_plain(options))


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options with NumPy's numbers, as they come from arrays and tables, turned into Python's."""
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in options.items()}


def _check_names(law: type[Law], options: dict[str, Any]) -> None:
    known = [field.name for field in dataclasses.fields(law)]
    for option in options:
        if option not in known:
            raise LawError(f"{law.name} has no option '{option}': {did_you_mean(option, known)}")


# One signature for all point laws and one for all coupled laws, so that the engine's loop is compiled once.


@cache
def point_signature() -> Any:
    """Numba's signature of a point kernel."""
    from numba import float64, int64, types

    vector = types.Array(float64, 1, "C")
    result = types.Tuple([float64, float64, float64, int64])
    return result(float64, float64, vector, vector, vector, float64, float64, vector)


#: Parameters of point laws that belong to the ground: its coefficients at the point.
FRICTION = ("static_friction", "dynamic_friction")
# Completion of a point kernel's result to (normal, tangent_1, tangent_2, mode), by the number of values it returns.
_COMPLETED = {
    4: "return kernel({arguments}, {parameters})",
    3: """p = {parameters}
    normal, x, y = kernel({arguments}, p)
    limit = p.dynamic_friction * normal
    return normal, x, y, SLIDE if x * x + y * y >= 0.999999 * limit * limit else STICK""",
    1: "return kernel({arguments}, {parameters}), 0.0, 0.0, STICK",
}
# An exception in a user's law becomes a NaN force, which ends the run.
_ATTEMPTED_POINT = """def adapter({head}):
    try:
        normal, x, y, mode = answer({head})
    except Exception:
        return NAN, NAN, NAN, STICK
    return float(normal), float(x), float(y), int(mode)
"""
_ATTEMPTED_COUPLED = """def adapter({head}):
    try:
        status = answer({head})
    except Exception:
        force[:] = NAN
        return 1
    return int(status)
"""


@cache
def _point_pointer(function: Callable[..., Any], parameters: Any, name: str) -> Any:
    from numba import float64, types
    from numba.core.errors import NumbaError

    from footfall.compiled import cause_of, checked, function_pointer, inlined

    foreign = is_foreign(function)
    if foreign:
        check_foreign(function, name)
    values = types.NamedUniTuple(float64, len(parameters._fields), parameters)
    try:
        compiled: Any = (
            checked(function) if foreign else function if hasattr(function, "py_func") else inlined(function)
        )
        compiled.compile((*point_signature().args[:5], values))
    except (NumbaError, NotImplementedError) as error:
        raise LawError(f"law '{name}' cannot be compiled: {cause_of(error)}") from error
    result = compiled.nopython_signatures[-1].return_type
    count = len(result) if isinstance(result, types.BaseTuple) else 1 if result in (float64, types.int64) else 0
    if count not in _COMPLETED:
        raise LawError(
            f"law '{name}' returns {result}; a point law returns (normal, tangent_1, tangent_2) in N, with or without "
            "the mode (1 stick, 2 slide), or the normal force alone"
        )
    arguments = "depth, depth_rate, slip, slip_velocity, memory"
    # Friction is that of the ground at the point, not an option of the law.
    attempted = _ATTEMPTED_POINT if foreign else ""
    adapter = _adapter(compiled, parameters, arguments, _COMPLETED[count], FRICTION, attempted)
    return function_pointer(point_signature(), adapter)


@cache
def coupled_pointer(function: Callable[..., Any], parameters: Any, scratch: Any, operator: bool) -> Any:
    """A compiled function of the coupled signature, whose parameters and scratch are named."""
    from footfall.compiled import function_pointer

    return function_pointer(coupled_signature(), coupled_adapter(function, parameters, scratch, operator))


@cache
def coupled_adapter(function: Callable[..., Any], parameters: Any, scratch: Any = None, operator: bool = False) -> Any:
    """The function of :func:`coupled_pointer`, not compiled; ``scratch`` is the type at the address given for it.

    A law from outside this package that takes the ``operator`` finds the whole mobility; others ask for what they need.
    """
    from footfall.compiled import checked, kernel, named_at

    foreign = is_foreign(function)
    if foreign:
        check_foreign(function, function.__name__)
    compiled = checked(function) if foreign else function if hasattr(function, "py_func") else kernel(function)
    arguments, body, used = "contacts, dt, memory, force, mode, scratch, signals", _COMPLETED[4], {}
    if foreign and operator:
        used["write_mobility"] = write_mobility
        body = f"write_mobility(contacts, {ALL})\n    {body}"
    if scratch is not None:
        used["named_at"] = named_at(scratch)
        body = body.replace("{arguments}", arguments.replace("scratch", "named_at(scratch)"))
    attempted = _ATTEMPTED_COUPLED if foreign else ""
    return _adapter(compiled, parameters, arguments, body, attempted=attempted, used=used)


def _adapter(
    compiled: Any,
    parameters: Any,
    arguments: str,
    body: str,
    given: tuple[str, ...] = (),
    attempted: str = "",
    used: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """A law's kernel with the engine's signature, in which its parameters are an array of numbers.

    Parameters named in ``given`` are separate arguments, between ``arguments`` and the array. ``attempted`` is the
    source of a function that also catches exceptions of the law; ``used`` holds the values that ``body`` names.
    """
    from footfall.compiled import checked, generated

    values = [name if name in given else f"values[{i}]" for i, name in enumerate(parameters._fields)]
    named = f"Parameters({', '.join(values)})"
    head = ", ".join([arguments, *given, "values"])
    source = f"def adapter({head}):\n    {body.format(arguments=arguments, parameters=named)}\n"
    namespace = {"kernel": compiled, "Parameters": parameters, "STICK": STICK, "SLIDE": SLIDE, **used}
    adapter = generated(source, "adapter", namespace, compiled.py_func)
    if attempted:
        namespace = {"answer": checked(adapter), "STICK": STICK, "NAN": math.nan}
        adapter = generated(attempted.format(head=head), "adapter", namespace, compiled.py_func)
    return adapter
