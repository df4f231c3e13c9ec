"""How Footfall turns Python functions into machine code.

A *kernel* is a plain function over arrays, which also runs, slowly, as ordinary Python (``kernels``). Most only become
part of their callers; some are compiled ``apart`` from them. Tuples of arrays are passed ``by_reference``. Compiled
code is kept on disk (``cache``) until the kernel or anything it uses changes (``stamp``). Numba is used through its
public interfaces; what is not public is in ``private_numba``, for one version.
"""

from footfall.compiled.apart import cold, compile_cold
from footfall.compiled.by_reference import ByReference, Reference, named_at, reference_to
from footfall.compiled.kernels import (
    as_python,
    cause_of,
    checked,
    function_pointer,
    generated,
    inlined,
    kernel,
    plain_function,
    raises,
)
from footfall.compiled.stamp import kernel_stamp

__all__ = [
    "ByReference",
    "Reference",
    "as_python",
    "cause_of",
    "checked",
    "cold",
    "compile_cold",
    "function_pointer",
    "generated",
    "inlined",
    "kernel",
    "kernel_stamp",
    "named_at",
    "plain_function",
    "raises",
    "reference_to",
]
