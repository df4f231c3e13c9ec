"""The assumptions on which a learned policy depends: each one of its simulation is changed until the policy fails.

    found = autopsy("policy.onnx", "scene.xml", contract="playground", command=(0.8, 0.0, 0.0), out="autopsy")
    print(found)
    found.report("autopsy.html")

The reference is the run under the law the policy is said to come from. A policy *works* in a run if the robot does not
fall and comes no farther from where the command leads than half of the way (``measure.course``). Everything that was
computed is on disk at once: the same call continues.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from footfall.arguments import public
from footfall.contact import law_class, laws
from footfall.contact.base import Law
from footfall.control.policy.observation import turned_back
from footfall.control.policy.policy import Policy
from footfall.errors import FootfallError, StudyError, without_warnings
from footfall.files.json_values import json_value
from footfall.measure import Audit, Event, audit, course, phases
from footfall.measure.audit import text_table
from footfall.measure.slip import creep_distance
from footfall.recording import Recording, load_recording
from footfall.show.report import write_report
from footfall.show.tables import table as html_table
from footfall.standing import fallen
from footfall.study.sweep import sweep
from footfall.study.sweep.settings import put_in, run_options, simulation_of

#: Largest distance from the commanded end, as a share of the commanded path, at which a robot has kept its course.
OFF_COURSE = 0.5
#: Rounds of bisection between the last value that works and the first that does not.
ROUNDS = 4
#: Most runs that are done in this process, since starting others takes as long.
FEW = 2
#: Interval of checks whether the robot has fallen, s.
GLANCE = 0.2
#: Factor by which a law's numeric options are raised and lowered in the search for the decisive one.
FACTOR = 30.0
MEASURES = (
    *("fell", "fell_at_s", "off_course", "turned_rad", "peak_vertical_force_bw", "slip_distance_m", "creep_distance_m"),
    *("max_penetration_m", "cost_of_transport", "unsolved_samples"),
)
#: Rows of the audit, with the artefact of contact that each shows.
ARTEFACTS = {
    "gap times force": "forces at a distance",
    "open force": "forces without contact",
    "pulling force": "pulling",
    "penetration": "penetration",
    "friction cone": "friction beyond the cone",
    "friction direction": "friction that drives",
    "normal energy": "energy from nothing",
    "friction energy": "energy from nothing",
}
#: Least creep of a foot, as a share of the path, that counts as an artefact of the walk; a tyre begins to slide at
#: about this slip.
CREEPS = 0.05


#: rad, of the slopes that are tried.
SLOPES = (0.05, 0.1, 0.175, 0.26)


class Axis(NamedTuple):
    """One assumption: its values from the reference outward, and the settings for each value."""

    name: str
    unit: str
    nominal: float
    values: tuple[float, ...]
    changes: Callable[[float], dict[str, Any]]


@dataclass(frozen=True)
class Breaking:
    """The value of an assumption at which a policy fails.

    Attributes:
        assumption: its name.
        works, breaks: the values between which it does; ``breaks`` is NaN where it never did.
        nominal, last: the reference's value, and the last one that was tried.
        unit: of all of them.
        distance: ``breaks`` from the reference, as a share of the range that was tried; inf if it never broke.
        why: how the robot failed there.
    """

    assumption: str
    works: float
    breaks: float
    nominal: float
    last: float
    unit: str
    distance: float
    why: str


@dataclass(frozen=True)
class Parting:
    """The first event of a foot at which two runs differ by more than the time between two actions."""

    good: Event | None
    bad: Event | None
    number: int  # of the event, from 1
    time: float  # s

    def __str__(self) -> str:
        said = [f"{one.foot} {one.what} at {one.time:.3f} s" if one else "nothing" for one in (self.good, self.bad)]
        return f"event {self.number}: {said[0]} where the policy works, {said[1]} where it does not"


@public
@dataclass(frozen=True, eq=False, repr=False)
class Autopsy:
    """The results of an autopsy.

    Attributes:
        policy, robot: names.
        rows: of the map, one for each run: assumption, value, works, measures.
        breakings: of each numeric assumption, the nearest to the reference first.
        options: rows of runs in which one option of a broken law was changed.
        parting: of the reference and the bad run; None if nothing broke.
        bad: what was changed in the bad run.
        good_run, bad_run: recordings.
    """

    policy: str
    robot: str
    rows: Sequence[Mapping[str, Any]]
    breakings: Sequence[Breaking]
    options: Sequence[Mapping[str, Any]]
    parting: Parting | None
    bad: str
    good_run: Recording
    bad_run: Recording | None

    @property
    def works(self) -> bool:
        """Whether it works in its reference run."""
        return bool(self.rows[0]["works"])

    @property
    def sound(self) -> bool:
        """Whether it works in its reference run without an artefact of contact."""
        return self.works and not self.lives_on

    @property
    def broken_laws(self) -> list[str]:
        """Laws under which it does not work, beside that of the reference."""
        return [row["value"] for row in self.rows[1:] if row["assumption"] == "law" and not row["works"]]

    @cached_property
    def audited(self) -> Audit:
        """The audit of the reference run."""
        return audit(self.good_run)

    @cached_property
    def lives_on(self) -> Mapping[str, str]:
        """Artefacts that the reference run shows, with their sizes: failed rows of its audit, and creeping feet."""
        failed = [row for row in self.audited.rows if row.verdict == "fail" and row.name in ARTEFACTS]
        found = {
            ARTEFACTS[row.name]: f"{row.name}: {row.worst:.3g} {row.unit}, {row.limit:.3g} allowed" for row in failed
        }
        crept, way = float(creep_distance(self.good_run)[-1].max(initial=0.0)), course(self.good_run)
        if crept > CREEPS * way.length:
            found["creep"] = f"a foot creeps {crept:.3g} m on {way.length:.3g} m of way"
        return found

    def sentences(self) -> list[str]:
        """The results in sentences."""
        first, said = self.rows[0], []
        said.append(f"Under {first['value']} it {'works' if first['works'] else 'does not work: ' + first['why']}.")
        tried = [row for row in self.rows[1:] if row["assumption"] == "law"]
        broken = ", ".join(f"{row['value']} ({row['why']})" for row in tried if not row["works"])
        said.append(
            f"It works under {sum(row['works'] for row in tried) + self.works} of {len(tried) + 1} laws"
            + (f", and not under {broken}." if broken else ".")
        )
        found = [one for one in self.breakings if math.isfinite(one.distance)]
        if found:
            one = found[0]
            said.append(
                f"The assumption that breaks it first is {one.assumption}: it works at {one.works:.3g}{one.unit} and "
                f"not at {one.breaks:.3g}{one.unit} ({one.why}); the reference has {one.nominal:.3g}{one.unit}."
            )
        elif self.works:
            said.append("No number that was changed breaks it within the range that was tried.")
        said += self._why_laws_break_it()
        if self.parting is not None:
            said.append(f"The two runs part at {self.parting}.")
        if self.lives_on:
            said.append("It lives on: " + ", ".join(f"{name} ({size})" for name, size in self.lives_on.items()) + ".")
        else:
            said.append("Its reference run shows no artefact of contact.")
        return said

    def _why_laws_break_it(self) -> list[str]:
        """Sentences on the decisive options of laws that break the policy."""
        said = []
        for law in self.broken_laws:
            tried = [row for row in self.options if row["law"] == law]
            cures = ", or with ".join(row["value"] for row in tried if row["works"])
            if tried:
                said.append(
                    f"Under {law} it works again with {cures}." if cures else f"No option of {law} alone helps."
                )
        return said

    def __str__(self) -> str:
        return "\n".join(self.sentences()) + "\n\n" + text_table(HEAD, map_lines(self.rows), right=RIGHT)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The results as values for JSON."""
        parting = None if self.parting is None else asdict(self.parting) | {"bad_run": self.bad}
        return json_value(
            {
                "policy": self.policy,
                "robot": self.robot,
                "works": self.works,
                "sound": self.sound,
                "findings": self.sentences(),
                "lives_on": dict(self.lives_on),
                "breakings": [asdict(one) for one in self.breakings],
                "broken_laws": list(self.broken_laws),
                "map": [dict(row) for row in self.rows],
                "options": [dict(row) for row in self.options],
                "parting": parting,
                "audit": self.audited.to_dict(),
            }
        )

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One HTML page: findings, the map, and both replays side by side, where the runs part."""
        runs = {f"{self.rows[0]['value']} (reference)": self.good_run}
        if self.bad_run is not None:
            runs[self.bad.removeprefix("law ")] = self.bad_run
        said = "".join(f"<li>{escape(one)}</li>" for one in self.sentences())
        parts = [f"<ul>{said}</ul>", _map_table("The map", self.rows)]
        if self.options:
            parts.append(_map_table("Options of laws that break it, one at a time", self.options))
        begins = {} if self.parting is None else {"begin": self.parting.time}
        title = f"Autopsy of {self.policy} on {self.robot}"
        return write_report(runs, path, title=title, above="\n".join(parts), options=begins)


#: Columns of the map, and those that are numbers.
HEAD = ("assumption", "value", "works", "off course", "turned deg", "peak x weight", "slip m", "creep m", "why")
RIGHT = (3, 4, 5, 6, 7)


def map_lines(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The cells of the map, a line for each run."""

    def figures(row: Mapping[str, Any]) -> list[str]:
        turned = row.get("turned_rad")
        values = [row.get("off_course"), None if turned is None else math.degrees(turned)]
        values += [row.get(name) for name in ("peak_vertical_force_bw", "slip_distance_m", "creep_distance_m")]
        return ["" if value is None else f"{value:.3g}" for value in values]

    return [
        [row["assumption"], str(row["shown"]), "yes" if row["works"] else "no", *figures(row), row["why"]]
        for row in rows
    ]


def _map_table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [[escape(cell) for cell in line] for line in map_lines(rows)]
    for line in lines:
        line[2] = line[2] if line[2] == "yes" else "<strong>no</strong>"
    return html_table(title, HEAD, lines, wide=True)


@public
def autopsy(
    policy: str | os.PathLike[str],
    robot: str | os.PathLike[str],
    *,
    contract: str | os.PathLike[str] | None = None,
    command: Sequence[float] = (),
    law: str = "mujoco",
    friction: float = 0.7,
    dt: float = 2e-3,
    duration: float = 8.0,
    only: Sequence[str] = (),
    pose: str | None = None,
    action_scale: float | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Autopsy:
    """Change one assumption at a time until the policy breaks, and say what it lives on.

    Args:
        policy: its file, ONNX or TorchScript.
        robot: a built-in name, or a file.
        contract: as in :class:`footfall.control.Policy`.
        command: what is asked for: forward and left in m/s, turn in rad/s; left out, the contract's.
        law: of the reference run: the one that is nearest to the simulator of the training.
        friction: of the reference run.
        dt: its step, s.
        duration: of each run, s.
        only: names of assumptions, all if left out: law, friction, step, restitution, latency, mass, strength, noise,
            slope, step up.
        pose: of the robot, a keyframe; left out, the contract's.
        action_scale: as in :class:`footfall.control.Policy`.
        out: folder in which everything computed is kept, so that the same call continues.
        workers: processes, one per core if left out.
        progress: called with what is computed, the runs done, and their number.
    """
    import tempfile

    controller: dict[str, Any] = {"name": "policy", "file": str(policy)}
    if contract is not None:
        controller["contract"] = str(contract)
    if len(command):
        controller["command"] = [float(one) for one in command]
    if action_scale is not None:
        controller["action_scale"] = float(action_scale)
    base: dict[str, Any] = {
        "robot": {"name": str(robot)} if pose is None else {"name": str(robot), "pose": pose},
        "law": law,
        "ground": {"kind": "plane", "friction": float(friction)},
        "controller": controller,
        "dt": float(dt),
        "duration": float(duration),
    }
    sim = simulation_of(put_in(base, {}))
    asked = Policy(**{name: value for name, value in controller.items() if name != "name"})
    layout = asked.start(sim.robot, sim.ground, sim.dt).layout  # refuse a policy that does not fit before any run
    if len(layout.contract.command.default) != 3:
        raise StudyError("an autopsy asks for forward, left and turn, and the contract's command is not these three")
    with tempfile.TemporaryDirectory(prefix="footfall-autopsy-") as aside:
        folder = Path(aside) if out is None else Path(out).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        known = {one.name: one for one in _axes(sim.robot, asked, layout.contract.control_dt, base)}
        unknown = [name for name in only if name not in (*known, "law")]
        if unknown:
            raise StudyError(f"no assumption is called '{unknown[0]}'; there are: law, {', '.join(known)}")
        axes = [axis for name, axis in known.items() if not only or name in only]
        work = _Work(base, _key(policy, contract), folder, workers, progress)
        others = [name for name in laws() if name != law] if not only or "law" in only else []
        return _perform(work, axes, sim.robot.name, others, layout.contract.control_dt)


def _key(*files: str | os.PathLike[str] | None) -> str:
    """A key that changes with the content of a file."""
    digest = hashlib.sha256()
    for one in files:
        digest.update(Path(one).read_bytes() if one is not None and Path(one).is_file() else str(one).encode())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class _Work:
    """The runs of an autopsy, each a case of a sweep."""

    base: Mapping[str, Any]
    key: str
    folder: Path
    workers: int | None
    progress: Callable[[str, int, int], None] | None

    def run(self, what: str, cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Rows of the cases: assumption, value and changes of settings."""
        if not cases:
            return []
        same = json.dumps(dict(self.base), sort_keys=True)
        columns = {
            "changes": [json.dumps(case["changes"], sort_keys=True) for case in cases],
            "base": [same] * len(cases),
            "key": [self.key] * len(cases),
        }
        told = None if self.progress is None else lambda done, total: self.progress(what, done, total)  # type: ignore[misc]
        workers = 1 if len(cases) <= FEW else self.workers
        found = sweep(
            examined, table=columns, measures=MEASURES, out=self.folder / what, workers=workers, progress=told
        )
        names = (*found.outputs, "status", "message")
        rows = ({name: row[name] for name in names} for row in found.rows())
        return [_judged(case, row) for case, row in zip(cases, rows, strict=True)]

    def recording(self, name: str, changes: Mapping[str, Any]) -> Recording:
        """A run with every step on record, kept in the folder."""
        place = self.folder / f"{name}-{hashlib.sha256(json.dumps(changes, sort_keys=True).encode()).hexdigest()[:8]}"
        if place.exists():
            return load_recording(place)
        with without_warnings():
            rec = _until_it_falls(put_in(self.base, changes))
        rec.save(place)
        return rec


def examined(changes: str, base: str, key: str) -> Recording:
    """One run of an autopsy: settings and their changes as JSON; ``key`` changes with the policy and its contract."""
    full = put_in(json.loads(base), json.loads(changes))
    # Forces between two samples are recorded as mean and peak.
    return _until_it_falls(full, every=max(1, round(4e-3 / float(full["dt"]))))


def _until_it_falls(full: Mapping[str, Any], every: int = 1) -> Recording:
    """The run of full settings, ended when the robot has fallen."""
    sim, options = simulation_of(full), run_options(full)
    world = sim.start(controller=options["controller"], record_dt=every * sim.dt)
    vertical = np.array([0.0, 0.0, 1.0])
    standing, upright = float(world.qpos[2]), turned_back(world.qpos[3:7], vertical)
    left, steps = round(options["duration"] / sim.dt), every * max(1, round(GLANCE / (every * sim.dt)))
    while left > 0:
        world.step(n=min(steps, left))
        left -= steps
        tilt = math.acos(float(np.clip(upright @ turned_back(world.qpos[3:7], vertical), -1.0, 1.0)))
        height = float(world.qpos[2] - sim.ground.height(*world.qpos[:2]))
        if world.status or fallen.py_func(height, standing, tilt):
            break
    return world.record()


def _judged(case: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the map: whether the policy works, and why not."""
    if row["status"] == "failed":
        why = row["message"] or "the run failed"
    elif row.get("fell"):
        why = f"falls at {row['fell_at_s']:.2f} s"
    elif row.get("off_course") is None or row["off_course"] > OFF_COURSE:
        turned = math.degrees(row.get("turned_rad") or 0.0)
        why = f"turns {turned:.0f}°" if abs(turned) > 45.0 else "does not get there"
    else:
        why = ""
    return {**case, "works": not why, "why": why, **row}


def _axes(robot: Any, policy: Policy, control_dt: float, base: Mapping[str, Any]) -> list[Axis]:
    """The numeric assumptions, over the ranges of real floors, robots and their electronics."""
    friction, dt = float(base["ground"]["friction"]), float(base["dt"])
    height = float(robot.home[2])
    steps = [dt * factor for factor in (0.5, 0.25, 2.0, 4.0) if _divides(control_dt, dt * factor)]
    slope, step = {"ground.kind": "slope"}, {"ground.kind": "stairs", "ground.run": 10.0, "ground.count": 1}
    found = [
        Axis("friction", "", friction, _times(friction, 0.75, 0.5, 0.35, 0.25, 0.15), _put("ground.friction")),
        Axis("more friction", "", friction, _times(friction, 1.5, 2.0), _put("ground.friction")),
        Axis("smaller step", " s", dt, tuple(x for x in steps if x < dt), _put("dt")),
        Axis("larger step", " s", dt, tuple(x for x in steps if x > dt), _put("dt")),
        Axis("restitution", "", 0.0, (0.0, 0.2, 0.4, 0.6), _put("law.restitution", {"law": "time-stepping"})),
        Axis("latency", " s", 0.0, _times(control_dt, 0.25, 0.5, 1.0, 2.0, 3.0), _put("controller.latency")),
        Axis("lighter", " x mass", 1.0, (0.85, 0.7, 0.5), _put("robot.mass_scale")),
        Axis("heavier", " x mass", 1.0, (1.15, 1.3, 1.5, 2.0), _put("robot.mass_scale")),
        Axis("strength", " x torque", 1.0, (0.85, 0.7, 0.5, 0.35), _put("robot.strength")),
        Axis("slope up", " rad", 0.0, SLOPES, _put("ground.angle", slope)),
        Axis("slope down", " rad", 0.0, SLOPES, _put("ground.angle", slope, sign=-1.0)),
        Axis(
            "step up",
            " m",
            0.0,
            _times(height, 0.02, 0.05, 0.1, 0.2),
            _put("ground.rise", {**step, "ground.start": 2.0 * height}),
        ),
    ]
    if any(policy.layouts[0].sensors.values()):
        found.append(Axis("noise", " x the training's", 0.0, (1.0, 2.0, 4.0), _put("controller.noise")))
    return [axis for axis in found if axis.values]


def _divides(whole: float, part: float) -> bool:
    return abs(whole / part - round(whole / part)) < 1e-6 and part <= whole


def _times(value: float, *factors: float) -> tuple[float, ...]:
    return tuple(value * one for one in factors)


def _put(path: str, others: Mapping[str, Any] | None = None, *, sign: float = 1.0) -> Callable[[float], dict[str, Any]]:
    """Puts a value into the setting of a path, with ``others`` that it needs."""
    return lambda value: {**(others or {}), path: sign * value}


def _case(assumption: str, value: Any, changes: Mapping[str, Any], *, shown: str = "", law: str = "") -> dict[str, Any]:
    """A run of the map: the settings that an assumption of this value changes, and under which law if that is one."""
    return {"assumption": assumption, "value": value, "shown": shown or value, "changes": changes, "law": law}


def _on(axis: Axis, value: float) -> dict[str, Any]:
    return _case(axis.name, value, axis.changes(value), shown=f"{value:.4g}{axis.unit}")


def _perform(work: _Work, axes: Sequence[Axis], robot: str, others: Sequence[str], control_dt: float) -> Autopsy:
    """The runs of an autopsy under the reference law and ``others``, along ``axes``."""
    law = work.base["law"]
    cases = [_case("law", name, {} if name == law else {"law": name}, law=name) for name in (law, *others)]
    rows = work.run("map", [*cases, *(_on(axis, value) for axis in axes for value in axis.values)])
    breakings = _bisected(work, axes, rows) if rows[0]["works"] else []
    broken = [row["value"] for row in rows[1 : len(cases)] if not row["works"]]
    bad = _nearest_bad(rows, breakings) if rows[0]["works"] else None
    good_run = work.recording("good", {})
    bad_run = None if bad is None else work.recording("bad", bad["changes"])
    return Autopsy(
        policy=Path(str(work.base["controller"]["file"])).name,
        robot=robot,
        rows=rows,
        breakings=breakings,
        options=work.run("options", [case for name in broken for case in _other_options(work, name)]),
        parting=None if bad_run is None else part(good_run, bad_run, control_dt),
        bad="" if bad is None else f"{bad['assumption']} {bad['shown']}",
        good_run=good_run,
        bad_run=bad_run,
    )


def _bisected(work: _Work, axes: Sequence[Axis], rows: Sequence[Mapping[str, Any]]) -> list[Breaking]:
    """The values at which assumptions break the policy, by simultaneous bisection, the nearest to the reference
    first.
    """
    brackets: dict[str, tuple[float, float, str]] = {}
    for axis in axes:
        good = axis.nominal
        for row in (row for row in rows if row["assumption"] == axis.name):
            if not row["works"]:
                brackets[axis.name] = good, row["value"], row["why"]
                break
            good = row["value"]
    by_name = {axis.name: axis for axis in axes}
    for turn in range(ROUNDS):
        halves = {
            name: 0.5 * (good + bad)
            for name, (good, bad, _) in brackets.items()
            if not name.endswith(" step") and good != bad  # steps of time have no middle
        }
        cases = [_on(by_name[name], value) for name, value in halves.items()]
        for row in work.run(f"bisection-{turn + 1}", cases):
            good, bad, why = brackets[row["assumption"]]
            mine = (row["value"], bad, why) if row["works"] else (good, row["value"], row["why"])
            brackets[row["assumption"]] = mine
    found = []
    for axis in axes:
        good, bad, why = brackets.get(axis.name, (axis.values[-1], math.nan, ""))
        far = abs(axis.values[-1] - axis.nominal)
        distance = math.inf if math.isnan(bad) else abs(bad - axis.nominal) / far if far else 0.0
        found.append(Breaking(axis.name, good, bad, axis.nominal, axis.values[-1], axis.unit, distance, why))
    return sorted(found, key=lambda one: one.distance)


def _other_options(work: _Work, name: str) -> list[dict[str, Any]]:
    """Cases in which one option of a law differs: every other choice, and numbers far larger or smaller."""
    sim = simulation_of(put_in(work.base, {"law": name}))
    law, hints = sim.law, get_type_hints(law_class(name))
    choices = {one: get_args(hint) for one, hint in hints.items() if get_origin(hint) is Literal}
    values = {} if law.native else law.resolve(sim.setting)._asdict()
    found: list[tuple[str, dict[str, Any]]] = []
    for one in fields(law):
        chosen = getattr(law, one.name)
        if one.name in choices:
            others = [other for other in choices[one.name] if other != chosen]
            found += [(f"{one.name} = {other}", {one.name: other}) for other in others]
        elif (
            one.name in values and not isinstance(chosen, bool) and values[one.name] and math.isfinite(values[one.name])
        ):
            for factor in (FACTOR, 1.0 / FACTOR):
                value = float(values[one.name]) * factor
                if _is_allowed(law, one.name, value):
                    found.append((f"{one.name} = {value:.3g} ({factor:.2g} x)", {one.name: value}))
    cases: list[tuple[str, dict[str, Any]]] = [(said, {"law": {"name": name, **options}}) for said, options in found]
    quarter = 0.25 * float(work.base["dt"])
    cases.append((f"a step of {quarter:.3g} s", {"law": {"name": name}, "dt": quarter}))
    return [_case(name, said, changes, law=name) for said, changes in cases]


def _is_allowed(law: Law, name: str, value: float) -> bool:
    try:
        law.replace(**{name: value})
    except FootfallError:
        return False
    return True


def _nearest_bad(rows: Sequence[Mapping[str, Any]], breakings: Sequence[Breaking]) -> Mapping[str, Any] | None:
    """The bad run to set beside the reference: a law that breaks the policy, else the nearest number that does."""
    bad = [row for row in rows if not row["works"] and row["status"] == "done"]
    by_law = [row for row in bad if row["assumption"] == "law"]
    if by_law:
        return by_law[0]
    order = {one.assumption: one.distance for one in breakings}
    return min(bad, key=lambda row: order.get(row["assumption"], math.inf)) if bad else None


def part(good: Recording, bad: Recording, apart: float) -> Parting | None:
    """The first event of a foot that differs in kind, or by more than ``apart`` (s), in two runs.

    Before that time the robot settles, and the policy has not acted yet.
    """
    one, other = ([event for event in phases(rec, apart).events if event.time >= apart] for rec in (good, bad))
    for k in range(max(len(one), len(other))):
        a, b = (events[k] if k < len(events) else None for events in (one, other))
        same = a is not None and b is not None and (a.foot, a.what) == (b.foot, b.what)
        if same and a is not None and b is not None and abs(a.time - b.time) <= apart:
            continue
        time = min(event.time for event in (a, b) if event is not None)
        return Parting(a, b, k + 1, time)
    return None
