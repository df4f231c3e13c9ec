"""What a contact law teaches: policies trained under each law and under all of them, each judged under every law.

    python tools/law_study.py train --robot go1.xml --out study --device cuda --worlds 8192  # on a GPU
    python tools/law_study.py judge --out study  # on the cores of a CPU
    python tools/law_study.py page --out study  # writes table.json, table.md and table.svg

Trainings are those of `footfall train velocity`, several processes at once; each checkpoint, policy and judged run is
kept as soon as it is there, and the same command continues. A law that many worlds do not offer is judged only.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.contact import law_class, laws
from footfall.files.atomic_write import write_text
from footfall.measure.course import headings
from footfall.measure.summary import summarise
from footfall.show.style import new_figure
from footfall.study.autopsy import examined
from footfall.study.sweep import sweep

#: The policies that were trained on all laws of the study, a share of the worlds each.
ALL = "all"
#: What is asked for, in shares of the largest command of the training: forward, left, turn.
ASKED = ((0.5, 0.0, 0.0), (1.0, 0.0, 0.0), (-0.5, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.5, 0.0, 0.5))
#: Friction coefficients: the ends of the range that `footfall train` draws from.
FRICTION = (0.4, 1.0)
#: Time of each run, and of its beginning, in which the robot gets into its stride, s.
DURATION, STRIDE = 5.0, 2.0
#: Columns of the tables: what it is called, its unit, its decimals.
SHOWN = {
    "falls": ("falls", "% of runs", 0),
    "speed_error": ("error of the mean velocity", "m/s", 2),
    "turn_error": ("error of the mean turn", "rad/s", 2),
    "peak_force": ("peak force", "weights, median of the runs", 1),
}


def trainable() -> list[str]:
    """The laws that many worlds offer."""
    return [name for name in laws() if not (law_class(name).native or law_class(name).event_driven)]


def train(given: argparse.Namespace) -> int:
    """Train every policy of the study; 0 if all are there, 1 if time ran out or one failed."""
    out, names = Path(given.out), given.laws or trainable()
    plan = {"robot": str(Path(given.robot).resolve()), "laws": names, "seeds": given.seeds}
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "study.json", json.dumps(plan, indent=1))
    waiting = [
        (f"{name}-{seed}", names if name == ALL else [name], seed) for seed in given.seeds for name in (*names, ALL)
    ]
    waiting = [job for job in waiting if not (out / job[0] / "policy.onnx").is_file()]
    end, running, failed = time.monotonic() + 60.0 * given.minutes, {}, []
    try:
        while (waiting or running) and time.monotonic() < end:
            while waiting and len(running) < given.at_once:
                name, own, seed = waiting.pop(0)
                command = [sys.executable, "-m", "footfall", "train", "velocity", "--robot", given.robot]
                command += ["--laws", *own, "--seed", str(seed), "--out", str(out / name), "--device", given.device]
                command += ["--worlds", str(given.worlds), "--iterations", str(given.iterations)]
                with (out / f"{name}.log").open("a") as log:
                    running[name] = subprocess.Popen(command, stdout=log, stderr=log)
            for name, process in list(running.items()):
                if process.poll() is not None:
                    del running[name]
                    failed += [name] if process.returncode else []
                    print(
                        f"{name}: {'failed, see its log' if process.returncode else _trained(out / name)}", flush=True
                    )
            time.sleep(0.5)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()
    for name in running:
        print(f"{name}: stopped, {_trained(out / name)}; the same command continues")
    return int(bool(running or waiting or failed))


def _trained(folder: Path) -> str:
    """How far a training has come, by its progress."""
    if not (folder / "progress.csv").is_file():
        return "no iteration yet"
    with (folder / "progress.csv").open() as file:
        *_, last = csv.DictReader(file)
    wanted = ("iteration", "seconds", "mean_return", "mean_length_s", "steps_per_second")
    return ", ".join(f"{name} {float(last[name]):.4g}" for name in wanted)


def judged(policy: str, law: str, command: str, friction: float, robot: str, duration: float) -> dict[str, Any]:
    """One run of a policy: whether the robot falls, how well it does what is asked, and its peak force in weights."""
    asked = json.loads(command)
    base = {
        "robot": {"name": robot},
        "law": law,
        "ground": {"kind": "plane", "friction": friction},
        "controller": {"name": "policy", "file": policy, "command": asked},
        "dt": 2e-3,
        "duration": duration,
    }
    rec = examined("{}", json.dumps(base), "")
    found = summarise(rec)
    fell = bool(found["fell"] or found["failed"])
    own = {"fell": fell, "peak_force": found["peak_vertical_force_bw"], "speed_error": math.nan, "turn_error": math.nan}
    if not fell:
        late = rec.time >= STRIDE
        yaw = np.unwrap(headings(rec))[late]
        x, y = rec.qvel[late, :2].T
        forward, left = np.cos(yaw) * x + np.sin(yaw) * y, np.cos(yaw) * y - np.sin(yaw) * x
        turn = (yaw[-1] - yaw[0]) / (rec.time[late][-1] - rec.time[late][0])
        own["speed_error"] = math.hypot(forward.mean() - asked[0], left.mean() - asked[1])
        own["turn_error"] = abs(turn - asked[2])
    return own


def policies(out: Path) -> dict[tuple[str, int], Path]:
    """The trained policies, by what they were trained under and their seed."""
    plan = json.loads((out / "study.json").read_text())
    named = {
        (name, seed): out / f"{name}-{seed}" / "policy.onnx" for name in (*plan["laws"], ALL) for seed in plan["seeds"]
    }
    return {key: path for key, path in named.items() if path.is_file()}


def judge(given: argparse.Namespace) -> int:
    """Judge every policy that is there under every law."""
    import law_study  # this file as a module, which other processes can import

    out = Path(given.out)
    robot = given.robot or json.loads((out / "study.json").read_text())["robot"]
    for (name, seed), path in policies(out).items():
        high = tomllib.loads(path.with_suffix(".toml").read_text())["command"]["high"]
        commands = [json.dumps([share * most for share, most in zip(one, high, strict=True)]) for one in ASKED]
        table = sweep(
            law_study.judged,
            grid={
                "policy": [str(path.resolve())],
                "robot": [robot],
                "duration": [given.duration],
                "law": list(laws()),
                "command": commands,
                "friction": list(FRICTION),
            },
            measures=(),
            out=out / f"{name}-{seed}" / "judged",
            workers=given.workers,
        )
        fell = sum(value == True for value in table.columns["fell"])  # noqa: E712  None where a run failed
        print(f"{name}, seed {seed}: {fell} of {len(table)} runs fell, {table.failed} failed", flush=True)
    return 0


def rows_of(out: Path) -> list[dict[str, Any]]:
    """A row for each policy and law: trained under, seed, judged under, and what came of the runs."""
    found = []
    for (name, seed), path in policies(out).items():
        place = path.parent / "judged" / "table.csv"
        if not place.is_file():
            continue
        with place.open() as file:
            runs = list(csv.DictReader(file))
        for law in laws():
            own = [run for run in runs if run["law"] == law]
            up = [run for run in own if run["fell"] == "False"]
            values = {key: [float(run[key]) for run in up] for key in ("speed_error", "turn_error", "peak_force")}
            found.append(
                {
                    "trained": name,
                    "seed": seed,
                    "judged": law,
                    "runs": len(own),
                    "falls": 100.0 * (1.0 - len(up) / len(own)),
                    "speed_error": float(np.mean(values["speed_error"])) if up else None,
                    "turn_error": float(np.mean(values["turn_error"])) if up else None,
                    "peak_force": float(np.median(values["peak_force"])) if up else None,
                    "worst_peak_force": max(values["peak_force"], default=None),
                }
            )
    return found


def cell(rows: Sequence[Mapping[str, Any]], trained: str, judged_under: str, key: str) -> tuple[float, float]:
    """Mean and worst over the seeds; NaN where every run fell."""
    own = [row[key] for row in rows if (row["trained"], row["judged"]) == (trained, judged_under)]
    own = [value for value in own if value is not None]
    return (float(np.mean(own)), max(own)) if own else (math.nan, math.nan)


def page(given: argparse.Namespace) -> int:
    """Write table.json, table.md and table.svg."""
    out, rows = Path(given.out), rows_of(Path(given.out))
    if not rows:
        print("nothing was judged yet", file=sys.stderr)
        return 1
    progress = {f"{name}-{seed}": _trained(path.parent) for (name, seed), path in policies(out).items()}
    write_text(out / "table.json", json.dumps({"rows": rows, "training": progress}, indent=1))
    trained = list(dict.fromkeys(row["trained"] for row in rows))
    lines = []
    for key, (title, unit, decimals) in SHOWN.items():
        lines += [f"### {title[0].upper()}{title[1:]}, {unit}: mean over the seeds (worst)", ""]
        lines += ["| trained under | " + " | ".join(f"`{law}`" for law in laws()) + " |", "|---" * 9 + "|"]
        for name in trained:
            values = [cell(rows, name, law, key) for law in laws()]
            shown = [
                f"{mean:.{decimals}f} ({worst:.{decimals}f})" if mean == mean else "falls" for mean, worst in values
            ]
            lines.append(f"| {name if name == ALL else f'`{name}`'} | " + " | ".join(shown) + " |")
        lines.append("")
    write_text(out / "table.md", "\n".join(lines))
    draw(rows, trained).savefig(out / "table.svg")
    print("\n".join(lines))
    return 0


def draw(rows: Sequence[Mapping[str, Any]], trained: Sequence[str]) -> Any:
    """Each figure as a map: trained under by judged under."""
    with new_figure(2.2 + 0.56 * len(trained) * 2, 11.0) as figure:
        for ax, (key, (title, unit, decimals)) in zip(figure.subplots(2, 2).ravel(), SHOWN.items(), strict=True):
            values = np.array([[cell(rows, name, law, key)[0] for law in laws()] for name in trained])
            ax.imshow(values, cmap="Blues", aspect="auto", vmin=0.0)
            ax.grid(visible=False)
            middle = 0.6 * np.nanmax(values, initial=0.0)
            for i, j in np.ndindex(values.shape):
                text = "falls" if math.isnan(values[i, j]) else f"{values[i, j]:.{decimals}f}"
                ax.text(j, i, text, ha="center", va="center", color="white" if values[i, j] > middle else "black")
            ax.set_xticks(range(len(laws())), laws(), rotation=35, ha="right")
            ax.set_yticks(range(len(trained)), trained)
            ax.set(title=f"{title}, {unit}", xlabel="judged under", ylabel="trained under")
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("train", help=train.__doc__)
    one.set_defaults(run=train)
    one.add_argument("--robot", required=True)
    one.add_argument("--laws", nargs="+", choices=trainable())
    one.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    one.add_argument("--worlds", type=int, default=8192)
    one.add_argument("--iterations", type=int, default=150)
    one.add_argument("--device", default="cuda")
    one.add_argument("--at-once", type=int, default=4, help="trainings that share the GPU")
    one.add_argument("--minutes", type=float, default=math.inf, help="stop then; the same command continues")
    two = parts.add_parser("judge", help=judge.__doc__)
    two.set_defaults(run=judge)
    two.add_argument("--robot", help="where it is on this machine; left out, where it was trained")
    two.add_argument("--workers", type=int)
    two.add_argument("--duration", type=float, default=DURATION)
    three = parts.add_parser("page", help=page.__doc__)
    three.set_defaults(run=page)
    for part in (one, two, three):
        part.add_argument("--out", required=True)
    given = parser.parse_args(arguments)
    return given.run(given)


if __name__ == "__main__":
    sys.exit(main())
