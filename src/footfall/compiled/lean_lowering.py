"""Numba's lowering of kernels to intermediate code, without code that LLVM would remove again.

Numba stores each array before it reads an element, stores each variable again at the end of its life, and prepares an
error message for each instruction. Kernels count no references and are not debugged as machine code. The optimised code
is the same.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import cgutils, errors, ir, types
from numba.core.analysis import compute_use_defs
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

from footfall.compiled.replaced import put


class _KernelLower(Lower):
    """Numba's lowering of a function, without reference counting."""

    def init(self) -> None:
        """Note whether this function is a kernel; Numba's own functions may count references."""
        counted = self.context.enable_nrt or self.func_ir.is_generator
        self._plain = not (counted or self._disable_sroa_like_opt or self._loc_notify_registry)
        super().init()

    def _find_singly_assigned_variable(self) -> None:
        """Find variables that need no memory: assigned once, in a block that dominates all uses and is lowered before
        them.
        """
        if not self._plain:
            super()._find_singly_assigned_variable()
            return
        blocks = self.func_ir.blocks
        given: dict[str, list[int]] = {}
        for label, block in blocks.items():
            for statement in block.body:
                if type(statement) is ir.Assign:
                    given.setdefault(statement.target.name, []).append(label)
        once = {name: labels[0] for name, labels in given.items() if len(labels) == 1}
        dominators = self.func_ir.variable_lifetime.cfg.dominators()
        for label, names in compute_use_defs(blocks).usemap.items():
            for name in names:
                if name in once and not (once[name] < label and once[name] in dominators[label]):
                    del once[name]
        self._singly_assigned_vars = set(once)
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_block(self, block: Any) -> None:
        """Lower a block; an error message is made only if that fails."""
        self.pre_block(block)
        for instruction in block.body:
            self.loc = instruction.loc
            try:
                self.lower_inst(instruction)
            except errors.NumbaError as error:
                error.add_context(f'lowering "{instruction}" at {self.loc}')
                raise
        self.post_block(block)

    def lower_inst(self, inst: Any) -> Any:
        """Lower an instruction."""
        if self._plain and type(inst) is ir.Assign:
            return self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        return super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        """The value of a variable."""
        if not self._plain:
            return super().loadvar(name)
        known = self._blk_local_varmap.get(name)
        return self.builder.load(self.getvar(name)) if known is None else known

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable, without reference counting."""
        if not self._plain:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Memory for a variable, without debug information."""
        if not self._plain:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """The pass that lowers a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that lowers."""
        return _KernelLower


class _ArrayRead:
    """An array as a value in compiled code, from which fields are extracted.

    A pointer to it, if Numba asks for one, points to a copy that is stored at the beginning of the function.
    """

    __slots__ = ("_builder", "_context", "_datamodel", "_in_memory", "_last", "_usual", "_value")

    def __init__(self, context: Any, builder: Any, usual: Any, value: Any) -> None:
        self._context, self._builder, self._value, self._usual = context, builder, value, usual
        self._datamodel = context.data_model_manager[usual._fe_type]
        self._last = builder.block, builder.block.instructions[-1:]
        self._in_memory: Any = None

    def __getattr__(self, field: str) -> Any:
        if not field.startswith("_"):
            return self._builder.extract_value(self._value, self._datamodel.get_field_position(field))
        if self._in_memory is None:
            self._in_memory = self._written()
        return getattr(self._in_memory, field)

    def _written(self) -> Any:
        block, last = self._last
        builder = self._builder
        room = cgutils.alloca_once(builder, self._datamodel.get_value_type())
        with builder.goto_block(block):
            if last:
                builder.position_after(last[0])
            else:
                builder.position_at_start(block)
            return self._usual(self._context, builder, value=self._value, ref=room)

    def size(self, axis: int) -> Any:
        """The length along an axis."""
        return self._builder.extract_value(self._value, [self._datamodel.get_field_position("shape"), axis])

    def stride(self, axis: int) -> Any:
        """Bytes from one element to the next along an axis."""
        return self._builder.extract_value(self._value, [self._datamodel.get_field_position("strides"), axis])

    def _getvalue(self) -> Any:
        return self._value


_make_array, _basic_indexing = arrayobj.make_array, arrayobj.basic_indexing
_makers: dict[Any, Any] = {}


def _array_maker(kind: Any) -> Any:
    """Replaces ``arrayobj.make_array``."""
    found = _makers.get(kind)
    if found is None:
        usual = _make_array(kind)

        def made(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
            if value is None or ref is not None or type(kind) is not types.Array:
                return usual(context, builder, value=value, ref=ref)
            return _ArrayRead(context, builder, usual, value)

        found = _makers[kind] = made
    return found


def _place(
    context: Any, builder: Any, kind: Any, array: Any, index_types: Any, indices: Any, boundscheck: Any = None
) -> Any:
    """Replaces ``arrayobj.basic_indexing`` for elements; views and checked arrays are left to Numba."""
    whole = len(indices) == kind.ndim and all(isinstance(one, types.Integer) for one in index_types)
    if boundscheck or not whole or not isinstance(array, _ArrayRead):
        return _basic_indexing(context, builder, kind, array, index_types, indices, boundscheck=boundscheck)
    places = []
    for axis, (index_type, index) in enumerate(zip(index_types, indices, strict=True)):
        if isinstance(index, llvm_ir.Constant) and index.constant >= 0:
            places.append(context.cast(builder, index, index_type, types.intp))
        else:
            size = array.size(axis) if index_type.signed else None
            places.append(arrayobj.fix_integer_index(context, builder, index_type, index, size))
    if kind.layout not in "CF":
        offsets = [builder.mul(array.stride(axis), index) for axis, index in enumerate(places)]
        return cgutils.pointer_add(builder, array.data, _sum(builder, offsets)), [], []
    order = list(enumerate(places))  # from the axis with the largest stride
    if kind.layout == "F":
        order.reverse()
    _, place = order[0]
    for axis, index in order[1:]:
        place = builder.add(builder.mul(place, array.size(axis)), index)
    return builder.gep(array.data, [place]), [], []


def _sum(builder: Any, terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = builder.add(total, term)
    return total


def lean_arrays(undo: ExitStack) -> None:
    """Read elements of arrays directly from their address, until ``undo``."""
    put(undo, arrayobj, "make_array", _array_maker)
    put(undo, arrayobj, "basic_indexing", _place)
