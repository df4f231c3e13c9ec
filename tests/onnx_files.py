"""ONNX files without the package that writes them: a linear policy in the wire format of protobuf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value(name: str, shape: tuple[int | str, ...]) -> bytes:
    dims = b"".join(_field(1, _field(1, n) if isinstance(n, int) else _field(2, n)) for n in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, dims)))


def _tensor(name: str, array: np.ndarray) -> bytes:
    dims = b"".join(_field(1, n) for n in array.shape)
    return dims + _field(2, 1) + _field(8, name) + _field(9, array.astype("<f4").tobytes())


def write_linear(
    path: Path, weights: np.ndarray, bias: np.ndarray, metadata: Mapping[str, str] | None = None, batch: int | str = 1
) -> Path:
    """The policy ``observation @ weights + bias``, weights (n, m)."""
    nodes = [
        _field(1, "obs") + _field(1, "w") + _field(2, "h") + _field(4, "MatMul"),
        _field(1, "h") + _field(1, "b") + _field(2, "actions") + _field(4, "Add"),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "policy")
    graph += _field(5, _tensor("w", weights)) + _field(5, _tensor("b", bias))
    graph += _field(11, _value("obs", (batch, weights.shape[0])))
    graph += _field(12, _value("actions", (batch, weights.shape[1])))
    model = _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))
    for key, text in (metadata or {}).items():
        model += _field(14, _field(1, key) + _field(2, text))
    path.write_bytes(model)
    return path
