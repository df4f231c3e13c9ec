"""What commands do with a simulation: run it, report what happened, leave the recording."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footfall.cli.shared.output import print_facts, print_json, progress_bar, quantity, say, seconds
from footfall.cli.shared.task import GroundOptions, OutOptions, PushOptions
from footfall.cli.shared.usage import UsageError, option
from footfall.contact.registry import DEFAULT_LAW
from footfall.errors import FootfallError, FootfallWarning
from footfall.process.interrupts import to_the_end

if TYPE_CHECKING:
    from footfall.recording import Recording
    from footfall.robot import Robot
    from footfall.simulation import Simulation


WARNINGS = 8  # of a run that are shown


def simulate(sim: Simulation, duration: float, *, folder: Path | None, **options: Any) -> Recording:
    """Run with a progress bar. Whatever ends the run, what was recorded until then is saved."""
    with warnings.catch_warnings():
        # A run that diverges or creates energy warns, and its recording says the same.
        warnings.filterwarnings("ignore", "diverged at|energy from nowhere", FootfallWarning)
        sim.run(0.0, **options | {"pushes": (), "record_dt": None})  # compiles, so that the wall time is of the run
        try:
            with progress_bar(sim.robot.name, "s") as bar:
                progress = None if bar is None else lambda done: bar(done, duration)
                return sim.run(duration, progress=progress, **options)
        except (FootfallError, KeyboardInterrupt) as error:
            rec: Recording | None = getattr(error, "recording", None)
            if rec is not None and len(rec):
                say(f"what was simulated is in {save(rec, folder or default_folder(rec))}")
            raise


def conclude(
    rec: Recording, folder: Path | None, *, json: bool, facts: Mapping[str, str] | None = None, **told: Any
) -> int:
    """Save, report, and raise the failure of a run that had one; returns the exit code, 1 after a fall.

    ``facts`` are said of the run besides those of every run; ``told`` is their JSON.
    """
    if folder is None and rec.failure is not None:
        folder = default_folder(rec)
    saved = None if folder is None else save(rec, folder)
    found = figures(rec)
    if json:
        print_json(found | told | {"recording": None if saved is None else str(saved)})
    else:
        show(rec, found, saved, facts or {})
    rec.check()
    return int(found["fell"])


def figures(rec: Recording) -> dict[str, Any]:
    """The figures of a run by name, ready for JSON."""
    from footfall.measure import assistance

    steps = round(rec.duration / rec.dt)
    wall = rec.info.get("wall_time")
    weight = rec.robot.weight
    last = float(rec.total_force[-1, 2]) if len(rec) else 0.0
    return {
        "robot": rec.robot.name,
        "ground": str(rec.ground),
        "law": rec.law.to_dict(),
        "controller": rec.info.get("controller"),
        "warnings": list(rec.info.get("warnings") or ()),
        "dt_s": rec.dt,
        "steps": steps,
        "wall_time_s": wall,
        "us_per_step": 1e6 * wall / steps if wall is not None and steps else None,
        "final_vertical_force_N": last,
        "final_vertical_force_bw": last / weight if weight else None,
        "help_from_outside": assistance(rec)._asdict() if rec.robot.root_motors.any() else None,
        **rec.summary(),
    }


def show(rec: Recording, found: dict[str, Any], saved: Path | None, others: Mapping[str, str]) -> None:
    """Print the figures of a run, and ``others`` after what it was."""
    from footfall.measure import Assistance

    speed = ""
    if found["us_per_step"]:
        pace = found["duration_s"] / found["wall_time_s"]
        speed = f", {found['us_per_step']:.3g} µs per step, {pace:.3g} x real time"
    end = found["outcome"]
    if end == "fell":
        end = f"fell at {found['fell_at_s']:.4g} s: {found['fell_because']}"
    reported = [f"{one['kind']}: {one['message']}" for one in found["warnings"]]
    unsolved = found["unsolved_samples"]
    facts: dict[str, str] = {
        "law": str(rec.law),
        "ground": found["ground"],
        "controller": str(found["controller"]),
        **others,
        "simulated": f"{found['duration_s']:.6g} s, {found['steps']} steps of {seconds(rec.dt)}",
        "wall time": seconds(found["wall_time_s"] or 0.0) + speed,
        "vertical force at the end": _force(found["final_vertical_force_N"], found["final_vertical_force_bw"], 6),
        "peak vertical force": _force(found["peak_vertical_force_N"], found["peak_vertical_force_bw"], 3),
        "deepest penetration": quantity(found["max_penetration_m"], "m"),
        "longest slip": quantity(found["slip_distance_m"], "m"),
        "longest creep": f"{quantity(found['creep_distance_m'], 'm')}, in mode stick",
        "steps not solved": f"{unsolved} of {found['samples']} recorded" if unsolved else "none",
        **({"help from outside": str(Assistance(**found["help_from_outside"]))} if found["help_from_outside"] else {}),
        "outcome": end,
        **({"warnings": "\n".join(reported[:WARNINGS])} if reported else {}),
        "recording": "not saved (--out DIR saves it)" if saved is None else str(saved),
    }
    print_facts(facts, title=f"{rec.robot.name} under {rec.law.name}")
    if len(reported) > WARNINGS:
        say(f"{len(reported) - WARNINGS} more warnings are in the recording and in --json")


def save(rec: Recording, folder: str | Path) -> Path:
    """Save a recording, to the end also where Ctrl-C is pressed; returns the path as it was typed, to be copied."""
    with to_the_end(), progress_bar(f"saving {len(rec)} samples", "") as bar:
        rec.save(folder, progress=None if bar is None else lambda done: bar(done, 1.0))
    return Path(folder)


def default_folder(rec: Recording) -> Path:
    """Where a recording goes if no folder was given."""
    return free_folder(Path("runs") / f"{rec.robot.name}-{rec.law.name}")


def free_folder(folder: Path) -> Path:
    """The folder, or the first of those with a number after its name, that does not exist yet."""
    found, number = folder, 2
    while found.exists():
        found, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return found


def _force(newtons: float, weights: float | None, digits: int) -> str:
    weighed = weights is not None and not math.isnan(weights)  # there is no weight without gravity
    return f"{newtons:.5g} N" + (f" = {weights:.{digits}f} x weight" if weighed else "")


class LawOptions(GroundOptions):
    """A robot on a ground under a law."""

    law: str = option(DEFAULT_LAW, "contact law, see footfall laws; its options are --law.OPTION", "NAME")
    law_options: dict[str, Any] = field(default_factory=dict)

    def simulation(self, robot: Robot) -> Simulation:
        """The robot on the ground under the law that were typed."""
        from footfall.contact import law
        from footfall.simulation import Simulation

        return Simulation(robot, ground=self.chosen_ground(), law=law(self.law, **self.law_options), dt=self.dt)


class UnderControl(LawOptions, PushOptions, OutOptions):
    """A robot under the controller of a command, on a ground under a law."""

    def simulated(self, robot: Robot, controller: Any) -> Recording:
        """The recording of a run as long as the controller lasts."""
        self.check_place(self.out)
        options = {"controller": controller, "pushes": self.chosen_pushes(robot)}
        return simulate(self.simulation(robot), controller.duration, folder=self.out, **options)


def loaded(folders: Sequence[Path | str], command: str) -> list[Recording]:
    """The recordings, at least one; none is an error of usage."""
    from footfall.recording import load_recording

    if not folders:
        raise UsageError(f"which recording? footfall {command} RECORDING..., a directory that footfall run --out wrote")
    return [load_recording(folder) for folder in folders]
