"""MuJoCo's C library: its path, and its log file.

MuJoCo's default handler appends every warning to ``MUJOCO_LOG.TXT`` in the current folder; that is switched off here.
Warnings still reach the console, and those of a run its recording.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import mujoco


class _LogConfig(ctypes.Structure):
    """``mjLogConfig``."""

    _fields_ = (
        ("logto_console", ctypes.c_bool),
        ("logto_file", ctypes.c_bool),
        ("logfile", ctypes.c_char * 1024),
        ("topics", ctypes.c_int),
    )


def library_path() -> Path:
    """The file of the library."""
    folder = Path(mujoco.__file__).parent
    found = sorted(p for p in folder.iterdir() if p.name.startswith("libmujoco."))
    if not found:
        raise ImportError(f"no MuJoCo library in {folder}: is the package 'mujoco' whole?")
    return found[0]


@cache
def library() -> ctypes.CDLL:
    """The library, which the package has already loaded."""
    return ctypes.CDLL(str(library_path()))


def write_no_log_file() -> None:
    """Keep MuJoCo from writing a log file, unless somebody has given that file another name."""
    own = library()
    own.mju_getLogConfig.restype, own.mju_setLogConfig.argtypes = _LogConfig, [_LogConfig]
    config = own.mju_getLogConfig()
    if config.logto_file and config.logfile == b"MUJOCO_LOG.TXT":
        config.logto_file = False
        own.mju_setLogConfig(config)
