"""Keep the figures of a night and draw all nights: speed against MuJoCo, and unsolved steps under stress, by law.

    python tools/keep_figures.py FOLDER --bench bench.json --stress stress.json

The files hold what `footfall bench --json` and `footfall stress --json` print, an object per line. FOLDER gets a line
in figures.jsonl and new drawings.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any

from footfall.show.style import new_figure

#: By drawing, which field of which file it shows, and what its axis is called.
DRAWN = {
    "speed.svg": ("bench", "ratio_to_mujoco", "steps per second, times MuJoCo's"),
    "unsolved.svg": ("stress", "unsolved", "unsolved steps from random states"),
}


def figures_of(file: Path, field: str) -> dict[str, float]:
    """A field of the rows of a file, by their texts; of stress by law, over all robots."""
    found: dict[str, float] = defaultdict(float)
    for line in filter(None, file.read_text().splitlines()):
        row: dict[str, Any] = json.loads(line)
        if isinstance(row.get(field), int | float):
            texts = [row["law"]] if field == "unsolved" else [one for one in row.values() if isinstance(one, str)]
            found[", ".join(texts)] += row[field]
    return dict(found)


def draw(nights: list[dict[str, Any]], drawing: str, path: Path) -> None:
    """Every figure of a drawing over the nights."""
    with new_figure(4.0) as figure:
        axes = figure.add_subplot()
        for name in sorted({name for night in nights for name in night.get(drawing, ())}):
            shown = [(night["day"], night[drawing][name]) for night in nights if name in night.get(drawing, ())]
            days, values = zip(*shown, strict=True)
            axes.plot([date.fromisoformat(day) for day in days], values, marker=".", label=name)
        axes.set(xlabel="night", ylabel=DRAWN[drawing][2])
        figure.legend(fontsize=6, loc="outside right upper")
        figure.savefig(path)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("folder", type=Path)
    given.add_argument("--bench", type=Path, required=True)
    given.add_argument("--stress", type=Path, required=True)
    options = given.parse_args()
    night = {name: figures_of(getattr(options, file), field) for name, (file, field, _) in DRAWN.items()}
    if not any(night.values()):
        raise SystemExit("neither file holds figures")
    kept = options.folder / "figures.jsonl"
    with kept.open("a") as out:
        out.write(json.dumps({"day": time.strftime("%Y-%m-%d"), **night}) + "\n")
    nights = [json.loads(line) for line in kept.read_text().splitlines()]
    for name in DRAWN:
        draw(nights, name, options.folder / name)


if __name__ == "__main__":
    main()
