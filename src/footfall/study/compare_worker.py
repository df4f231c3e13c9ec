"""The process of one law of a comparison: ``python -m footfall.study.compare_worker FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from footfall.study.compare_task import ANSWER, RECORDING, Task, simulate


def main(folder: Path) -> None:
    """Run the task in a folder, and leave the recording and the answer there."""
    answer = simulate(Task.unpacked((folder / "task").read_bytes()))
    if answer.recording is not None:
        answer.recording.save(folder / RECORDING)
    (folder / ANSWER).write_text(json.dumps({"why": answer.why}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
