"""Memory and processors of this machine."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


@cache
def machine_memory() -> int:
    """Memory of this machine, or of the control group of this process, bytes."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            there = min(there, int(Path(limit).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return there


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
