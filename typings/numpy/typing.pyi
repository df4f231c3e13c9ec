from typing import Any, TypeAlias, TypeVar

from numpy import ndarray

_Number = TypeVar("_Number")

ArrayLike: TypeAlias = Any
NDArray: TypeAlias = ndarray[Any, _Number]
