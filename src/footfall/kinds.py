"""The kinds of arguments of kernels, for annotations.

``tools/annotate_kernels.py`` writes them from what Numba infers, and a test compares them with it. A named tuple of one
class is annotated with that class, by value and by reference alike. The fields of a tuple may have their shapes beside
their kinds, ``Annotated[Matrix, "P", 3]``: :func:`zeros` allocates them; and their units, :class:`Unit`.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bool",
    "BoolMatrix",
    "BoolTensor",
    "Bools",
    "Float",
    "Function",
    "Int",
    "IntMatrix",
    "IntTensor",
    "Ints",
    "Matrix",
    "Named",
    "Number",
    "Tensor",
    "Tensor4",
    "Unit",
    "Vector",
    "element_types",
    "shapes",
    "units",
    "zeros",
]

Float: TypeAlias = float
Int: TypeAlias = int
Bool: TypeAlias = bool
#: A float in some calls and an integer in others.
Number: TypeAlias = float
#: Floats along one, two, three and four axes.
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Tensor: TypeAlias = NDArray[np.float64]
Tensor4: TypeAlias = NDArray[np.float64]
#: Integers along one, two and three axes.
Ints: TypeAlias = NDArray[np.int64]
IntMatrix: TypeAlias = NDArray[np.int64]
IntTensor: TypeAlias = NDArray[np.int64]
#: Truth values along one, two and three axes.
Bools: TypeAlias = NDArray[np.bool_]
BoolMatrix: TypeAlias = NDArray[np.bool_]
BoolTensor: TypeAlias = NDArray[np.bool_]
#: A named tuple, of another class in other calls, or of one that is defined in a room above.
Named: TypeAlias = Any
#: A compiled function.
Function: TypeAlias = Any


class Unit(str):
    """The unit of a field, beside its shape."""


Tuple = TypeVar("Tuple")
#: Type and lengths (numbers or names) of each field with a shape.
Fields: TypeAlias = dict[str, tuple[np.dtype[Any], tuple[str | int, ...]]]


@cache
def _fields(kind: type) -> Fields:
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            array, *lengths = (one for one in get_args(hint) if not isinstance(one, Unit))
            element = array
            while get_args(element):  # in NumPy 2.5 an array's only argument is its element
                element = get_args(element)[-1]
            found[name] = np.dtype(element), tuple(lengths)
    return found


def element_types(kind: type) -> dict[str, np.dtype[Any]]:
    """The types of the elements of the arrays of a named tuple."""
    return {name: element for name, (element, _) in _fields(kind).items()}


def shapes(kind: type, sizes: Mapping[str, int], given: Collection[str] = ()) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a named tuple, with these lengths by name, but for those that are ``given``."""
    return {
        name: tuple(_length(one, sizes) for one in lengths)
        for name, (_, lengths) in _fields(kind).items()
        if name not in given
    }


def _length(given: str | int, sizes: Mapping[str, int]) -> int:
    """A number, a name, or a name and a number, ``"P + 1"``."""
    if isinstance(given, int):
        return given
    name, _, more = given.partition(" + ")
    return sizes[name] + int(more or 0)


def units(kind: type) -> dict[str, str]:
    """The units of the fields of a named tuple, "" where none is given."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: next((one for one in get_args(hint) if isinstance(one, Unit)), "") for name, hint in hints.items()}


def zeros(kind: type[Tuple], sizes: Mapping[str, int], /, **given: Any) -> Tuple:
    """A named tuple of zeros, with lengths by name, but for the fields that are ``given``."""
    own: Any = kind
    types = _fields(own)
    made = {name: np.zeros(shape, types[name][0]) for name, shape in shapes(own, sizes, given).items()}
    return kind(**made, **given)
