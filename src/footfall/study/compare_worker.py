"""The worker program of a comparison: it reads folders with tasks, one per line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from footfall.study.compare_task import ANSWER, RECORDING, Task, simulate


def do(folder: Path) -> None:
    """Run the task in a folder, and leave the recording and the answer there."""
    answer = simulate(Task.unpacked((folder / "task").read_bytes()))
    if answer.recording is not None:
        answer.recording.save(folder / RECORDING)
    (folder / ANSWER).write_text(json.dumps({"why": answer.why}), encoding="utf-8")


def main() -> None:
    """Do one task after the other, and report on the original standard output; controllers get another one."""
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        do(Path(line.removesuffix("\n")))
        reports.write("done\n")
        reports.flush()
