"""Make the table of the human walk that comes with Footfall from the processed recording.

python tools/derive_human_walk.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from footfall.gait.human.data import as_text, derive

if __name__ == "__main__":
    table = Path(__file__).parents[1] / "src/footfall/gait/human/human_walk.json"
    table.write_text(as_text(derive(sys.argv[1])), encoding="utf-8")
