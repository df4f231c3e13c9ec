"""Compiled code on disk: one file per kernel and signature, named after its content, shared by all checkouts and
installs; and what is said on stderr while it is compiled.

A file is a header line with a checksum, and a pickle. Reading a pickle can run any code, so a file that another user
owns or may write is refused; a damaged one is compiled again and replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
from numba.types import BaseNamedTuple, BaseTuple

from footfall.compiled.stamp import kernel_stamp, values_reached
from footfall.process.cache_folder import cache_folder, only_ours
from footfall.version import __version__

HEADER = b"footfall compiled code 1\n"
_SUFFIX = ".kernel"
_DAY = 86400.0  # s
#: Files that were not read for this long are removed, s.
KEPT_FOR = 60 * _DAY
#: Most bytes kept; beyond it the longest unused files are removed.
KEPT_BYTES = 2_000_000_000
#: What is said, once per process, when a kernel is compiled.
COMPILING = "compiling (once; kept for the next start) ..."

# Code read or written by this process, by its key: kernels of equal content share their machine code.
_in_use: dict[str, Any] = {}
_said: set[str] = set()


def say_once(sentence: str) -> None:
    """Write a line to stderr, once per process."""
    if sentence not in _said:
        _said.add(sentence)
        print(f"footfall: {sentence}", file=sys.stderr, flush=True)


class CodeFile:
    """The files of a kernel: one for each list of argument types."""

    def __init__(self, function: FunctionType, flags: str, prefix: str = "") -> None:
        self.function, self._flags, self._prefix = function, flags, prefix

    @cached_property
    def stamp(self) -> str | None:
        """The fingerprint of the kernel, taken at first use, since it may call kernels that are defined after it."""
        stamp = kernel_stamp(self.function, modules=True)
        # The linker finds symbols by name, so two versions of a function in one process need different ones.
        self.function.__qualname__ += f"_{(stamp or os.urandom(8).hex())[:16]}"
        return stamp

    def read(self, signature: Any, machine: Any, rebuild: Callable[[bytes], Any]) -> Any:
        """The compiled code for these types on this kind of machine, or ``None``; ``rebuild`` makes it of bytes."""
        key, folder = self._key(signature, machine), cache_folder("compiled")
        if key is None:
            return None
        if key not in _in_use:
            payload = None if folder is None else read_file(self._path(folder, key), key)
            if payload is None:
                return None
            try:
                _in_use[key] = rebuild(payload)
            except Exception:  # a pickle of another version: compile again, whatever the reason
                return None
        return _in_use[key]

    def write(self, signature: Any, machine: Any, payload: bytes) -> None:
        """Keep what was compiled; if that is impossible, say so once."""
        key, folder = self._key(signature, machine), cache_folder("compiled")
        if key is None:
            return
        if folder is None:
            say_once(
                "no folder can be written to keep compiled code, so that every start compiles again: "
                "set FOOTFALL_CACHE to one of your own"
            )
            return
        try:
            write_file(self._path(folder, key), key, payload)
            prune(folder)
        except OSError as error:
            say_once(f"compiled code cannot be kept in {folder}: {error.strerror or error}")

    def _key(self, signature: Any, machine: Any) -> str | None:
        if self.stamp is None:
            return None
        versions = (platform.python_version(), numba.__version__, llvmlite.__version__, own_version())
        args = getattr(signature, "args", signature)
        parts = (self.stamp, self._flags, str(signature), classes_of(args), versions, machine)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{self._name()}-{key[:24]}{_SUFFIX}"

    def _name(self) -> str:
        return f"{self._prefix}{self.function.__name__.strip('<>')}-{(self.stamp or '')[:16]}"

    def is_kept(self) -> bool:
        """Whether the function as it stands is on disk, for some types."""
        folder = cache_folder("compiled")
        return folder is not None and any(folder.glob(f"{self._name()}-*{_SUFFIX}"))


#: Calls of kernels that are compiled at their first call, which loaded code may make: symbol and pickled signature.
asked: dict[tuple[str, bytes], None] = {}


def late_calls(function: FunctionType) -> list[tuple[str, bytes]]:
    """Those that a function may make; its code on disk says them to the process that reads it."""
    symbols = {getattr(value, "symbol", None) for value in values_reached(function)}
    return [call for call in asked if call[0] in symbols]


def note_calls(calls: list[tuple[str, bytes]]) -> None:
    """Note those that code from disk may make; an error, so that it is compiled again, where one does not exist."""
    for symbol, written in calls:
        if (symbol, written) not in asked:
            named(symbol)
            pickle.loads(written)
            asked[symbol, written] = None


def named(symbol: str) -> Any:
    """A value by its module and name."""
    module, _, name = symbol.rpartition(".")
    return getattr(import_module(module), name)


@cache
def own_version() -> str:
    """A hash of this package's files, on which compiled code depends too."""
    digest = hashlib.sha256(__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def classes_of(kinds: Any) -> list[str]:
    """Modules and fields of the named tuples among argument types, whose own names tell neither: a pickle looks classes
    up by module, and code compiled for fields in another order reads the wrong ones.
    """
    found = []
    for kind in kinds:
        kind = getattr(kind, "tuple_type", kind)
        if isinstance(kind, BaseNamedTuple):
            found.append(f"{kind.instance_class.__module__} {' '.join(kind.fields)}")
        if isinstance(kind, BaseTuple):
            found += classes_of(kind.types)
    return found


def read_file(path: Path, key: str) -> bytes | None:
    """The content of a cache file, if it is undamaged and belongs to this user."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not only_ours(status):
                say_once(f"{path} belongs to another user or may be written by one: it is not used")
                return None
            content = file.read()
    except OSError:
        return None
    head = HEADER + bytes.fromhex(key)
    payload = content[len(head) + 32 :]
    if content[: len(head)] != head or content[len(head) : len(head) + 32] != hashlib.sha256(payload).digest():
        return None
    if time.time() - status.st_mtime > _DAY:  # recently read: keep it
        with contextlib.suppress(OSError):
            os.utime(path)
    return payload


def write_file(path: Path, key: str, payload: bytes) -> None:
    """Write a temporary file and rename it, so that no reader sees half a file."""
    handle, aside = tempfile.mkstemp(prefix=path.name, suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(HEADER + bytes.fromhex(key) + hashlib.sha256(payload).digest() + payload)
        Path(aside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise


def prune(folder: Path) -> None:
    """Once a day, remove files that were not read for long, and the longest unused beyond the size that is kept."""
    mark = folder / "last-pruned"
    now = time.time()
    if mark.exists() and now - mark.stat().st_mtime < _DAY:
        return
    mark.touch()
    total = 0
    files = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process prunes too, or gives a new file its name
            files += [(path.stat(), path)] if path.suffix in (_SUFFIX, ".new") else []
    for status, path in sorted(files, key=lambda one: -one[0].st_mtime):
        total += status.st_size
        age = now - status.st_mtime
        if age > KEPT_FOR or total > KEPT_BYTES or (path.suffix == ".new" and age > _DAY):
            path.unlink(missing_ok=True)
