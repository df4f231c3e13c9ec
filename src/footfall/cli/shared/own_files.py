"""A user's own Python files: the laws they register, the controllers they define."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from footfall.cli.shared.usage import UsageError
from footfall.errors import FootfallError, did_you_mean


def import_file(name: str) -> ModuleType:
    """Import a module by name, or a Python file by path."""
    try:
        if not name.endswith(".py"):
            return import_module(name)
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise FootfallError(f"cannot import '{name}': there is no such file")
        spec = spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError("it is not a Python file")
        module = module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    except FootfallError:
        raise
    except Exception as error:
        raise FootfallError(f"cannot import '{name}': {type(error).__name__}: {error}") from error
    return module


def is_own(controller: str) -> bool:
    """Whether a controller was typed as a file: FILE.py or FILE.py:NAME."""
    return controller.partition(".py")[2][:1] in ("", ":") and ".py" in controller


def own_controller(text: str) -> Any:
    """The controller NAME of FILE.py:NAME, or the one named like the file; a class is called without arguments."""
    file, _, name = text.partition(".py")
    module = import_file(f"{file}.py")
    name = name.lstrip(":") or Path(file).name
    known = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
    if name not in known:
        raise UsageError(f"{file}.py has no controller '{name}': {did_you_mean(name, known)}; choose by {file}.py:NAME")
    found = getattr(module, name)
    return found() if isinstance(found, type) else found
