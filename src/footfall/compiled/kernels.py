"""The decorators that turn Python functions into machine code.

A kernel becomes part of its callers and gets machine code of its own only where Python calls it; both are kept on disk.
That needs inner workings of Numba, all in :mod:`.private_numba`. In a version of Numba whose inner workings are not
known, kernels are ordinary functions of ``numba.jit`` and ``numba.cfunc``.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Callable
from functools import cache, update_wrapper
from types import CellType, FunctionType, ModuleType
from typing import Any

import numba
from numba import types

from footfall.compiled.cache import say_once
from footfall.compiled.stamp import codes_of
from footfall.process.garbage import no_garbage_search
from footfall.process.interrupts import while_compiling

#: The version of Numba, without its last number, whose inner workings are known; ``pyproject.toml`` asks for the same.
NUMBA = (0, 68)
#: Whether they are used; ``FOOTFALL_NUMBA=public`` does without.
KNOWN = numba.version_info.short == NUMBA and os.environ.get("FOOTFALL_NUMBA") != "public"
if KNOWN:
    from footfall.compiled import private_numba

#: Options of all kernels. Sums may be reordered and products fused, so that loops are vectorised. NaN and infinity
#: stay: they reveal divergence. Without Numba's runtime nothing can be allocated.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "arcp", "nsz", "reassoc"}, "_nrt": False}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use, without GIL or allocation, and keep it on disk."""
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones, and for parts of a large loop."""
    return _compile(function, forceinline=True)


def checked(function: Callable[..., Any]) -> Any:
    """A kernel that checks array indices and raises an exception for a bad one: for users' functions.

    What it calls of its author's is compiled again in the same way.
    """
    return _made_again(plain_function(function), lambda copy: _compile(copy, boundscheck=True), {})


@cache
def as_python(function: Callable[..., Any]) -> Any:
    """A user's function as plain Python, with all of its author's that it calls: it raises what is wrong."""
    return _made_again(plain_function(function), lambda copy: copy, {})


def plain_function(function: Any) -> Any:
    """The Python function under a compiled one."""
    return getattr(function, "py_func", function)


def _made_again(plain: FunctionType, make: Callable[[FunctionType], Any], made: dict[Any, Any]) -> Any:
    """A function and those of users that it may call, in another form; ``made`` holds those begun, for recursion."""
    if plain not in made:
        names = {name for code in codes_of(plain.__code__) for name in code.co_names}
        if "flat" in names:
            raise NotImplementedError("it uses '.flat', whose indices compiled code does not check: use '.reshape(-1)'")

        def again(value: Any) -> Any:
            return _value_again(value, names, make, made)

        made[plain] = plain  # where the defaults of its arguments lead back to it
        known, cells = dict(plain.__globals__), tuple(CellType(cell.cell_contents) for cell in plain.__closure__ or ())
        copy = FunctionType(plain.__code__, known, plain.__name__, again(plain.__defaults__), cells or None)
        update_wrapper(copy, plain)
        del vars(copy)["__wrapped__"]  # in which Numba would look for the defaults
        made[plain] = make(copy)
        known.update({name: again(known[name]) for name in names & known.keys()})
        for cell in cells:
            cell.cell_contents = again(cell.cell_contents)
    return made[plain]


def _value_again(value: Any, names: set[str], make: Callable[[FunctionType], Any], made: dict[Any, Any]) -> Any:
    """The same of what a user's function refers to, and of what it finds by these names in a module."""
    if type(value) is tuple:
        return tuple(_value_again(one, names, make, made) for one in value)
    if isinstance(value, ModuleType) and _is_foreign(value.__name__):
        if value not in made:
            made[value] = ModuleType(value.__name__)
            vars(made[value]).update(vars(value))
            for name in names & vars(value).keys():
                setattr(made[value], name, _value_again(getattr(value, name), names, make, made))
        return made[value]
    # Numba's ``jit`` keeps the function of Python as ``py_func``, its ``cfunc`` and ``vectorize`` as ``__wrapped__``.
    plain = value if isinstance(value, FunctionType) else getattr(value, "py_func", getattr(value, "__wrapped__", None))
    if isinstance(plain, FunctionType) and _is_foreign(plain.__module__):
        return _made_again(plain, make, made)
    return value


def _is_foreign(module: str | None) -> bool:
    return (module or "").partition(".")[0] not in ("footfall", "numba", "numpy")


def cause_of(error: Exception) -> str:
    """What keeps a user's function from being compiled, by the compiler's report: one line of it, without colours."""
    said = re.sub(r"\x1b\[\d*m", "", str(error))
    if "NRT" in said or "returning of array" in said:  # Numba's runtime for objects, which kernels do without
        return "it makes a list, a dict or an array: return a tuple of numbers"
    noise = ("Failed in", "During:", "File ", "No ", "Invalid use of type(CPUDispatcher")
    reason = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in reason if not line.startswith(noise)), (reason or ["it says nothing"])[0]).rstrip(".")


def raises(function: Any) -> bool:
    """Whether a function contains a ``raise`` or an ``assert``, which compiled code cannot propagate."""
    return any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain_function(function)))


def _compile(function: Any, **flags: bool) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, **OPTIONS, **flags}
    if KNOWN:
        return private_numba.Part(own_copy(function), options, own_copy(function))
    made = numba.jit(**options)(own_copy(function))
    made.ordinary, made.kept = made, _is_no_work_for_others
    return made


def _is_no_work_for_others() -> bool:
    """Whether no second process need compile a kernel: none can for this one, since nothing is kept on disk."""
    say_once(f"Numba {numba.__version__} is not one that Footfall knows: every start compiles again, and takes longer")
    return True


def function_pointer(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function of one fixed signature to a pointer that compiled loops take as an argument."""
    own = own_copy(function)
    with while_compiling(), no_garbage_search():
        if KNOWN:
            pointer = private_numba.pointer(signature, own, OPTIONS)
        else:
            pointer = numba.cfunc(signature, **OPTIONS)(own)
    pointer._numba_type_ = types.FunctionType(signature)  # found once, not in every run
    return pointer


def own_copy(function: Any) -> FunctionType:
    """A copy of a function, which may be renamed without changing the user's."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    return copy


def generated(source: str, name: str, namespace: dict[str, Any], home: FunctionType) -> FunctionType:
    """Make a function from source text; the disk cache files it with ``home``, the function that uses it."""
    code = compile(source, home.__code__.co_filename, "exec")
    exec(code, namespace)
    function = namespace[name]
    function.__module__ = home.__module__
    function.__qualname__ = f"{home.__qualname__}.{name}"
    return function
