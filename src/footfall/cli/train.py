"""`footfall train`: a policy for a robot, trained on one contact law or several."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from footfall.cli.shared.output import kept_if_interrupted, print_facts, print_json, say, share_bar
from footfall.cli.shared.usage import JsonOption, argument, option


class Train(JsonOption):
    """Train a policy: to stand under pushes, to follow velocity commands, or to get up, for any robot.

    footfall train velocity --robot g1.xml --laws time-stepping spring-damper --device cuda

    Worlds share the laws in turn, and friction and mass are drawn for every episode. In --out are checkpoints, from
    which the same command continues, progress.csv, and at the end policy.onnx with its contract: footfall autopsy
    reads them. Needs the extra train (PyTorch, rsl_rl).
    """

    goal: Literal["stand", "velocity", "get-up"] = argument("stand|velocity|get-up", "what it is to learn")
    robot: str = option("spatial-biped", "a built-in name, or a file: .xml (MJCF) or .urdf", "ROBOT")
    laws: tuple[str, ...] = option(("spring-damper",), "contact laws, assigned to the worlds in turn", "NAME...")
    worlds: int = option(256, "how many at once; thousands on a GPU")
    iterations: int = option(300, "of PPO, each of 24 control periods of all worlds")
    friction: tuple[float, float] = option((0.4, 1.0), "lowest and highest coefficient")
    mass: tuple[float, float] = option((0.9, 1.1), "lowest and highest factor on all masses")
    body_contacts: bool = option(True, "bodies other than feet touch the ground and each other, which takes a GPU time")
    slope: float = option(0.0, "of the ground", unit="rad")
    device: Literal["cpu", "cuda"] = option("cpu", "where worlds and networks are")
    dt: float = option(2e-3, "step", unit="s")
    control_dt: float = option(0.02, "between two actions", unit="s")
    episode: float = option(10.0, "longest time of an episode", unit="s")
    action_scale: float = option(0.4, "rad or m of an action of 1")
    pose: str | None = option(None, "keyframe that the robot stands in")
    seed: int = option(0, "of all that is random")
    out: Path | None = option(None, "folder for what comes of it; left out, trained-GOAL", "DIR")

    def run(self) -> int:
        from footfall.errors import optional_package

        optional_package("gymnasium", "training")
        from footfall.learn.train import Training, train

        own = {name: value for name, value in vars(self).items() if name not in ("out", "json")}
        given, folder = Training(**own), self.out or Path(f"trained-{self.goal}")
        last: dict[str, float] = {}
        with kept_if_interrupted(folder), share_bar(self.goal, "of the iterations") as bar:

            def show(row: dict[str, float]) -> None:
                last.update(row)
                bar(int(row["iteration"]), self.iterations)

            train(given, out=folder, progress=show)
        policy = folder / "policy.onnx"
        if self.json:
            print_json({"policy": str(policy), "contract": str(folder / "policy.toml"), "folder": str(folder)} | last)
            return 0
        facts = {"policy": str(policy), "contract": str(folder / "policy.toml")}
        if last:
            facts["return of an episode"] = f"{last['mean_return']:.4g}"
            facts["length of an episode"] = f"{last['mean_length_s']:.3g} s"
        print_facts(facts, title=f"{self.goal} with {self.robot}")
        say(f"what it lives on: footfall autopsy {policy} --robot {self.robot}")
        return 0
