"""C functions called from compiled code by symbol: MuJoCo's, and the system's clock.

``libmujoco`` is loaded into LLVM's process, so that compiled code finds its functions by name and can be
kept on disk; model and data travel as the integers ``MjModel._address`` and ``MjData._address``.
"""

from __future__ import annotations

import ctypes
import math
import time
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import mujoco
import numpy as np
from mujoco.introspect import structs
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from footfall.compiled import inlined
from footfall.kinds import Bool, Ints
from footfall.process.mujoco_library import library_path

llvm.load_library_permanently(str(library_path()))

_ADDRESS = types.intp
_VECTOR = types.CPointer(types.float64)


def _function(name: str, *arguments: object, result: object = types.void) -> types.ExternalFunction:
    return types.ExternalFunction(name, result(_ADDRESS, _ADDRESS, *arguments))  # type: ignore[operator]


mj_kinematics = _function("mj_kinematics")
mj_com_pos = _function("mj_comPos")
mj_flex = _function("mj_flex")
mj_tendon = _function("mj_tendon")
mj_make_m = _function("mj_makeM")
mj_factor_m = _function("mj_factorM")
mj_collision = _function("mj_collision")
mj_make_constraint = _function("mj_makeConstraint")
mj_island = _function("mj_island")
mj_project_constraint = _function("mj_projectConstraint")
mj_transmission = _function("mj_transmission")
mj_fwd_velocity = _function("mj_fwdVelocity")
mj_com_vel = _function("mj_comVel")
mj_reference_constraint = _function("mj_referenceConstraint")
mj_passive = _function("mj_passive")
mj_fwd_actuation = _function("mj_fwdActuation")
mj_fwd_constraint = _function("mj_fwdConstraint")
mj_step = _function("mj_step")
mj_jac = _function("mj_jac", _VECTOR, _ADDRESS, _VECTOR, types.int32)  # without rotations, whose address is 0
mj_energy_pos = _function("mj_energyPos")
mj_energy_vel = _function("mj_energyVel")
mj_subtree_vel = _function("mj_subtreeVel")
mj_rne_post_constraint = _function("mj_rnePostConstraint")
mj_rne = _function("mj_rne", types.int32, _VECTOR)
mj_apply_ft = _function("mj_applyFT", _VECTOR, _VECTOR, _VECTOR, types.int32, _VECTOR)
mj_add_contact = _function("mj_addContact", _ADDRESS, result=types.int32)
mj_contact_force = _function("mj_contactForce", types.int32, _VECTOR)
mj_integrate_pos = types.ExternalFunction("mj_integratePos", types.void(_ADDRESS, _VECTOR, _VECTOR, types.float64))

_C_TYPES = {
    "int": np.int32,
    "float": np.float32,
    "mjtNum": np.float64,
    "mjtByte": np.uint8,
    "mjtBool": np.bool_,
    "mjtSize": np.int64,
    "size_t": np.uint64,
    "uintptr_t": np.uint64,
}


def _dtype(kind: object) -> object:
    """The NumPy type of a C type as MuJoCo's own introspection describes it; pointers are integers."""
    if hasattr(kind, "extents"):
        return (_dtype(kind.inner_type), tuple(kind.extents))  # type: ignore[attr-defined]
    if hasattr(kind, "fields"):  # a struct without a name
        return _layout(kind.fields)
    name: Any = getattr(kind, "name", None)
    if name in _C_TYPES:
        return np.dtype(_C_TYPES[name])
    if name in structs.STRUCTS:
        return struct_dtype(name)
    if name is not None and name.startswith("mjt"):  # every other mjt type is an enumeration
        return np.dtype(np.int32)
    return np.dtype(np.uint64)


@cache
def struct_dtype(name: str) -> np.dtype:
    """The memory layout of one of MuJoCo's structs, ``"mjData"`` or ``"mjContact"``."""
    return _layout(structs.STRUCTS[name].fields)


def _layout(fields: Any) -> np.dtype:
    return np.dtype([(f.name, _dtype(f.type)) for f in fields], align=True)


CONTACT = struct_dtype("mjContact")


def counter(owner: mujoco.MjData | mujoco.MjModel, name: str) -> np.ndarray:
    """A live one-element view of a scalar field of ``MjData`` or ``MjModel``: a number, or a pointer."""
    layout = struct_dtype("mjModel" if isinstance(owner, mujoco.MjModel) else "mjData")
    kind, offset = layout[name], layout.fields[name][1]
    memory: Any = (ctypes.c_char * kind.itemsize).from_address(owner._address + offset)
    return np.frombuffer(memory, dtype=kind)


def _array_at(kind):
    """An intrinsic that views ``size`` numbers of a kind at an address as an array."""

    @intrinsic
    def view(typing_context, address, size):
        array = types.Array(kind, 1, "C")

        def generate(context, builder, signature, arguments):
            made = context.make_array(array)(context, builder)
            item = context.get_abi_sizeof(context.get_data_type(kind))
            width = context.get_constant(types.intp, item)
            data = builder.inttoptr(arguments[0], made.data.type)
            populate_array(made, data=data, shape=[arguments[1]], strides=[width], itemsize=width, meminfo=None)
            return made._getvalue()

        return array(types.uint64, types.intp), generate

    return view


#: Views of arrays that MuJoCo reallocates, by their present addresses: see :func:`counter`.
doubles_at, integers_at = _array_at(types.float64), _array_at(types.int32)
#: Memory of any kind, in words of eight bytes.
words_at = _array_at(types.int64)


@intrinsic
def pointer_to(typing_context, array):
    """The address of an array's first element, for MuJoCo's ``mjtNum*`` arguments."""

    def generate(context, builder, signature, arguments):
        value = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.bitcast(value.data, context.get_value_type(signature.return_type))

    return types.CPointer(types.float64)(array), generate


@intrinsic
def address_of(typing_context, array):
    """The address of an array's first element as an integer, for MuJoCo's struct arguments."""

    def generate(context, builder, signature, arguments):
        value = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(value.data, cgutils.intp_t)

    return types.intp(array), generate


clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))

NEVER = np.iinfo(np.int64).max


class Clock(NamedTuple):
    """A clock that compiled code reads: the loop returns to Python when its time is over, to check for Ctrl-C."""

    now: Ints  # (2,) s and ns, a ``timespec``
    limit: Ints  # (2,) the system's identifier of its steady clock; the time limit, ns


def make_clock() -> Clock:
    """A clock without a limit."""
    return Clock(np.zeros(2, dtype=np.int64), np.array([time.CLOCK_MONOTONIC, NEVER]))


def set_limit(clock: Clock, seconds: float) -> None:
    """Set the limit to ``seconds`` from now; infinite for no limit."""
    forever = math.isinf(seconds)
    clock.limit[1] = NEVER if forever else time.clock_gettime_ns(time.CLOCK_MONOTONIC) + round(1e9 * seconds)


@inlined
def overdue(clock: Clock) -> Bool:
    """Whether the time limit has passed."""
    if clock.limit[1] == NEVER:
        return False
    clock_gettime(clock.limit[0], address_of(clock.now))
    return 1_000_000_000 * clock.now[0] + clock.now[1] >= clock.limit[1]
