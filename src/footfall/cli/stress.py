"""`footfall stress`: run every law from random states, and count what goes wrong."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from footfall.cli.shared.output import print_json, print_table, progress_bar

if TYPE_CHECKING:
    from footfall.study.random_states import Outcome


@dataclass(frozen=True, kw_only=True)
class Command:
    """Release robots from random states on every kind of ground, under every law, and count what goes wrong.

    footfall stress 20 --laws time-stepping --robots hanavan

    Robots start above the ground, on it, or up to 10 cm inside, bent, tilted and moving, and run for 30 steps of 1 ms.
    Columns: unsolved counts steps whose forces the law calls unsolved; diverged counts runs that ended early; cone
    those with friction beyond the cone; pull those with forces that pull; energy is the largest energy gain, relative
    to the energy at the start, of a run that started clear of the ground; slowest is the CPU time of the slowest step,
    and times standing is that time over a step of the same robot standing at home on a plane.
    """

    count: tyro.conf.Positional[int] = 10
    """runs of each robot on each ground under each law"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME...")] = ("all",)
    """which laws, see footfall laws"""
    robots: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME|FILE...")] = ("all",)
    """built-in robots or model files"""
    grounds: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|KIND...")] = ("all",)
    """plane, slope, stairs, heightfield, function"""
    seed: int = 0
    """another one gives other states"""
    each: bool = False
    """a row for every robot and ground, not only for every law"""
    json: bool = False
    """print one JSON object for every law, robot and ground"""

    def run(self) -> int:
        from footfall.contact import laws as all_laws
        from footfall.errors import FootfallError, did_you_mean
        from footfall.robot import load_robot
        from footfall.robot import robots as all_robots
        from footfall.study.random_states import Outcome, coulomb_laws, random_states, rough_grounds

        if self.count < 1:
            raise FootfallError(f"count = {self.count} but it must be a whole number >= 1")
        laws = coulomb_laws(all_laws() if self.laws == ("all",) else self.laws)
        robots = [load_robot(name) for name in (all_robots() if self.robots == ("all",) else self.robots)]
        known = rough_grounds()
        for kind in self.grounds:
            if kind not in known and kind != "all":
                raise FootfallError(f"no ground is called '{kind}': {did_you_mean(kind, list(known))}")
        grounds = known if "all" in self.grounds else {kind: known[kind] for kind in self.grounds}
        rows: dict[tuple[str, ...], Outcome] = {}
        total = len(laws) * len(robots) * len(grounds)
        with progress_bar("random states", total, "cases") as bar:
            for done, case in enumerate(random_states(laws, robots, grounds, self.count, seed=self.seed), 1):
                if self.json:
                    print_json({"law": case.law, "robot": case.robot, "ground": case.ground, **asdict(case.outcome)})
                key = (case.law, case.robot, case.ground) if self.each else (case.law,)
                rows[key] = rows.get(key, Outcome()) + case.outcome
                if bar is not None:
                    bar(done)
        if not self.json:
            head = ("law", "robot", "ground") if self.each else ("law",)
            counts = ("runs>", "steps>", "unsolved>", "diverged>", "cone>", "pull>")
            numbers = (*counts, "energy>", "slowest, ms>", "times standing>")
            print_table((*head, *numbers), [[*key, *_cells(found)] for key, found in rows.items()])
        bad = any(found.diverged or found.cone or found.pull for found in rows.values())
        return 1 if bad else 0


def _cells(found: Outcome) -> list[str]:
    counts = (found.runs, found.steps, found.unsolved, found.diverged, found.cone, found.pull)
    return [*map(str, counts), f"{found.energy:.1e}", f"{1e3 * found.slowest:.2f}", f"{found.times_standing:.0f}"]
