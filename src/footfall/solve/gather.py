"""Named tuples assembled from the fields of others, in compiled code."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from footfall.compiled import generated, inlined


def tuple_of(name: str, fields: tuple[str, ...], module: str) -> Any:
    """A named tuple type with these fields that names ``module`` as its own."""
    return namedtuple(name, fields, module=module)


def gather(kind: type, sources: Mapping[str, type | None], **where: str) -> Any:
    """A kernel that takes the ``sources``, named tuples by argument name, and returns a named tuple ``kind``.

    Each field is its expression in ``where``; else the argument of its name, if that has no type; else the field of
    that name of the one source that has it.
    """
    values = []
    for field in _fields(kind):
        owners = [name for name, source in sources.items() if source is not None and field in _fields(source)]
        value = where.get(field, field if sources.get(field, kind) is None else None)
        if value is None and len(owners) != 1:
            raise TypeError(f"{kind.__name__}.{field} is in {owners or 'none'} of {', '.join(sources)}")
        values.append(value or f"{owners[0]}.{field}")
    name = f"gather_{kind.__name__.lower()}"
    source = f"def {name}({', '.join(sources)}):\n    return {kind.__name__}({', '.join(values)})\n"
    return inlined(generated(source, name, {kind.__name__: kind}, gather))  # type: ignore[arg-type]


def _fields(kind: type) -> tuple[str, ...]:
    return kind._fields  # type: ignore[attr-defined]
