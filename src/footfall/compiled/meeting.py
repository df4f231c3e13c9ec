"""Where lanes of a GPU that went different ways go on together.

Lanes of a warp do the same at the same time as long as they go the same way. Those that part meet again where all ways
lead to, if the compiler sees such a place. After a loop with a ``return`` in it, or where a flag says what happened, it
sees none: each way goes on to what its own flag leads to, and all that follows is done once for each way.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from footfall.compiled import inlined

#: Gives a flag back in a way that no compiler sees through: turned round if no lane is active, which is never so.
_ASSEMBLER = """{
    .reg .b32 lanes;
    .reg .pred none;
    activemask.b32 lanes;
    setp.eq.u32 none, lanes, 0;
    selp.b32 lanes, 1, 0, none;
    xor.b32 $0, $1, lanes;
}"""


@inlined
def meet(flag):
    """Give a flag back, and on a GPU let lanes meet here, whatever their flags are."""
    return flag


@cache
def meeting() -> Any:
    """What stands for :func:`meet` on a GPU."""
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
