"""`footfall autopsy`: what a learned policy lives on, and which assumption breaks it first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from footfall.cli.shared.output import kept_if_interrupted, print_json, print_table, progress_bar, say
from footfall.cli.shared.usage import Command, argument, option
from footfall.given_numbers import NotNegative, Positive

if TYPE_CHECKING:
    from footfall.study.autopsy import Autopsy as Found


class Autopsy(Command):
    """Find out what a learned policy lives on: change one assumption of its simulation at a time until it breaks.

    footfall autopsy policy.onnx --robot scene.xml --contract playground --command 0.8 0 0

    It runs under every contact law, and under the reference law with other friction, steps, restitution, latency, mass,
    strength, noise, slopes and a step; bisects where each breaks it; searches the options of laws that break it for the
    one that decides; finds the first contact event at which a good and a bad run part; and audits the reference run. If
    it is killed, the same command continues. Exits with 1 if the policy does not work in its reference run, or shows
    an artefact of contact there.
    """

    policy: Path = argument("POLICY", "a policy, .onnx or .pt")
    robot: str = option(..., "a built-in name, or a file: .xml (MJCF) or .urdf", "ROBOT")
    contract: str | None = option(
        None, "playground, mjlab, isaac-lab, unitree-rl-gym, or a TOML file; left out, the file beside it", "NAME|FILE"
    )
    command: tuple[float, ...] = option(
        (), "what is asked for: forward and left in m/s, turn in rad/s; left out, the contract's"
    )
    law: str = option("mujoco", "of the reference run: nearest to the simulator of the training", "NAME")
    friction: NotNegative = option(0.7, "of the reference run")
    dt: Positive = option(2e-3, "step of the reference run", unit="s")
    duration: Positive = option(8.0, "of each run", unit="s")
    pose: str | None = option(None, "keyframe that the robot stands in; left out, the contract's")
    action_scale: float | None = option(None, "rad or m of an action of 1; left out, the contract's")
    only: tuple[str, ...] = option(
        (), "assumptions to change, all if left out: law, friction, latency, heavier, ...", "ASSUMPTION..."
    )
    out: Path | None = option(
        None, "folder for what is computed and the report; left out, autopsy-POLICY beside you", "DIR"
    )
    workers: int | None = option(None, "processes at a time", "N", note="(default: one per core)")
    json: bool = option(False, "print one JSON object")

    def run(self) -> int:
        from footfall.study.autopsy import autopsy

        folder = self.out or Path(f"autopsy-{self.policy.stem}")
        stage = ""
        with kept_if_interrupted(folder), progress_bar(f"autopsy of {self.policy.name}", "of a round") as bar:

            def show(what: str, done: int, total: int) -> None:
                nonlocal stage
                if bar is not None:
                    bar(done, max(1, total))
                elif what != stage:
                    say(f"{what}: {total} runs")
                stage = what

            own = {name: value for name, value in vars(self).items() if name not in ("json", "out")}
            found = autopsy(**own, out=folder, progress=show)
        page = found.report(folder / "autopsy.html")
        if self.json:
            print_json(found.to_dict() | {"folder": str(folder), "report": str(page)})
        else:
            _show(found)
            say(f"the report, with both replays side by side, is {page}")
        return int(not found.sound)


def _show(found: Found) -> None:
    from footfall.study.autopsy import HEAD, RIGHT, map_lines

    columns = [f"{name}>" if k in RIGHT else name for k, name in enumerate(HEAD)]
    print_table(columns, map_lines(found.rows), title=f"{found.policy} on {found.robot}", one_line=True)
    for sentence in found.sentences():
        say(sentence)
