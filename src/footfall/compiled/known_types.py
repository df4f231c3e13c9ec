"""Numba's overload resolution, remembered while kernels are compiled.

For each ``a + b`` of each kernel Numba tries a dozen candidates again, from dates to strings: a quarter of the compile
time of our kernels. The result depends only on the function, the types and the compiler options.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

_ask = BaseFunction.get_call_type
_answers: dict[Any, Any] = {}
_options: dict[int, tuple[Any, str]] = {}


def _options_in_force() -> str:
    """The compiler options of the function that is being compiled, as a text."""
    flags = ConfigStack.top_or_none()
    known = _options.get(id(flags))
    if known is None or known[0] is not flags:
        known = _options[id(flags)] = flags, repr(flags)
    return known[1]


def _remembered(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    key = self.key, context, arguments, tuple(keywords.items()), _options_in_force()
    found = _answers.get(key)
    if found is None or found.args not in self._impl_keys:
        found = _answers[key] = _ask(self, context, arguments, keywords)
    return found


@contextmanager
def known_types() -> Iterator[None]:
    """Remember results while a kernel is compiled, under Numba's global lock; other people's code is not affected."""
    if BaseFunction.get_call_type is _remembered:
        yield
        return
    BaseFunction.get_call_type = _remembered  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        BaseFunction.get_call_type = _ask  # type: ignore[method-assign]
