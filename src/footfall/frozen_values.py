"""Frozen dataclasses whose mappings and arrays are read-only: how they are pickled and copied."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import MappingProxyType
from typing import Any


def made_again(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What ``__reduce__`` returns for such a value: it is built again from its fields, as read-only as before."""
    fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    plain = {name: dict(one) if isinstance(one, MappingProxyType) else one for name, one in fields.items()}
    return _make, (type(value), plain)


def _make(kind: Callable[..., Any], fields: dict[str, Any]) -> Any:
    return kind(**fields)
