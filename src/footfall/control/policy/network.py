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
    first, *memory = inputs
    named = [one for name in ACTIONS for one in outputs if one.name == name]
    answer = named[0] if named else outputs[0]
    kept = [one for one in outputs if one is not answer][: len(memory)]  # rsl_rl's order: h_in, c_in and h_out, c_out
    for one, then in zip(memory, [*kept, *[None] * len(memory)], strict=False):
        sized = all(isinstance(n, int) for n in one.shape)
        if then is None or not sized or list(one.shape) != list(then.shape):
            raise ControllerError(
                f"'{path}' also wants '{one.name}' {one.shape}, which is no memory that it gives back"
            )
    single = first.shape[0] == 1 or bool(memory)
    wanted, names = TYPES[first.type], [answer.name, *(one.name for one in kept)]

    def fresh() -> Callable[[np.ndarray], np.ndarray]:
        remembered: dict[int, list[np.ndarray]] = {}

        def ask(row: int, observations: np.ndarray) -> np.ndarray:
            own = remembered.setdefault(row, [np.zeros(one.shape, dtype=TYPES[one.type]) for one in memory])
            given = {first.name: observations, **{one.name: value for one, value in zip(memory, own, strict=True)}}
            try:
                found, *remembered[row] = session.run(names, given)
            except Exception as error:
                raise ControllerError(f"'{path}' cannot be run: {_first_line(error)}") from error
            return np.asarray(found)

        def evaluate(observations: np.ndarray) -> np.ndarray:
            given = observations.astype(wanted)
            if not single:
                return ask(0, given)
            return np.concatenate([ask(row, given[row : row + 1]).reshape(1, -1) for row in range(len(given))])

        return evaluate

    size = first.shape[-1] if isinstance(first.shape[-1], int) else None
    return Network(fresh, size, dict(session.get_modelmeta().custom_metadata_map), path.name)


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
