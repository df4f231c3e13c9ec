"""Public functions with wrong arguments, thousands of them: each answers with a result or with one sentence."""

from __future__ import annotations

import inspect
import math
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import footfall as ff
from footfall.papers import run_paper

#: What a parameter may be given by mistake.
WRONG: list[Any] = [
    None, True, -1, 0, 2.5, math.nan, math.inf, -math.inf, 1e300, -1e-300, 10**30, 1j,
    "", "nonsense", "1e3", "\0", "long" * 999, b"x", Path("no/such/file"), object(), int, len,
    lambda: None, lambda x, y, z: None, (), [], [1, 2], [None], ["a"], [[]], [[1.0], [2.0, 3.0]], (math.nan, 1.0),
    {}, {"a": 1}, {1: 2}, {"k": "x"},
    np.zeros(0), np.zeros(3), np.full((2, 3), math.nan), np.array("x"), np.array([object()]), np.array(1.0),
]  # fmt: skip
#: Calls of each function, beside every parameter alone with every wrong value.
PAIRS = 20


@cache
def sim() -> ff.Simulation:
    return ff.Simulation("brick", law="spring-damper")


@cache
def rec() -> ff.Recording:
    return sim().run(0.02)


@cache
def biped() -> ff.Robot:
    return ff.load_robot("planar-biped")


@cache
def compared() -> Any:
    return ff.compare("brick", laws=["mujoco"], duration=0.002)


@cache
def swept() -> Any:
    return ff.sweep(SETTINGS, grid={"ground.friction": [0.5, 0.6]}, workers=1)


def small(**more: Any) -> dict[str, Any]:
    return {"W": np.eye(3), "free": [0.0, 0.0, -1.0], "friction": 0.5, **more}


MEASURED = {"time": np.arange(4.0), "channels": {"fz": np.arange(4.0)}, "units": {"fz": "N"}, "up": "z", "source": "it"}
GROUND = ff.Ground.plane()
PUSH = ff.Push("brick", force=(1.0, 0.0, 0.0))
SETTINGS = {"robot": "brick", "law": "spring-damper", "duration": 0.002}
#: Right arguments of every function that is checked, by name; what a call leaves behind is in the folder of a test.
CALLS: dict[str, tuple[Callable[[], Callable[..., Any]], dict[str, Any]]] = {
    "Ground.plane": (lambda: ff.Ground.plane, {}),
    "Ground.slope": (lambda: ff.Ground.slope, {"angle": 0.1}),
    "Ground.stairs": (lambda: ff.Ground.stairs, {}),
    "Ground.heightfield": (lambda: ff.Ground.heightfield, {"heights": np.zeros((3, 3)), "size": (1.0, 1.0)}),
    "Ground.function": (lambda: ff.Ground.function, {"f": lambda x, y: 0.0}),
    "Ground.gap": (lambda: GROUND.gap, {"points": np.zeros(3)}),
    "Ground.height": (lambda: GROUND.height, {"x": 0.0, "y": 0.0}),
    "Ground.frame": (lambda: GROUND.frame, {"point": np.zeros(3)}),
    "Ground.friction_at": (lambda: GROUND.friction_at, {"points": np.zeros(3)}),
    "FrictionTable": (lambda: ff.ground.FrictionTable, {"values": [[0.5]], "size": (1.0, 1.0)}),
    "Foot.lowest": (lambda: biped().feet[0].lowest, {"turn": np.eye(3)}),
    "Push": (lambda: ff.Push, {"body": "brick"}),
    "Simulation": (lambda: ff.Simulation, {"robot": "brick"}),
    "Simulation.run": (lambda: sim().run, {"duration": 0.002}),
    "Simulation.start": (lambda: sim().start, {}),
    "Simulation.place": (lambda: sim().place, {}),
    "Simulation.state": (lambda: sim().state, {"recording": rec(), "time": 0.0}),
    "World.step": (lambda: sim().start().step, {}),
    "World.restore": (lambda: sim().start().restore, {"state": sim().start().state()}),
    "Worlds": (lambda: ff.Worlds, {"simulation": sim(), "count": 2}),
    "Worlds.step": (lambda: ff.Worlds(sim(), 2).step, {}),
    "Worlds.run": (lambda: ff.Worlds(sim(), 2).run, {"duration": 0.002}),
    "Worlds.reset": (lambda: ff.Worlds(sim(), 2).reset, {}),
    "load_robot": (lambda: ff.load_robot, {"source": "brick"}),
    "Robot.with_points": (lambda: biped().with_points, {"points": (2, 2)}),
    "Recording.state": (lambda: rec().state, {"time": 0.0}),
    "Recording.save": (lambda: rec().save, {"path": "saved"}),
    "Recording.export": (lambda: rec().export, {"path": "table.csv"}),
    "Recording.report": (lambda: rec().report, {"path": "report.html"}),
    "Recording.plot": (lambda: rec().plot, {"name": "grf"}),
    "load_recording": (lambda: ff.load_recording, {"path": "none"}),
    "load_motion": (lambda: ff.load_motion, {"path": "none.trc"}),
    "load_forces": (lambda: ff.load_forces, {"path": "none.mot"}),
    "load_joint_motion": (lambda: ff.files.load_joint_motion, {"path": "none.csv"}),
    "law": (lambda: ff.law, {"name": "spring-damper"}),
    "law_class": (lambda: ff.contact.law_class, {"name": "mujoco"}),
    "point_law": (lambda: ff.point_law, {"name": "own"}),
    "audit": (lambda: ff.audit, {"rec": rec()}),
    "compare": (lambda: ff.compare, {"robot": "brick", "laws": ["mujoco"], "duration": 0.002, "workers": 1}),
    "sweep": (lambda: ff.sweep, {"work": SETTINGS, "grid": {"ground.friction": [0.5]}, "workers": 1}),
    "fit": (lambda: ff.fit, {"law": "spring-damper", "data": []}),
    "identify_friction": (lambda: ff.study.identify_friction, {"data": rec()}),
    "Samples": (lambda: ff.study.Samples, {"number": 2, "bounds": {"a": (0.0, 1.0)}}),
    "load_table": (lambda: ff.study.load_table, {"path": "none"}),
    "design": (lambda: ff.study.design, {"settings": SETTINGS, "vary": {}, "goals": {}}),
    "named_controller": (lambda: ff.control.named_controller, {"name": "posture"}),
    "controller_class": (lambda: ff.control.controller_class, {"name": "posture"}),
    "walker": (lambda: ff.control.walker, {"robot": biped()}),
    "write_report": (lambda: ff.show.write_report, {"recordings": rec(), "path": "report.html"}),
    "export": (lambda: ff.export.export, {"rec": rec(), "path": "table.csv"}),
    "solve.impact": (
        lambda: ff.solve.impact,
        {"mass_matrix": np.eye(3), "jacobian": np.eye(3), "velocity": -np.ones(3), "friction": 0.5, "restitution": 0.5},
    ),
    **{f"solve.{name}": (lambda name=name: getattr(ff.solve, name), {"M": np.eye(2), "q": -np.ones(2)})
       for name in ("lemke", "fischer_burmeister")},
    **{f"solve.{name}": (lambda name=name: getattr(ff.solve, name), small())
       for name in ("cone_newton", "cone_gauss_seidel", "polyhedral", "polyhedral_lcp")},
    "solve.cone_residual": (lambda: ff.solve.cone_residual, small(impulse=np.zeros(3))),
    **{f"control.{name}": (lambda name=name: getattr(ff.control, name), {})
       for name in ("Balance", "Posture", "Walk", "QuadrupedWalk", "HumanWalk", "GaitWalk")},
    "control.Follow": (lambda: ff.control.Follow, {"motion": "none.csv"}),
    **{f"law {name}": (lambda name=name: ff.contact.law_class(name), {}) for name in ff.laws()},
    **{f"measure.{name}": (lambda name=name: getattr(ff.measure, name), {"rec": rec()})
       for name in ff.measure.__all__ if inspect.isfunction(getattr(ff.measure, name)) and name != "support_polygon"},
    "Recording.foot": (lambda: rec().foot, {"name": "brick"}),
    "Comparison.plot": (lambda: compared().plot, {"name": "no plot"}),
    "Comparison.report": (lambda: compared().report, {"path": "a/folder"}),
    "Comparison.save": (lambda: compared().save, {"folder": "compared"}),
    "Comparison[...]": (lambda: compared().__getitem__, {"law": "mujoco"}),
    "Audit[...]": (lambda: ff.audit(rec()).__getitem__, {"name": "penetration"}),
    "SweepTable.plot": (lambda: swept().plot, {"output": "peak_vertical_force_bw"}),
    "SweepTable[...]": (lambda: swept().__getitem__, {"name": "status"}),
    "Measured": (lambda: ff.files.Measured, MEASURED),
    "Measured.resampled": (lambda: ff.files.Measured(**MEASURED).resampled, {"rate": 100.0}),
    "Measured.low_passed": (lambda: ff.files.Measured(**MEASURED).low_passed, {"cutoff": 3.0}),
    "JointMotion": (
        lambda: ff.files.JointMotion,
        {"time": [0.0, 1.0], "joints": np.zeros((2, 1)), "names": ["knee"], "position": None, "rotation": None},
    ),
    "contact.register": (lambda: ff.contact.register, {"law": ff.contact.MujocoNative}),
    "Recording.slice": (lambda: rec().slice, {}),
    "papers.run_paper": (lambda: run_paper, {"name": "none"}),
    "measure.support_polygon": (lambda: ff.measure.support_polygon, {"rec": rec(), "k": 0}),
}  # fmt: skip


def calls(function: Callable[..., Any], right: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """The right arguments with one that is wrong, with two, and with one whose name is wrong."""
    kinds = inspect.signature(function).parameters.values()
    names = [one.name for one in kinds if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    found: list[dict[str, Any]] = [{name: value} for name in names for value in WRONG]
    # What a function of the user's own raises while it is told of progress is the user's.
    found = [one for one in found if not callable(one.get("progress"))]
    draw = np.random.default_rng(seed)
    for _ in range(PAIRS if names else 0):
        chosen = draw.choice(names, size=min(2, len(names)), replace=False)
        found.append({str(name): WRONG[draw.integers(len(WRONG))] for name in chosen})
    return [right | wrong for wrong in (*found, {"nme": 1})]


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_met_with_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, right = CALLS[name]
    function, raw = made(), []
    for given in calls(function, right, seed=list(CALLS).index(name)):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                function(**given)
            except ff.FootfallError as error:
                assert len(str(error)) > 10
            except Exception as error:
                wrong = {key: value for key, value in given.items() if key not in right or value is not right[key]}
                raw.append(f"{name}({wrong}): {type(error).__name__}: {error}")
    assert not raw, f"{len(raw)} raw exceptions\n" + "\n".join(raw[:40])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ff.load_recording(None), "load_recording: path = None, but it must be a text or a path"),
        (lambda: sim().run(0.1, contoller="posture"), "run has no argument 'contoller': did you mean 'controller'"),
        (lambda: sim().run(), "Simulation.run needs duration"),
        (lambda: sim().run(0.1, duration=0.1), "Simulation.run got duration twice"),
        (lambda: ff.Simulation("brick", 1, 2), "Simulation takes 1 arguments without a name"),
        (lambda: sim().place(at="here"), "Simulation.place: at = 'here', but it must be .a number, a number."),
        (lambda: GROUND.frame(np.zeros(2)), r"Ground.frame: point = array.*it must be numbers of shape \(3,\)"),
        (lambda: ff.study.Samples(2.5, {"a": (0, 1)}), "Samples: number = 2.5, but it must be a whole number"),
        (lambda: ff.law("spring-damper", k=math.nan), "spring-damper: k = nan, but it must be a number > 0 or None"),
        (lambda: ff.compare("brick", laws=[3]), "laws = .3., but it must be a text or a sequence, each a text or Law"),
        (lambda: ff.load_robot("planar-biped", mass=1e-300), "MuJoCo cannot build robot 'planar-biped'"),
    ],
)  # fmt: skip
def test_the_sentence_names_the_function_the_argument_and_what_is_wanted(call, sentence):
    with pytest.raises(ff.FootfallError, match=sentence):
        call()


def test_what_converts_to_the_type_is_taken_as_before():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of NumPy, whose float32 is not as large as the bounds
        sim().run(np.float32(0.002), qvel=[0, 0, 0, 0, 0, 0])
    ff.Ground.heightfield([[0, 0], [0, 1]], size=np.array([1, 1]))
    ff.Push("brick", force=np.array([1.0, 0.0, 0.0]), start=np.int64(0))
    ff.compare("brick", laws=("mujoco",), controller=lambda t, state: [], duration=np.float32(0.002))


def test_all_public_functions_and_methods_check_their_arguments():
    lines = [line.split() for line in (Path(__file__).parent / "public_names.txt").read_text().splitlines()]
    found = {
        f"{room}.{name}": getattr(import_module(room), name) for room, name in lines if room.startswith("footfall")
    }
    classes = {
        name: one for name, one in found.items() if inspect.isclass(one) and hasattr(one.__init__, "__wrapped__")
    }
    methods = {
        f"{name}.{method}": inspect.getattr_static(one, method)
        for name, one in classes.items()
        for method in dir(one)
        if not method.startswith("_") or method == "__getitem__"
    }
    functions = {name: one.__func__ if isinstance(one, classmethod) else one for name, one in (found | methods).items()}
    functions = {name: one for name, one in functions.items() if inspect.isfunction(one)}
    functions = {name: one for name, one in functions.items() if inspect.signature(one).parameters}
    ours = {name: one for name, one in functions.items() if one.__module__.startswith("footfall")}
    assert len(classes) > 40 and len(ours) > 250
    assert [name for name, one in ours.items() if not hasattr(one, "__wrapped__")] == []


@pytest.mark.parametrize("name", [one.removeprefix("measure.") for one in CALLS if one.startswith("measure.")])
def test_measures_take_their_recording_by_name(name):
    right = CALLS[f"measure.{name}"][1]
    try:
        getattr(ff.measure, name)(**right)
    except ff.FootfallError as error:  # of what a brick does not do
        assert "argument" not in str(error)


def test_a_checked_function_is_found_by_pickle_and_by_help():
    assert pickle.loads(pickle.dumps(ff.measure.grf)) is ff.measure.grf
    assert "rec" in inspect.signature(ff.measure.grf).parameters and ff.measure.grf.__doc__
