"""`footfall gait` and `footfall human-walk`: the walk of least torque of a planar biped, and a person's walk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footfall.cli.shared.output import given, print_facts, print_json, print_table, say, seconds, sentences_bar, tell
from footfall.cli.shared.task import RobotChoice
from footfall.cli.shared.usage import JsonOption, argument, option
from footfall.files.atomic_write import write_text

if TYPE_CHECKING:
    from footfall.gait.library import Found
    from footfall.gait.step_check import Row, Step


class Gait(RobotChoice, JsonOption):
    """Find the walk of a planar biped that takes least torque, and print its constraints beside what it reaches.

    footfall gait planar-biped --speed 0.5 --out walk.json

    footfall run planar-biped --controller gait --controller.gait walk.json

    The gait comes from those that ship with Footfall or were found before; any other is optimised, which needs CasADi.
    Exits with 1 where a constraint is not met.
    """

    speed: float = option(0.5, "of the walk", unit="m/s")
    step_length: float | None = option(None, "on the level", unit="m", note="(default: chosen)")
    clearance: float = option(0.03, "least height of the swing foot in the middle of a step", unit="m")
    friction: float = option(0.75, "of the ground")
    fresh: bool = option(False, "optimise even if the gait is known")
    out: Path | None = option(None, "write the gait here, as JSON")

    def run(self) -> int:
        from footfall.gait.library import find_gait
        from footfall.gait.step_check import GaitConstraints, examine, judge

        robot = self.chosen_robot()
        constraints = GaitConstraints(**given(self, "speed", "step_length", "clearance", "friction"))
        with sentences_bar(f"{robot.name}: looking for the gait") as progress:
            found = find_gait(robot, constraints, fresh=self.fresh, progress=progress)
        step = examine(robot, found.gait)
        rows = judge(robot, found.gait, constraints, step)
        files = {}
        if self.out is not None:
            files["gait"] = str(found.gait.save(self.out))
        self._tell(found, step, rows, files)
        return int(not all(row.met for row in rows))

    def _tell(self, found: Found, step: Step, rows: Sequence[Row], files: dict[str, str]) -> None:
        """Print the gait with its constraints."""
        gait, known = found.gait, {"library": "the gaits that come with Footfall", "cache": "the cache"}
        told = {
            "robot": gait.robot,
            "source": found.source,
            "speed_m_s": gait.speed,
            "step_length_m": gait.step_length,
            "step_duration_s": gait.step_duration,
            "cost_N2m2s": step.cost,
            "guess_cost_N2m2s": gait.info["guess_cost"],
            "constraints": [row._asdict() for row in rows],
            "gait": gait.to_dict(),
            "files": files,
        }
        if self.json:
            print_json(told)
            return
        table = [[row.name, row.bound, _number(row.value), row.unit, "yes" if row.met else "NO"] for row in rows]
        columns = ("constraint", "bound>", "found>", "unit", "met")
        print_table(columns, table, title=f"{gait.robot}: the walk of least torque at {gait.speed:g} m/s")
        facts = {
            "torque integral J": f"{step.cost:.5g} N²m²s (first guess: {gait.info['guess_cost']:.5g})",
            "step": f"{gait.step_length:.4g} m in {seconds(gait.step_duration)}",
            "swing foot at touch-down": f"{step.landing[0]:.3g} m/s forward, {-step.landing[1]:.3g} m/s down",
            "from": known.get(found.source, "optimisation"),
        }
        print_facts(facts | files)


def _number(value: float) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.4g}"


class HumanWalk(JsonOption):
    """Make the table of a walk from a recording: stances and strides are found in the forces.

    footfall human-walk walk.trc --forces walk_grf.mot --out walk.json

    The controller HumanWalk(data="walk.json") follows the table; on the command line, --controller.data walk.json.

    The recording is a .c3d file with markers and force plates; a .trc file with a file of forces (.mot or .csv,
    each plate with its pressure centre); or a folder of tables. Markers are known by the names of Plug-in Gait,
    OpenSim, Cortex and ISB; --marker names others. Which foot stands on which plate and the direction of walking are
    found in the data.

    Tables are joints.csv (time_s, and R_hip_x_m, R_hip_z_m, ... of hip, knee, ankle, heel and mt, R and L) and grf.csv
    (time_s, foot, plate, fx_N, fy_N, fz_N, copx_m, one row per sample of each stance); motion.csv with segment angles,
    and subject.json with mass, lengths, source and licence, if there are. Whose data it is travels with it.
    """

    recording: Path = argument("RECORDING", "a .c3d or .trc file, or a folder of tables")
    forces: Path | None = option(None, "the forces of a .trc file, where they have another name")
    marker: dict[str, str] | None = option(
        None,
        "markers that are not known by their names: of R and L, hip, knee, ankle, heel, mt; NAME+NAME is their middle",
        "R_knee=NAME...",
        pair=("the marker", "R_knee=NAME"),
    )
    up: Literal["y", "z"] | None = option(None, "the axis that is up, where markers and forces do not show it", "y|z")
    out: Path | None = option(None, "write the table here", "FILE.json")
    attribution: str | None = option(
        None, "whose data these are and under which licence, where subject.json does not say it"
    )

    def run(self) -> int:
        from footfall.gait.human.data import as_text, derive

        walk = derive(self.recording, self.attribution, forces=self.forces, markers=self.marker, up=self.up)
        if self.out is not None:
            say(f"wrote {write_text(self.out, as_text(walk))}")
        facts = {
            "mass_kg": walk.mass,
            "speed_m_s": walk.speed,
            "stride_time_s": walk.stride_time,
            "leg_m": walk.leg,
            "step_width_m": walk.step_width,
            "stance_share": walk.stance,
            "attribution": walk.attribution,
        }
        shown = {name: value if isinstance(value, str) else f"{value:.4g}" for name, value in facts.items()}
        return tell(self.json, facts, lambda: print_facts(shown))
