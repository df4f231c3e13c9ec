"""Sweeps: the right cases, one row each, nothing lost and nothing done twice, the same table by whoever did it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import sweep_work

import footfall as ff
from footfall.cli import main
from footfall.contact import registry
from footfall.errors import StudyError
from footfall.study.sweep import Samples, load_table, running
from footfall.study.sweep.cases import make_cases


def same(a, b, but=()):
    """Whether two tables are the same, but for the messages of some cases."""

    def told(table):
        columns = {name: list(values) for name, values in table.columns.items()}
        for case in but:
            columns["message"][case] = "something"
        return list(columns.items())

    return told(a) == told(b)


def test_a_grid_is_every_combination_and_crosses_a_table():
    columns = make_cases(grid={"a": [1, 2], "b": ["x", "y"]}, table=[{"c": 0.5}, {"c": 0.25}])
    rows = list(zip(columns["a"], columns["b"], columns["c"], strict=True))
    assert len(rows) == len(set(rows)) == 8 and (2, "y", 0.25) in rows


def test_sobol_samples_fill_the_box_more_evenly_than_random_ones():
    from scipy.stats.qmc import discrepancy

    points = {}
    for method in ("sobol", "random"):
        columns = make_cases(samples=Samples(256, {"a": (-1.0, 3.0), "b": (0.0, 1.0)}, method), seed=3)
        a, b = np.array(columns["a"]), np.array(columns["b"])
        assert a.min() >= -1.0 and a.max() <= 3.0
        points[method] = np.column_stack([(a + 1.0) / 4.0, b])
    assert discrepancy(points["sobol"]) < 0.3 * discrepancy(points["random"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "needs inputs"),
        ({"grid": {"a": []}}, "no value for 'a'"),
        ({"grid": {"a": [float("nan")]}}, "not a finite number"),
        ({"grid": {"a": [[1, 2]]}}, "an input of a case is a number"),
        ({"grid": {"a": range(10_000), "b": range(10_000)}}, "take samples instead"),
        ({"samples": Samples(0, {"a": (0, 1)})}, "between 1 and"),
        ({"samples": Samples(4, {"a": (1, 0)})}, "do not make an interval"),
        ({"samples": Samples(4, {"a": (0, 1)}, "halton")}, "random or sobol"),
        ({"table": [{"a": 1}, {"b": 2}]}, "row 1 of the table"),
        ({"table": "no-such-file.csv"}, "cannot read the cases"),
        ({"grid": {"a": [1]}, "table": [{"a": 1}]}, "given twice"),
        ({"grid": {"status": [1]}}, "cannot be called 'status'"),
    ],
)
def test_what_makes_no_cases_is_refused_in_a_sentence(options, sentence):
    with pytest.raises(StudyError, match=sentence):
        make_cases(**options)


def test_the_table_is_the_same_for_any_number_of_workers_and_for_threads_though_a_process_dies(tmp_path, monkeypatch):
    """The process that dies is replaced, and its case told: where x is 13, which also fails in this process.

    Both are done again where that is asked for, once nothing is in their way; those that are done stay.
    """
    cases = {"grid": {"x": [*range(100)], "y": [1.0, 2.0]}, "seed": 5}
    here = ff.sweep(sweep_work.squared, workers=1, **cases)
    table = ff.sweep(sweep_work.deadly, out=tmp_path / "study", workers=2, **cases)
    (died,) = (case for case, row in enumerate(table.rows()) if (row["x"], row["y"]) == (13, 2.0))
    assert len(here) == len(table) == 200 and here.failed == table.failed == 2
    assert "died in this case" in table.columns["message"][died] and same(here, table, but=[died])
    local = ff.sweep(lambda x, y, seed: sweep_work.squared(x, y, seed), workers=2, **cases)  # cannot travel: threads
    assert same(here, local)
    assert len(set(table.columns["seed"])) == 200  # each case has its own
    done = np.array(table.columns["status"]) == "done"
    x, y, square = (np.array(table.columns[name])[done].astype(float) for name in ("x", "y", "square"))
    assert np.array_equal(square, x**2 * y)
    lines = (tmp_path / "study" / "table.csv").read_text(encoding="utf-8").splitlines()
    read = parquet.read_table(tmp_path / "study" / "table.parquet").to_pydict()
    assert lines[0].split(",") == list(read) and len(lines) == 1 + len(read["case"])
    assert read["square"] == list(table.columns["square"]) and same(load_table(tmp_path / "study"), table)
    monkeypatch.setenv("CALM", "yes")
    where = {"out": tmp_path / "study", "workers": 1, **cases}
    assert same(ff.sweep(sweep_work.deadly, **where), table)  # finished, as it is
    again, nothing = (ff.sweep(sweep_work.deadly, **where, retry=True) for _ in range(2))
    assert again.failed == 0 and np.array_equal(again.seconds[done], table.seconds[done])
    assert [again.columns["square"][case] for case in np.flatnonzero(~done)] == [169.0, 338.0]
    assert same(nothing, again) and np.array_equal(nothing.seconds, again.seconds)


def test_a_seed_that_is_an_input_is_the_one_in_the_table():
    table = ff.sweep(lambda seed: {"half": 0.5 * seed}, grid={"seed": [3, 4]}, workers=1)
    assert list(table["seed"]) == [3, 4] and list(table["half"]) == [1.5, 2.0]


def test_pandas_gets_the_whole_table():
    table = ff.sweep(sweep_work.squared, grid={"x": [1, 2, 3]}, workers=1)
    frame = table.to_pandas()
    assert list(frame.columns) == list(table.columns) and list(frame["square"]) == [1.0, 4.0, 9.0]


def test_a_table_is_shown_as_one_with_its_first_rows():
    table = ff.sweep(
        lambda a: {"square": a * a, "odd": a % 2 == 1}, grid={"a": [0.5 * k for k in range(20)]}, workers=1
    )
    head, names, _, *rows = repr(table).splitlines()
    assert head == "20 cases, 0 failed" and names.split() == ["case", "a", "square", "odd"]
    assert [row.split() for row in rows[2:4]] == [["2", "1", "1", "True"], ["3", "1.5", "2.25", "False"]]
    assert rows[-1].startswith(f"... and {20 - len(rows) + 1} more")


def test_a_law_of_ones_own_is_swept_by_any_number_of_workers(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})  # no other test shall meet it

    @ff.point_law("straw", k=2e4)
    def straw(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return max(0.0, parameters.k * depth + 60.0 * depth_rate)

    grid = {"law": ["straw", "spring-damper"], "ground.friction": [0.3, 0.7]}
    settings = {"robot": "brick", "duration": 0.3}
    table = ff.sweep(settings, grid=grid, measures=["mean_vertical_force_bw"], workers=2)
    assert table.failed == 0
    np.testing.assert_allclose(table["mean_vertical_force_bw"], 1.0, atol=0.02)  # what is left of the bounce


def test_a_case_that_fails_is_a_row_with_its_sentence():
    table = ff.sweep(sweep_work.squared, grid={"x": [12, 13, 14]}, workers=1)
    assert list(table.columns["status"]) == ["done", "failed", "done"] and table.failed == 1
    assert table.columns["message"][1] == "ValueError: thirteen" and table.columns["square"][1] is None


def _study(folder, marks):
    code = (
        "import footfall as ff, sweep_work\n"
        f"cases = {{'x': range(400), 'folder': [{str(marks)!r}]}}\n"
        f"ff.sweep(sweep_work.counted, grid=cases, out={str(folder)!r}, workers=1)"
    )
    path = os.pathsep.join([str(Path(sweep_work.__file__).parent), *[p for p in sys.path if p]])
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path, "HALT": "60"})


def _finished(folder):
    return (folder / "cases.jsonl").read_bytes().count(b'"case"')


def test_a_study_that_is_killed_goes_on_where_it_ended(tmp_path):
    marks, folder = tmp_path / "marks", tmp_path / "study"
    marks.mkdir()
    process = _study(folder, marks)
    while process.poll() is None and not (marks / "60").exists():
        time.sleep(0.01)
    process.kill()  # as it works; processes that die while they work for a study are asked about above
    process.wait()
    before = _finished(folder)
    assert before == 60 and not (folder / "table.parquet").exists()
    table = ff.sweep(sweep_work.counted, grid={"x": range(400), "folder": [str(marks)]}, out=folder, workers=1)
    assert list(table.columns["value"]) == [2.0 * x for x in range(400)] and table.failed == 0
    done = [len((marks / str(x)).read_text()) for x in range(400)]
    assert done == [1] * 60 + [2] + [1] * 339  # only what was killed in its middle is done again


@pytest.mark.parametrize("left", [None, "", '{"format": 3, "cas'], ids=["nothing", "an empty file", "a torn line"])
def test_a_study_that_was_killed_as_it_began_begins_again(tmp_path, left):
    (tmp_path / "s").mkdir()
    if left is not None:
        (tmp_path / "s" / "cases.jsonl").write_text(left)
    table = ff.sweep(sweep_work.squared, grid={"x": [1, 2]}, out=tmp_path / "s", workers=1)
    assert len(table) == 2 and table.failed == 0


def test_a_changed_study_over_an_old_one_is_refused_and_nothing_overwritten(tmp_path):
    ff.sweep(sweep_work.squared, grid={"x": [1, 2]}, out=tmp_path / "s", workers=1)
    before = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    for options in ({"grid": {"x": [1, 3]}}, {"grid": {"x": [1, 2, 3]}}, {"grid": {"x": [1, 2]}, "seed": 1}):
        with pytest.raises(StudyError, match="holds another study"):
            ff.sweep(sweep_work.squared, out=tmp_path / "s", workers=1, **options)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(StudyError, match="holds no study"):
        ff.sweep(sweep_work.squared, grid={"x": [1]}, out=tmp_path / "other", workers=1)
    assert before == {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "change",
    [
        {"work": {"function": "getcwd", "module": "os", "file": "", "source": "", "measures": []}},
        {"seed": 7},
        {"work": 3},
        {"format": 99},
    ],
)
def test_a_study_that_another_hand_changed_is_refused_and_nothing_of_it_is_run(change, tmp_path):
    study = {"grid": {"x": [1, 2]}, "out": tmp_path / "s", "workers": 2}
    ff.sweep(sweep_work.squared, **study | {"workers": 1})
    file = tmp_path / "s" / "cases.jsonl"
    head = json.loads(file.read_text().splitlines()[0])
    del head["crc32"]  # journals of earlier versions have none
    file.write_text(changed := json.dumps(head | change) + "\n")
    with pytest.raises(StudyError, match="holds another study"):
        ff.sweep(sweep_work.squared, **study)
    assert file.read_text() == changed
    with pytest.raises(StudyError, match="format 99" if "format" in change else "holds 0 of 2 cases"):
        load_table(tmp_path / "s")


def test_a_damaged_journal_is_a_sentence(tmp_path):
    study = {"grid": {"x": [1, 2]}, "out": tmp_path / "s", "workers": 1}
    ff.sweep(sweep_work.squared, **study)
    journal = tmp_path / "s" / "cases.jsonl"
    written = journal.read_text()
    journal.write_text(written.replace('"square": 4.0', '"square": 5.0'))  # believed without a checksum
    for asked in (lambda: ff.sweep(sweep_work.squared, **study), lambda: load_table(tmp_path / "s")):
        with pytest.raises(StudyError, match="line 3 does not match its checksum"):
            asked()
    journal.write_text("".join(written.splitlines(keepends=True)[:2]))
    assert ff.sweep(sweep_work.squared, **study).columns["square"] == [1.0, 4.0]
    head, row, _ = map(json.loads, written.splitlines())
    del head["crc32"], row["crc32"]
    changes = [{"case": -1}, {"case": 2}, {"inputs": {"y": 1}}, {"outputs": {"y": {}}}]
    changes += [{"versions": {}}, {"seconds": "1"}]
    wrong = [json.dumps(row | change) for change in changes]
    for line in ("[1, 2]", '{"case": "none"}', '{"case": 0}', "no JSON", "3", "[" * 100_000, *wrong):
        journal.write_text(f"{json.dumps(head)}\n{line}\n")
        with pytest.raises(StudyError, match="is damaged"):
            ff.sweep(sweep_work.squared, **study)
        with pytest.raises(StudyError, match="is damaged"):
            load_table(tmp_path / "s")
    journal.write_text(json.dumps(head) + "\n" + json.dumps(row | {"inputs": {"x": 3}}) + "\n")
    with pytest.raises(StudyError, match="case 0 has other inputs"):
        ff.sweep(sweep_work.squared, **study)


class Fault:
    """Interrupts the process at one of its calls of the operating system that concern a folder."""

    def __init__(self) -> None:
        self.folder, self.left, self.raised = None, 0, False
        sys.addaudithook(self.heard)  # which no one can take away again: it does nothing without a folder

    def heard(self, event, arguments):
        if self.folder is None or event not in ("open", "os.rename", "os.mkdir", "os.remove", "os.scandir"):
            return
        if any(self.folder in str(one) for one in arguments):
            self.left -= 1
            if self.left == 0:
                self.raised = True
                raise KeyboardInterrupt


def test_a_study_interrupted_at_any_call_of_the_system_goes_on(tmp_path):
    fault, cases = Fault(), {"grid": {"x": [1, 2, 3]}, "workers": 1}
    whole = ff.sweep(sweep_work.squared, **cases)
    for call in range(1, 1000):
        folder = tmp_path / f"study-{call}"
        fault.folder, fault.left, fault.raised = str(folder), call, False
        try:
            ff.sweep(sweep_work.squared, out=folder, **cases)
        except KeyboardInterrupt:
            pass
        finally:
            fault.folder = None
        assert same(ff.sweep(sweep_work.squared, out=folder, **cases), whole)
        assert same(load_table(folder), whole)
        if not fault.raised:
            break
    assert 6 < call < 999  # a folder, its journal, and two files written whole


@pytest.mark.parametrize(
    ("work", "inputs", "sentence"),
    [
        (sweep_work.squared, {"z": [1]}, "no 'z'"),
        (sweep_work.squared, {"y": [1]}, "needs 'x'"),
        ({"robot": "brick", "laww": "mujoco"}, {"dt": [1e-3]}, "no setting 'laww'"),
        ({"robot": "brick", "controller": "posture"}, {"controller.kpp": [1.0]}, "posture has no option 'kpp'"),
        ({"law": "mujoco"}, {"dt": [1e-3]}, "name no robot"),
        ({"robot": "brick"}, {"controller.kp": [1.0]}, "not its name"),
        ({"robot": "brick", "controller": 3}, {"dt": [1e-3]}, "controller = 3, but it must be its name"),
        ({"robot": "brick", "law": "spring-damper"}, {"law.stifness": [1.0]}, "no option 'stifness'"),
        ({"robot": "brick", "push": {"body": "brick", "sise": 2.0}}, {"dt": [1e-3]}, "no 'sise'"),
        ({"robot": "brick", "ground": "swamp"}, {"dt": [1e-3]}, "no ground is called 'swamp'"),
        ({"robot": "brick", "push": {"body": "brik", "size": 1.0}}, {"dt": [1e-3]}, "no body is called 'brik'"),
        (
            {"robot": "brick"},
            {"ground.fricton": [0.5]},
            "plane has no option 'fricton': did you mean 'friction'",
        ),
        (5, {"x": [1]}, "work = 5, but it must be a function or a mapping"),
    ],
)
def test_bad_work_is_refused_before_the_first_case(work, inputs, sentence):
    with pytest.raises(ff.FootfallError, match=sentence):
        ff.sweep(work, grid=inputs, workers=1)


def test_a_plot_joins_cases_that_differ_in_nothing_else():
    for y, joined in ((["a", "b"], True), ([1.0, 2.0], True), (list(range(20)), False)):
        x = range(20) if len(y) == 20 else [0, 1, 2, 0, 1, 2]
        cases = {"push.size": x, "y": y if len(y) == 20 else np.repeat(y, 3)}
        table = ff.sweep(lambda **given: {"slip_distance_m": given["push.size"]}, table=cases, workers=1)
        (ax,) = table.plot("slip_distance_m").axes
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("push size (N)", "slip distance (m)")
        assert {line.get_linestyle() for line in ax.get_lines()} == {"-" if joined else "None"}
        assert ax.get_xlim()[0] < 0 < max(x) < ax.get_xlim()[1]  # marks at the ends are whole


def test_a_brick_slides_as_far_as_coulomb_says_in_every_case():
    table = ff.sweep(
        sweep_work.thrown_brick,
        grid={"friction": [0.6, 0.8, 1.0]},
        measures=["root_moved_m", "slip_distance_m"],
        workers=1,
    )
    # v^2 / (2 mu g) with v = 1 m/s; a spring-damper ground, 1 ms steps and 10 ms samples: 2 % seen, 4 % allowed
    expected = 1.0 / (2.0 * table["friction"] * 9.81)
    assert np.allclose(table["root_moved_m"], expected, rtol=0.04)


STUDY = """
measures = ["peak_vertical_force_bw", "fell", "audit"]
[simulation]
robot = "brick"
law = "spring-damper"
duration = 0.1
push = { body = "brick", size = 1.0, duration = 0.05 }
[grid]
"ground.friction" = [0.3, 0.6]
law = ["spring-damper", "time-stepping"]
[samples]
number = 3
[samples.bounds]
"push.angle" = [0, 360]
"""


def test_the_command_runs_a_study_file_and_refuses_misspelt_keys(tmp_path, capsys):
    file = tmp_path / "bricks.toml"
    file.write_text(STUDY.replace('"ground.friction"', '"ground.kind" = ["plane"]\n"ground.friction"'))
    assert main(["sweep", str(file), "--json", "--workers", "1", "--plot", str(tmp_path / "p.png")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], told["failed"]) == (12, 0) and (tmp_path / "p.png").stat().st_size > 5000
    table = parquet.read_table(told["table"]).to_pydict()
    assert set(table["audit"]) <= {"pass", "note"} and not any(table["fell"])
    assert table["push.angle"][:3] != table["push.angle"][1:4]
    assert main(["sweep", str(file), "--workers", "1"]) == 0  # which are done
    shown = " ".join(capsys.readouterr().out.split())
    assert "(deg)" in shown and "peak vertical force (× weight)" in shown and "peak_vertical" not in shown
    for wrong, sentence in (("[gird]", "'gird'"), ("[samples]\nnumbre = 3", "'numbre'")):
        name = wrong.split("]")[0] + "]"
        file.write_text(STUDY.replace({"[gird]": "[grid]", "[samples]": "[samples]\nnumber = 3"}[name], wrong))
        assert main(["sweep", str(file)]) == 2
        assert sentence in capsys.readouterr().err


def test_a_dask_cluster_gives_the_same_table_though_a_worker_is_killed(tmp_path):
    """One worker in a process of its own, and one that goes on in this process, where the scheduler works too."""
    distributed = pytest.importorskip("distributed")
    path = os.pathsep.join([str(Path(sweep_work.__file__).parent), *[p for p in sys.path if p]])
    environment = {**os.environ, "PYTHONPATH": path}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**alone, protocol="tcp://", dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
        command += ["--no-nanny", "--no-dashboard"]
        worker = subprocess.Popen(command, **quiet)
        killed = []

        def killing(done, total):
            if 0 < done < total and not killed:
                worker.kill()
                killed.append(done)

        try:
            with distributed.Client(address) as client:
                client.wait_for_workers(2, timeout=100.0)  # s; one that dies at its start never comes
            cases = {"samples": Samples(500, {"x": (0.0, 1.0)})}
            far = ff.sweep(sweep_work.squared, out=tmp_path / "far", scheduler=address, progress=killing, **cases)
            near = ff.sweep(sweep_work.squared, workers=1, **cases)
            assert killed and same(far, near) and len(far) == 500 and far.failed == 0
        finally:
            worker.kill()
            worker.wait()


def test_a_cluster_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(running, "ANSWER_S", 0.5)
    with pytest.raises(StudyError, match="no Dask scheduler answers"):
        ff.sweep(sweep_work.squared, grid={"x": [1]}, scheduler="tcp://127.0.0.1:9", out=tmp_path / "s")
