"""Points where diverged lanes of a GPU's warp reconverge.

Lanes of a warp that take different branches reconverge at the first place that all branches lead to, if the compiler
finds one. After a loop with a ``return``, or a branch on a flag, it finds none: each branch continues separately, and
all following code runs once for each.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from footfall.compiled import inlined
from footfall.kinds import Bool

#: Returns its flag in a way that no compiler sees through: inverted if no lane is active, which never happens.
_ASSEMBLER = """{
    .reg .b32 lanes;
    .reg .pred none;
    activemask.b32 lanes;
    setp.eq.u32 none, lanes, 0;
    selp.b32 lanes, 1, 0, none;
    xor.b32 $0, $1, lanes;
}"""


@inlined
def meet(flag: Bool) -> Bool:
    """Return a flag; on a GPU, let lanes reconverge here, whatever their flags."""
    return flag


@cache
def meeting() -> Any:
    """Replaces :func:`meet` on a GPU."""
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.extending import intrinsic

    def typed(_: Any, flag: Any) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = ir.IntType(32)
            way = ir.InlineAsm(ir.FunctionType(word, [word]), _ASSEMBLER, "=r,r", side_effect=True)
            told = builder.call(way, [builder.zext(arguments[0], word)], attrs=("convergent",))
            return builder.icmp_unsigned("!=", told, word(0))

        return types.boolean(types.boolean), lower

    made = intrinsic(typed)
    made.linkage = lambda: _ASSEMBLER  # for :mod:`.stamp`
    return made
