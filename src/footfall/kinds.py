"""The kinds of arguments of kernels, for annotations; at run time they are not looked at.

``tools/annotate_kernels.py`` writes them from what Numba infers, and a test compares them with it. A named tuple of one
class is annotated with that class, by value and by reference alike. How large arrays are is in docstrings and comments.
"""

from typing import Any, TypeAlias

import numpy as np

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
    "Vector",
]

Float: TypeAlias = float
Int: TypeAlias = int
Bool: TypeAlias = bool
#: A float in some calls and an integer in others.
Number: TypeAlias = float
#: Floats along one, two, three and four axes.
Vector: TypeAlias = np.ndarray
Matrix: TypeAlias = np.ndarray
Tensor: TypeAlias = np.ndarray
Tensor4: TypeAlias = np.ndarray
#: Integers along one, two and three axes.
Ints: TypeAlias = np.ndarray
IntMatrix: TypeAlias = np.ndarray
IntTensor: TypeAlias = np.ndarray
#: Truth values along one, two and three axes.
Bools: TypeAlias = np.ndarray
BoolMatrix: TypeAlias = np.ndarray
BoolTensor: TypeAlias = np.ndarray
#: A named tuple, of another class in other calls, or of one that is defined in a room above.
Named: TypeAlias = Any
#: A compiled function.
Function: TypeAlias = Any
