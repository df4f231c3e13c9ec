"""`footfall bench`: how fast everything is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import print_json, print_table, say, sentences_bar
from footfall.errors import FootfallError


@dataclass(frozen=True)
class Command:
    """Measure the speed of every law against MuJoCo's own step, and other costs in time and memory.

    footfall bench --robots quadruped robot.xml

    The spatial biped stands on its eight points, held by servos. With --robots the robots you name stand for 3 s
    instead; each row gives whether the robot stands, unsolved samples, the audit, force over weight, creep of the feet
    and the time of a step. Every law and MuJoCo (mj_step(nstep=), default solver, its own contacts of the same soles)
    take turns in one process; the best of many rounds counts. A ratio of 2 is twice MuJoCo's steps per second. It takes
    a minute or two, with --quick seconds.
    """

    robots: Annotated[tuple[str, ...], tyro.conf.arg(metavar="ROBOT...", help_behavior_hint="")] = ()
    """built-in names, or files: .xml (MJCF) or .urdf; with --worlds also humanoid, one of MuJoCo's size of 27 DoF"""
    friction: bool = False
    """measure instead what joint friction costs them: standing, pushed and landing for 3 s, with and without it"""
    worlds: Annotated[tuple[int, ...], tyro.conf.arg(metavar="COUNT...", help_behavior_hint="")] = ()
    """measure this many worlds at once instead: steps per second, standing and restless, and those of mujoco.rollout"""
    device: Literal["cpu", "cuda"] = "cpu"
    """where those worlds are computed"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LAW...", help_behavior_hint="")] = ()
    """the laws of those worlds, of those robots, or of --cold; all if left out"""
    quick: bool = False
    """leave out the cold start and the large numbers of contact points"""
    cold: bool = False
    """measure only the first start of each law with nothing compiled, from starting the process to the first step"""
    json: bool = False
    """print one JSON object per figure as it is measured"""

    def run(self) -> int:
        if self.worlds:
            return self.run_worlds()
        if self.friction:
            return self.run_friction()
        if self.robots and not self.cold:
            return self.run_robots()
        from footfall.contact import laws
        from footfall.study.bench import QUICK, Effort, Figure, LawSpeed, bench, cold_starts

        found: list[LawSpeed | Figure] = []
        figures: Iterator[LawSpeed | Figure]
        effort = QUICK if self.quick else Effort()
        with sentences_bar("bench") as report:
            if self.cold:
                figures = cold_starts(*(self.laws or laws()))
            else:
                figures = bench(effort, report)
            for figure in figures:
                if self.json:
                    print_json(asdict(figure))
                found.append(figure)
        if self.json:
            return 0
        speeds = [one for one in found if isinstance(one, LawSpeed)]
        rows = [[one.robot, one.law, f"{one.us_per_step:.2f}", f"{one.ratio_to_mujoco:.2f}"] for one in speeds]
        if rows:
            print_table(("robot", "law", "µs per step>", "x MuJoCo's steps per second>"), rows)
        others = [one for one in found if not isinstance(one, LawSpeed)]
        print_table(("figure", "value>", "unit"), [[one.figure, f"{one.value:.4g}", one.unit] for one in others])
        return 0

    def run_robots(self) -> int:
        """Robots under every law: whether they stand, what the audit says, and what a step costs."""
        from footfall.study.bench import Effort
        from footfall.study.bench_robots import robot_table

        effort = Effort(rounds=10, steps=50, settle=500) if self.quick else Effort(rounds=60, steps=50, settle=1000)
        rows = []
        with sentences_bar("bench") as report:
            for one in robot_table(self.robots, effort, report, self.laws or None):
                if self.json:
                    print_json(asdict(one))
                stands = "yes" if one.stands else "no"  # whether mj_step holds it up says its own row
                figures = (one.force_over_weight, one.creep_mm_per_s, one.us_per_step, one.ratio_to_mujoco)
                formats = (".4f", ".2g", ".1f", ".2f")
                shown = ["" if x is None else format(x, f) for x, f in zip(figures, formats, strict=True)]
                unsolved = "" if one.unsolved is None else str(one.unsolved)
                rows.append([one.robot, one.law, stands, unsolved, one.audit, *shown, one.note])
        if not self.json:
            numbers = ("force / weight>", "creep mm/s>", "µs per step>", "x mj_step>")
            print_table(("robot", "law", "stands 3 s", "unsolved>", "audit", *numbers, ""), rows)
        return 0

    def run_friction(self) -> int:
        """Robots with and without joint friction, law by law."""
        from footfall.study.bench_friction import friction_costs

        if not self.robots:
            raise FootfallError("--friction: name the robots with --robots")
        rows = []
        with sentences_bar("bench") as report:
            for one in friction_costs(self.robots, 1 if self.quick else 3, report, self.laws or None):
                if self.json:
                    print_json(asdict(one))
                times = [f"{one.us_per_step:.1f}", f"{one.us_without:.1f}", f"{one.ratio:.2f}"]
                rows.append([one.robot, one.law, one.motion, str(one.unsolved), *times])
        if rows and not self.json:
            columns = ("unsolved>", "µs per step>", "without friction>", "ratio>")
            print_table(("robot", "law", "motion", *columns), rows)
        return 0 if rows else 1

    def run_worlds(self) -> int:
        """Many worlds at once, law by law."""
        from footfall.study.world_speeds import LAWS, machine, rollout_speed, world_robot, world_speeds

        for count in self.worlds:
            if count < 1:
                raise FootfallError(f"--worlds {count}: it must be a whole number > 0")
        say(f"bench: many worlds at once on {machine()}")
        rows = []
        precisions = ("double", "single") if self.device == "cuda" else ("double",)
        laws = self.laws or LAWS
        for name in self.robots or ("spatial-biped",):
            robot, rollout = world_robot(name), {}
            for one in world_speeds(self.worlds, laws, device=self.device, precisions=precisions, robot=robot, say=say):
                if self.device == "cpu" and one.worlds not in rollout:
                    rollout[one.worlds] = rollout_speed(one.worlds, robot=robot)
                beside = rollout.get(one.worlds)
                ratio = None if beside is None else one.standing / beside
                if self.json:
                    print_json(asdict(one) | {"mujoco_rollout": beside})
                shown = "" if ratio is None else f"{ratio:.2f}"
                speeds = [f"{one.standing:.3g}", f"{one.restless:.3g}", f"{one.unsolved:.1e}", shown]
                rows.append([one.robot, one.law, one.precision, str(one.worlds), *speeds])
        if rows and not self.json:
            speeds_of = ("steps/s standing>", "restless>", "unsolved>", "x mujoco.rollout>")
            print_table(("robot", "law", "precision", "worlds>", *speeds_of), rows)
        return 0 if rows else 1
