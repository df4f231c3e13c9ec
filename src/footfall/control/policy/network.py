"""The function of a policy: an ONNX file, a TorchScript file, or a Python function of observations."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import ControllerError, optional_package

#: Names of the output that holds the actions, where a file has several.
ACTIONS = ("continuous_actions", "actions", "action", "output")
#: Number types of ONNX.
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}


class Network(NamedTuple):
    """A policy's function, and what its file says of it."""

    fresh: Callable[[], Callable[[np.ndarray], np.ndarray]]  # of (W, size) observations, with a memory of its own
    size: int | None  # of an observation, where the file says it
    metadata: Mapping[str, str]
    name: str


def network_of(given: str | os.PathLike[str] | Callable[..., Any]) -> Network:
    """The function of a policy from a file or a function."""
    if callable(given):
        return Network(lambda: given, None, {}, getattr(given, "__name__", type(given).__name__))
    path = Path(given).expanduser()
    if not path.is_file():
        raise ControllerError(f"there is no policy '{path}'")
    kinds = {".onnx": _onnx, ".pt": _torchscript, ".jit": _torchscript, ".pth": _torchscript}
    if path.suffix.lower() not in kinds:
        raise ControllerError(f"'{path}' is no policy: its name must end in .onnx, or in .pt (TorchScript)")
    return kinds[path.suffix.lower()](path)


def _onnx(path: Path) -> Network:
    runtime = optional_package("onnxruntime", "a policy in ONNX")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is said below
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of its own kinds, without a common base
        raise ControllerError(f"'{path}' is no ONNX file that can be run: {_first_line(error)}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if not inputs or inputs[0].type not in TYPES:
        raise ControllerError(f"'{path}' takes no numbers, so it is no policy")
    if len(inputs) > 1:
        more = inputs[1]
        raise ControllerError(f"'{path}' also wants '{more.name}' {more.shape}: a memory is kept in TorchScript alone")
    first, named = inputs[0], [one.name for one in outputs]
    if len(first.shape) != 2 or (isinstance(first.shape[0], int) and first.shape[0] != 1):
        raise ControllerError(f"'{path}' takes an input of shape {first.shape}, and not one observation, [1, n]")
    answer = next((name for name in ACTIONS if name in named), named[0])

    def evaluate(observations: np.ndarray) -> np.ndarray:
        given = observations.astype(TYPES[first.type])
        rows = np.split(given, len(given)) if first.shape[0] == 1 else [given]
        try:
            found = [np.asarray(session.run([answer], {first.name: row})[0]) for row in rows]
        except Exception as error:
            raise ControllerError(f"'{path}' cannot be run: {_first_line(error)}") from error
        return np.concatenate([one.reshape(len(row), -1) for one, row in zip(found, rows, strict=True)])

    size = first.shape[-1] if isinstance(first.shape[-1], int) else None
    return Network(lambda: evaluate, size, dict(session.get_modelmeta().custom_metadata_map), path.name)


def _torchscript(path: Path) -> Network:
    torch = optional_package("torch", f"'{path}', which is TorchScript,")

    def load() -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it announces its own end
                return torch.jit.load(str(path), map_location="cpu").eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise ControllerError(f"'{path}' is no TorchScript file: {_first_line(error)}") from error

    remembers = any(name.endswith("hidden_state") for name, _ in load().named_buffers())

    def fresh() -> Callable[[np.ndarray], np.ndarray]:
        modules: list[Any] = []  # a module keeps its memory inside: where there is one, each world has a module

        def evaluate(observations: np.ndarray) -> np.ndarray:
            given = torch.from_numpy(observations.astype(np.float32))
            rows = given.split(1) if remembers else [given]
            while len(modules) < len(rows):
                modules.append(load())
            try:
                with torch.no_grad():
                    return torch.cat([module(row) for module, row in zip(modules, rows, strict=True)]).numpy()
            except RuntimeError as error:
                raise ControllerError(f"'{path}' cannot be run: {_first_line(error)}") from error

        return evaluate

    return Network(fresh, None, {}, path.name)


def _first_line(error: Exception) -> str:
    """What another library says of an error, in one line; the last line of TorchScript's is the reason."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:200]
