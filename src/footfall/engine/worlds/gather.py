"""Tuples of arrays that have the fields of others, and compiled code that puts them together from these."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from footfall.compiled import generated, inlined


def tuple_of(name: str, fields: tuple[str, ...], module: str) -> Any:
    """A named tuple of that module, whose fields are those of others."""
    return namedtuple(name, fields, module=module)


def gather(kind: type, sources: Mapping[str, type | None], **where: str) -> Any:
    """A kernel that takes the ``sources`` and gives a ``kind``: named tuples all, by the names of its arguments.

    Each field is that of the one source which has it; ``where`` says which expression it is in place of that. A source
    without a type is there for such expressions alone.
    """
    values = []
    for field in _fields(kind):
        owners = [name for name, source in sources.items() if source is not None and field in _fields(source)]
        if field not in where and len(owners) != 1:
            raise TypeError(f"{kind.__name__}.{field} is in {owners or 'none'} of {', '.join(sources)}")
        values.append(where[field] if field in where else f"{owners[0]}.{field}")
    name = f"gather_{kind.__name__.lower()}"
    source = f"def {name}({', '.join(sources)}):\n    return {kind.__name__}({', '.join(values)})\n"
    return inlined(generated(source, name, {kind.__name__: kind}, gather))  # type: ignore[arg-type]


def _fields(kind: type) -> tuple[str, ...]:
    return kind._fields  # type: ignore[attr-defined]
