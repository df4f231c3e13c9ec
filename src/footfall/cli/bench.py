"""Commands that measure Footfall itself: its speed, what it does from random states, what robots do with defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from footfall.cli.shared.output import (
    LawsOptions,
    print_json,
    print_rows,
    print_table,
    progress_bar,
    say,
    sentences_bar,
    text_of,
)
from footfall.cli.shared.usage import Command, FileOptions, argument, option
from footfall.errors import FootfallError, did_you_mean
from footfall.files.atomic_write import write_text
from footfall.files.html_table import markdown_row, markdown_table
from footfall.given_numbers import Bounds, Count, Whole

if TYPE_CHECKING:
    from footfall.ground import Ground
    from footfall.robot import Robot
    from footfall.study.bench.stress import Case, Outcome
    from footfall.study.outcomes import GroundOutcome, RobotOutcome


class Bench(Command):
    """Measure the speed of every law against MuJoCo's own step, and other costs in time and memory.

    footfall bench --robots quadruped robot.xml

    The spatial biped stands on its eight points, held by servos. With --robots the robots you name stand, are restless,
    fall and lie instead; each row gives the time of a step and the share of unsolved ones, of those that stand also the
    audit of 3 s, force over weight and creep. Every law and MuJoCo (mj_step(nstep=), default solver, its own contacts)
    take turns in one process; the best of many rounds counts. A ratio of 2 is twice MuJoCo's steps per second. It takes
    a minute or two, with --quick seconds.
    """

    robots: tuple[str, ...] = option(
        (),
        "built-in names, or files: .xml (MJCF) or .urdf; with --worlds also humanoid, one of MuJoCo's size of 27 DoF",
        "ROBOT...",
    )
    worlds: Annotated[tuple[int, ...], Bounds(0, open=True)] = option(
        (),
        "measure this many worlds at once instead: steps per second, standing and restless, and those of "
        "mujoco.rollout",
        "COUNT...",
    )
    derivatives: bool = option(
        False,
        "measure them instead standing: the derivative of a step, beside mjd_transitionFD in the same process; "
        "with --worlds those of many worlds per second",
    )
    check: Whole = option(
        0, "with --derivatives: compare derivatives of this many states by chance with differences instead", "STATES"
    )
    device: Literal["cpu", "cuda"] = option("cpu", "where those worlds are computed")
    laws: tuple[str, ...] = option(
        (), "the laws of those worlds, of those robots, or of --cold; all if left out", "LAW..."
    )
    quick: bool = option(False, "fewer rounds, and no cold start")
    cold: bool = option(
        False,
        "measure only the first start of each law with nothing compiled, from starting the process to the first step",
    )
    json: bool = option(False, "print one JSON object per figure as it is measured")

    def run(self) -> int:
        tables: dict[frozenset[str], list[Mapping[str, Any]]] = {}
        with sentences_bar("bench") as report:
            for row in self._measured(report):
                tables.setdefault(frozenset(row), []).append(row)
                if self.json:
                    print_json(row)
        for rows in () if self.json else tables.values():
            print_rows(rows)
        return 0 if tables else 1

    def _measured(self, report: Callable[[str], None]) -> Iterator[Mapping[str, Any]]:
        """What is asked for, a figure at a time."""
        from footfall.contact import laws
        from footfall.study.bench import speeds

        chosen = self.laws or None
        if self.worlds and self.derivatives:
            from footfall.study.bench.derivatives import LAWS, world_derivative_speeds

            say(f"bench: derivatives of many worlds at once on {speeds.machine()}")
            robots = self.robots or ("spatial-biped",)
            yield from world_derivative_speeds(robots, self.worlds, chosen or LAWS, device=self.device, say=report)
        elif self.worlds:
            say(f"bench: many worlds at once on {speeds.machine()}")
            for name in self.robots or ("spatial-biped",):
                robot, some = speeds.world_robot(name), chosen or speeds.LAWS
                yield from speeds.world_speeds(robot, self.worlds, some, device=self.device, say=say)
        elif self.derivatives:
            from footfall.study.bench.derivatives import CHECKED, check_derivatives, derivative_speeds

            if self.check:
                yield from check_derivatives(self.robots or CHECKED, self.check, report, chosen)
                return
            effort = speeds.Effort(rounds=5 if self.quick else 15, steps=20, settle=500)
            yield from derivative_speeds(self.robots or ("spatial-biped",), effort, report, chosen)
        elif self.cold:
            yield from speeds.cold_starts(*(chosen or laws()))
        elif self.robots:
            yield from speeds.robot_table(self.robots, 1 if self.quick else 3, report, chosen)
        else:
            yield from speeds.bench(speeds.QUICK if self.quick else speeds.Effort(), report)


class Stress(LawsOptions):
    """Release robots from random states on every kind of ground, under every law, and count what goes wrong.

    footfall stress 20 --laws time-stepping --robots hanavan

    footfall stress 4 --laws spring-damper --robots chance --chance 3

    Robots start above the ground, on it, up to 10 cm inside or fallen, bent, tilted and moving, and run for 30 steps of
    1 ms. Columns: unsolved counts steps whose forces the law calls unsolved; diverged counts runs that ended early;
    cone those with friction beyond the cone; pull those with forces that pull; audit those that started clear of the
    ground and fail the audit; energy is the largest energy gain of these, relative to the energy at the start; slowest
    is the processor time of the slowest step, and times standing is that over a step of the same robot standing at home
    on a plane. The same seed gives the same states. Exits with 1 if a run diverges, leaves the cone, pulls or fails.
    """

    count: Count = argument("COUNT", "runs of each robot on each ground under each law", 10)
    robots: tuple[str, ...] = option(
        ("all", "chance"),
        "all that are built in, robots made by chance, built-in names or model files",
        "all|chance|NAME|FILE...",
    )
    chance: Count = option(10, "how many robots are made by chance")
    grounds: tuple[str, ...] = option(("all",), "plane, slope, stairs, heightfield, function", "all|KIND...")
    seed: Whole = option(0, "another one gives other states and other robots")
    out: Path | None = option(None, "write a page of what was tried and what failed, as Markdown", "FILE.md")
    json: bool = option(False, "print one JSON object for every law, robot and ground")

    def run(self) -> int:
        from footfall.study.bench.stress import coulomb_laws, random_states

        laws = coulomb_laws(self.chosen_laws())
        robots, grounds = self._robots(), self._grounds()
        found: list[Case] = []
        with progress_bar("random states", "cases") as bar:
            for case in random_states(laws, robots, grounds, self.count, seed=self.seed):
                found.append(case)
                if self.json:
                    print_json({"law": case.law, "robot": case.robot, "ground": case.ground, **asdict(case.outcome)})
                if bar is not None:
                    bar(len(found), len(laws) * len(robots) * len(grounds))
        if not self.json:
            columns = ("law", *(f"{name}>" for name in STRESS_COLUMNS))
            print_table(columns, [[*key, *_outcome_cells(one)] for key, one in _summed(found, ("law",)).items()])
        if self.out is not None:
            say(f"wrote {write_text(self.out, self._page(robots, len(grounds), found))}")
        return int(any(case.outcome.failed for case in found))

    def _robots(self) -> list[Robot]:
        from footfall.robot import load_robot
        from footfall.robot import robots as all_robots
        from footfall.study.bench.stress import chance_robot

        made = [chance_robot(1000 * self.seed + k) for k in range(self.chance)] if "chance" in self.robots else []
        names = [*(all_robots() if "all" in self.robots else ()), *self.robots]
        return [*(load_robot(name) for name in names if name not in ("all", "chance")), *made]

    def _grounds(self) -> dict[str, Ground]:
        from footfall.study.bench.stress import rough_grounds

        known = rough_grounds()
        for kind in self.grounds:
            if kind not in known and kind != "all":
                raise FootfallError(f"no ground is called '{kind}': {did_you_mean(kind, list(known))}")
        return known if "all" in self.grounds else {kind: known[kind] for kind in self.grounds}

    def _page(self, robots: list[Robot], grounds: int, found: Sequence[Case]) -> str:
        """What was tried, what failed and how often, by law, as Markdown."""
        from footfall.robot import robots as all_robots
        from footfall.study.bench.stress import DT, STEPS

        built_in = len({one.name for one in robots} & set(all_robots()))
        chance = self.chance * ("chance" in self.robots)
        laws = "" if self.laws == ("all",) else f" --laws {' '.join(self.laws)}"
        named = " ".join(Path(one).name for one in self.robots)
        rows = [(f"`{law}`", *_outcome_cells(one)) for (law,), one in _summed(found, ("law",)).items()]
        wrong = _summed([case for case in found if case.outcome.failed or case.outcome.unsolved], ("law", "robot"))
        heads = ("law", "robot", "unsolved", "diverged", "cone", "pull", "audit fails")
        where = [
            (f"`{law}`", robot, *map(str, (one.unsolved, one.diverged, one.cone, one.pull)), _times(one.audit_rows))
            for (law, robot), one in wrong.items()
        ]
        return text_of(
            "stress.md.txt",
            count=self.count,
            grounds=grounds,
            steps=STEPS,
            dt=1e3 * DT,
            robots=len(robots),
            built_in=built_in,
            files=len(robots) - built_in - chance,
            chance=chance,
            date=date.today().isoformat(),
            command=f"footfall stress {self.count}{laws} --robots {named} --chance {self.chance} --seed {self.seed}",
            table=markdown_table(("law", *STRESS_COLUMNS), rows),
            failures="## Where\n\n" + markdown_table(heads, where) if where else "Nothing failed.\n",
        )


STRESS_COLUMNS = (
    *("runs", "steps", "unsolved", "diverged", "cone", "pull", "clear", "audit", "energy", "slowest, ms"),
    "times standing",
)


def _outcome_cells(found: Outcome) -> list[str]:
    counts = [str(getattr(found, name)) for name in STRESS_COLUMNS[:8]]
    return [*counts, f"{found.energy:.1e}", f"{1e3 * found.slowest:.2f}", f"{found.times_standing:.0f}"]


def _summed(found: Sequence[Case], by: Sequence[str]) -> dict[tuple[str, ...], Outcome]:
    """What happened in all cases, by law, or by law and robot, and so on."""
    sums: dict[tuple[str, ...], Outcome] = {}
    for case in found:
        key = tuple(getattr(case, name) for name in by)
        sums[key] = sums[key] + case.outcome if key in sums else case.outcome
    return sums


def _times(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counted.items()))


class Survey(LawsOptions, FileOptions):
    """Let robots stand, be pushed and walk under contact laws, with defaults, and write one table.

    footfall survey quadruped --laws time-stepping mujoco --steps 6 --out robots.md

    footfall survey quadruped --laws mujoco --steps 4 --grounds --out grounds.md

    Each row is written as soon as it is known.
    """

    robots: tuple[str, ...] = argument(
        "all|ROBOT...", "built-in names that can walk, or files: .xml (MJCF) or .urdf", ("all",)
    )
    steps: Count = option(10, "of the walk")
    grounds: bool = option(False, "walk on slopes, bumps, steps and ice too, and write a second table")
    pictures: bool = option(False, "draw each robot in its walk too, into the folder images beside the table")
    actuators: Literal["as-is", "motor"] = option("motor", "motor: servos become torque motors of their force range")
    out: Path | None = option(None, "write the table here, as Markdown", "FILE.md")

    def run(self) -> int:
        from footfall.robot import load_robot
        from footfall.study.outcomes import ground_outcomes, robot_outcome

        self.check_file(self.out)
        laws = self.chosen_laws()
        names = WALKERS if self.robots == ("all",) else self.robots
        files = [Path(name).suffix in (".xml", ".urdf") for name in names]
        given: list[dict[str, Any]] = [{"actuators": self.actuators} if file else {} for file in files]
        robots = [load_robot(name, **own) for name, own in zip(names, given, strict=True)]
        shown = " ".join(Path(one).name for one in names)
        more = " --grounds" * self.grounds + " --pictures" * self.pictures
        command = f"footfall survey {shown} --laws {' '.join(laws)} --steps {self.steps}{more} --out robots.md"
        head = {"steps": self.steps, "command": command, "date": date.today().isoformat()}
        self._write(text_of("survey.md.txt", **head, pictures=self._pictures(robots)), "w")
        pairs = [(robot, law) for robot in robots for law in laws]
        found: list[RobotOutcome] = []
        for robot, law in pairs:
            say(f"{robot.name} under {law}")
            found.append(robot_outcome(robot, law, steps=self.steps))
            self._write(markdown_row(survey_cells(found[-1])))
        elsewhere: list[GroundOutcome] = []
        if self.grounds:
            self._write(text_of("survey_grounds.md.txt", steps=self.steps))
            for robot, law in pairs:
                say(f"{robot.name} on other grounds under {law}")
                here = list(ground_outcomes(robot, law, steps=self.steps))
                elsewhere += here
                if not math.isnan(here[0].asked):  # it can walk
                    self._write(markdown_row((robot.name, law, *map(at_a_glance, here))))
        if self.json:
            print_json([*map(asdict, found), *map(asdict, elsewhere)])
            return 0
        titles = ("robot", "law", "stands", "push>", "walks", "asked>", "reached>", "cost>", "audit")
        print_table(titles, [survey_cells(one) for one in found], title="What robots do with defaults alone")
        if elsewhere:
            print_rows(elsewhere, GROUND_COLUMNS, title="On other grounds")
        return 0

    def _pictures(self, robots: list[Robot]) -> str:
        """Draw the robots that walk; returns the pictures as Markdown."""
        from footfall.show.video import write_picture
        from footfall.study.outcomes import in_mid_step

        if self.out is None or not self.pictures:
            return ""
        shown = []
        for robot in robots:
            say(f"a picture of {robot.name}")
            try:
                rec, time = in_mid_step(robot)
            except FootfallError:
                continue  # it does not walk, and the table says why
            file = write_picture(rec, time, self.out.parent / "images" / f"{robot.name}.png")
            shown.append(f'<img src="{file.parent.name}/{file.name}" alt="{robot.name} walks" width="160">')
        return " ".join(shown) + "\n\n" if shown else ""

    def _write(self, text: str, mode: Literal["a", "w"] = "a") -> None:
        """Add to the file, if there is one."""
        if self.out is not None:
            with self.out.open(mode, encoding="utf-8") as file:
                file.write(text)


#: Built-in robots with legs and a free base.
WALKERS = ["full-humanoid", "hanavan", "point-biped", "quadruped", "small-humanoid", "spatial-biped", "torque-biped"]

GROUND_COLUMNS = {"robot": "robot", "ground": "ground", "law": "law", "outcome": "outcome"}
GROUND_COLUMNS |= {"asked m/s>": "asked:.2f", "reached m/s>": "speed:.2f", "drift m>": "drift:+.2f"}


def survey_cells(one: RobotOutcome) -> tuple[str, ...]:
    """A row of the table."""
    walk = one.walk
    numbers = ("", "", "", "")
    if walk is not None:
        numbers = (f"{one.asked:.2f} m/s", f"{walk.speed:.2f} m/s", f"{walk.cost_of_transport:.2f}", walk.audit)
    push = "" if math.isnan(one.push) else "any" if math.isinf(one.push) else f"{one.push:.3f} s"
    return (one.robot, one.law, one.stands, push, one.walks, *numbers)


def at_a_glance(one: GroundOutcome) -> str:
    """What became of a walk in some words: the speed, that the robot was held up, or when it fell."""
    return f"{one.speed:.2f} m/s" if one.outcome == "walks" else one.outcome.partition(":")[0]
