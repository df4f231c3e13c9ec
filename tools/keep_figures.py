"""Keep the figures of a night and draw all nights: speed against MuJoCo by law, and what went wrong under stress.

    python tools/keep_figures.py FOLDER --bench bench.json --stress stress.json

The files are what `footfall bench --json` and `footfall stress --json` print. FOLDER gets a line in figures.jsonl and
new drawings.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from footfall.show.style import new_figure

#: Names of figures that are drawn, by drawing: the last word of their path.
DRAWN = {"speed.svg": "ratio", "unsolved.svg": "unsolved"}


def numbers(value: Any, path: str = "") -> dict[str, float]:
    """All numbers inside nested mappings and lists, by their path; a named row of a list goes by its name."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {}
    if isinstance(value, int | float):
        return {path: float(value)}
    inner = value.items() if isinstance(value, dict) else [(_name(one, i), one) for i, one in enumerate(value)]
    found: dict[str, float] = {}
    for key, one in inner:
        found |= numbers(one, f"{path}/{key}" if path else str(key))
    return found


def _name(row: Any, place: int) -> str:
    named = [row[key] for key in ("robot", "law", "name", "case") if key in row] if isinstance(row, dict) else []
    return " ".join(map(str, named)) or str(place)


def draw(nights: list[dict[str, Any]], ending: str, path: Path) -> None:
    """Every figure of that name over time."""
    names = sorted({name for night in nights for name in night["figures"] if name.rpartition("/")[2] == ending})
    with new_figure(4.0) as figure:
        axes = figure.add_subplot()
        for name in names:
            shown = [(night["day"], night["figures"][name]) for night in nights if name in night["figures"]]
            axes.plot(*zip(*shown, strict=True), marker=".", label=name)
        axes.set(xlabel="night", ylabel=f"{ending}")
        if names:
            axes.legend(fontsize=5)
        figure.savefig(path)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("folder", type=Path)
    given.add_argument("--bench", type=Path, required=True)
    given.add_argument("--stress", type=Path, required=True)
    options = given.parse_args()
    figures = {}
    for file in (options.bench, options.stress):
        lines = [line for line in file.read_text().splitlines() if line.startswith("{")]
        figures |= numbers({file.stem: json.loads(lines[-1])}) if lines else {}
    if not figures:
        raise SystemExit("neither file holds figures")
    kept = options.folder / "figures.jsonl"
    with kept.open("a") as out:
        out.write(json.dumps({"day": time.strftime("%Y-%m-%d"), "figures": figures}) + "\n")
    nights = [json.loads(line) for line in kept.read_text().splitlines()]
    for name, ending in DRAWN.items():
        draw(nights, ending, options.folder / name)


if __name__ == "__main__":
    main()
