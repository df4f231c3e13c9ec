"""Values as JSON can hold them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any


def json_value(value: Any) -> Any:
    """The same in lists and dictionaries: numbers that JSON cannot hold become None, NumPy's values plain ones."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, which need not be imported to be known
        return json_value(value.tolist())
    return value
