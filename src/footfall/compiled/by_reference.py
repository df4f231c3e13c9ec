"""Tuples of arrays passed to compiled code as one pointer.

By value, a named tuple becomes one argument for each size and stride of each of its arrays, in every function that it
passes through: hundreds of arguments, and most of the intermediate code only packs and unpacks them. By reference, it
is laid out in memory once and passed as an address. Kernels are the same for both, since both have the same attributes;
where tuples must be passed by value, as on a GPU, the same source is compiled for that. A tuple may contain tuples by
value, which are laid out within it, or by reference, as pointers. A loop that is compiled once for all kinds of tuples
takes the address as a number, and a function that knows the kind reads it (:func:`named_at`).

The layout is that of Numba's data model on 64-bit machines: words of eight bytes throughout.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numba.experimental.function_type  # noqa: F401 - Numba learns from it the types of function pointers
import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.types import BaseNamedTuple


class Reference(types.Type):
    """The type of an address of a named tuple, which must not change while compiled code reads it."""

    def __init__(self, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        # Symbols contain the names of types; a digest keeps them short.
        made_of = hashlib.sha256(f"{tuple_type.instance_class.__module__} {tuple_type}".encode()).hexdigest()[:12]
        super().__init__(name=f"{tuple_type.instance_class.__name__}_at_{made_of}")

    def field(self, name: str) -> Any:
        """The type of a field in a kernel; for a tuple within the tuple, a reference again."""
        kind = self.tuple_type.types[self.tuple_type.fields.index(name)]
        return Reference(kind) if isinstance(kind, BaseNamedTuple) else kind

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """A tuple by value is converted where a function of fixed types takes a reference."""
        return Conversion.safe if other == self.tuple_type else None


@register_model(Reference)
class _Pointer(models.PrimitiveModel):
    """The data model of a reference: a pointer."""

    def __init__(self, manager: Any, reference: Reference) -> None:
        super().__init__(manager, reference, manager[reference.tuple_type].get_data_type().as_pointer())


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Reference, attribute: str) -> Any:
        """The type of a field, if there is one of that name."""
        return reference.field(attribute) if attribute in reference.tuple_type.fields else None


@lower_getattr_generic(Reference)
def _read_field(context: Any, builder: Any, reference: Reference, pointer: Any, attribute: str) -> Any:
    number = reference.tuple_type.fields.index(attribute)
    kind = reference.tuple_type.types[number]
    if isinstance(kind, BaseNamedTuple):
        return cgutils.gep_inbounds(builder, pointer, 0, number)
    model = context.data_model_manager[kind]
    known = {}
    if isinstance(kind, types.Array):  # references are not counted, and the element size is known
        item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        known = {"meminfo": None, "parent": None, "itemsize": item}
    value = _load(builder, pointer, model, number, known)
    return value if model.get_data_type() == model.get_value_type() else model.from_data(builder, value)


def _load(builder: Any, pointer: Any, model: Any, number: int, known: dict[str, int | None]) -> Any:
    """Read a value word by word, marked as invariant, so that loops do not read it again.

    Parts with a ``known`` value are not read.
    """
    kind = model.get_data_type()
    if not isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        return _word(builder, pointer, number)
    value = ir.Constant(kind, None if known else ir.Undefined)
    numbers = {model.get_field_position(name): word for name, word in known.items()}
    for path, word in _words(kind):
        if path[0] not in numbers:
            value = builder.insert_value(value, _word(builder, pointer, number, *path), path)
        elif numbers[path[0]] is not None:
            value = builder.insert_value(value, ir.Constant(word, numbers[path[0]]), path)
    return value


def _words(kind: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The words that a type consists of, each with the path to it."""
    if not isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        yield (), kind
        return
    parts = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
    for number, part in enumerate(parts):
        for path, word in _words(part):
            yield (number, *path), word


def _word(builder: Any, pointer: Any, *path: int) -> Any:
    word = builder.load(cgutils.gep_inbounds(builder, pointer, 0, *path))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_cast(BaseNamedTuple, Reference)
def _put_down(context: Any, builder: Any, by_value: Any, reference: Reference, value: Any) -> Any:
    """Lay a tuple out on the stack. Its reader is not inlined, so nothing is read before it is written."""
    model = context.data_model_manager[by_value]
    place = cgutils.alloca_once(builder, model.get_data_type())
    builder.store(model.as_data(builder, value), place)
    return place


def named_at(reference: Reference) -> Any:
    """A function for compiled code that reads an address, or an array that begins with one, as a tuple of this type; a
    tuple is returned unchanged.
    """

    @intrinsic
    def at(context: Any, address: Any) -> Any:
        if not isinstance(address, types.Integer | types.Array):
            return address(address), lambda context, builder, signature, values: values[0]
        return reference(address), _point_at

    at.py_func = _as_it_is
    at.linkage = lambda: f"named at {reference.tuple_type}"  # for :mod:`.stamp`: what callers are compiled against
    return at


def _as_it_is(named: Any) -> Any:
    """Replaces the function where tuples are passed by value."""
    return named


def _point_at(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    (kind,), (address,) = signature.args, values
    if isinstance(kind, types.Array):
        start = context.make_array(kind)(context, builder, address).data
        address = builder.load(builder.bitcast(start, ir.IntType(64).as_pointer()))
    return builder.inttoptr(address, context.get_value_type(signature.return_type))


def reference_to(named: Any) -> Reference:
    """The type of a reference to a tuple of this kind."""
    return Reference(typeof(named))


class ByReference:
    """A named tuple laid out in memory for compiled code; Python reads its fields as usual.

    Its fields are fixed when it is made: arrays may be written to, but not replaced.
    """

    __slots__ = ("_numba_type_", "_words", "address", "named")

    def __init__(self, named: Any) -> None:
        words: list[int] = []
        kinds = [_lay_out(value, words) for value in named]
        self.named, self._words = named, np.array(words, dtype=np.int64)  # the tuple keeps the arrays alive
        self._numba_type_ = _reference((type(named), *kinds), named)
        self.address: int = self._words.__array_interface__["data"][0]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.named, name)


_references: dict[Any, Reference] = {}


def _reference(key: Any, named: Any) -> Reference:
    """The type of a tuple, remembered by the kinds of its fields: Numba takes longer to find it than ten steps."""
    found = _references.get(key)
    if found is None:
        found = _references[key] = Reference(typeof(named))
    return found


def _lay_out(value: Any, words: list[int]) -> Any:
    """Append a value's words, and return its kind: a key for its type."""
    if isinstance(value, np.ndarray):
        shape, address = value.shape, value.__array_interface__["data"][0]
        words += (0, 0, value.size, value.itemsize, address, *shape, *value.strides)
        return value.dtype, len(shape), value.flags.num
    if isinstance(value, int) and not isinstance(value, bool):
        words.append(value)
        return int
    if isinstance(value, float):
        words += _WORD.unpack(_DOUBLE.pack(value))
        return float
    if isinstance(value, tuple):
        return type(value), *[_lay_out(one, words) for one in value]
    if isinstance(value, ByReference):
        words.append(value.address)
        return value._numba_type_
    address = value.__wrapper_address__() if hasattr(value, "__wrapper_address__") else value.address
    words += (address, 0, 0)
    return getattr(value, "_numba_type_", None) or typeof(value)


_DOUBLE, _WORD = struct.Struct("d"), struct.Struct("q")


@unbox(Reference)
def _unbox(kind: Any, handle: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(handle, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.bitcast(address, c.context.get_value_type(kind)))
