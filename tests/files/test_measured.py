"""Measured values: units, axes, filters and gaps; and recordings laid beside them."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallError
from footfall.measure.forces import forces_against

HEAD = "time [ms],F1.x [N],F1.y [N],F1.z [kN],knee [deg]\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "plates.csv"
    path.write_text("# a comment\n" + HEAD + "".join(f"{10 * i},1,2,{0.1 * i},90\n" for i in range(20)))
    return path


def test_units_of_a_table_become_si(table):
    data = ff.load_motion(table)
    assert data.time[1] == pytest.approx(0.01) and data.units["F1.z"] == "N"
    assert np.allclose(data["F1.z"], 100.0 * np.arange(20)) and np.allclose(data["knee"], np.pi / 2)
    assert data.vectors == ("F1",) and data.rate == pytest.approx(100.0)


def test_forces_are_named_by_foot_and_columns_renamed(table):
    forces = ff.load_forces(table, feet={"left": "F1"})
    assert forces.vectors == ("left.force",) and forces.vector("left.force")[3, 2] == pytest.approx(300.0)
    assert ff.load_motion(table, {"plate": "F1"}).vectors == ("plate",)
    turned = ff.load_forces(table, feet={"left": "F1"}, up="y")
    assert np.allclose(turned.vector("left.force")[:, 2], 2.0) and turned.done == ("turned to z up",)


def test_a_filter_keeps_what_is_slow_and_takes_what_is_fast():
    time = np.arange(0.0, 2.0, 0.001)
    slow, fast = np.sin(2 * np.pi * time), 0.5 * np.sin(2 * np.pi * 100.0 * time)
    data = ff.files.Measured(time, {"a": slow + fast}, {"a": "N"}, "z", "made")
    inside = slice(200, -200)
    # A Butterworth of fourth order in all at 10 Hz: 1 Hz passes to 1e-4, 100 Hz falls to 1e-4.
    assert np.abs(data.low_passed(10.0)["a"] - slow)[inside].max() < 1e-3
    assert data.low_passed(10.0).done == ("low-passed at 10 Hz",) and data.done == ()


def test_resampling_is_exact_for_cubics_and_keeps_gaps():
    time = np.linspace(0.0, 1.0, 41)
    values = time**3 - time
    values[20] = np.nan
    data = ff.files.Measured(time, {"a": values, "b": time**2}, {"a": "", "b": ""}, "z", "made").resampled(100.0)
    assert np.allclose(data["b"], data.time**2, atol=1e-12)
    gap = (data.time > time[19]) & (data.time < time[21])
    assert np.isnan(data["a"][gap]).all() and np.isfinite(data["a"][~gap]).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "no column 'time'"),
        ("time,b\n", "holds no samples"),
        ("time,b\n1\n", "row 1 has 1 values and not 2"),
        ("time,b [furlong]\n1,2\n", "unit 'furlong' of column 'b' is not known"),
        ("time,b\n1,2\n1,3\n", "time does not increase in sample 1"),
        ("time,b\n1,two\n", "could not convert"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(FootfallError, match=sentence):
        ff.load_motion(tmp_path / "x.csv")


def test_what_cannot_be_filtered_or_found_is_refused(table):
    data = ff.load_motion(table)
    uneven = ff.files.Measured(np.array([0.0, 0.1, 0.3]), {"a": np.zeros(3)}, {"a": ""}, "z", "made")
    gap = ff.files.Measured(np.arange(30.0), {"a": np.full(30, np.nan)}, {"a": ""}, "z", "made")
    for call, sentence in (
        (lambda: uneven.low_passed(1.0), "not evenly spaced"),
        (lambda: data.low_passed(60.0), "not between 0 and half"),
        (lambda: gap.low_passed(0.1), "has gaps"),
        (lambda: data.resampled(0.0), "rate = 0.0, but it must be a number > 0"),
        (lambda: data.slice(5.0, 6.0), "no sample between"),
        (lambda: ff.load_forces(table, feet={"left": "F2"}), "no vector 'F2'"),
        (lambda: ff.load_motion(table, {"a": "F3"}), "has no 'F3'"),
        (lambda: ff.load_motion(table, up="x"), "'y' or 'z'"),
    ):
        with pytest.raises(FootfallError, match=sentence):
            call()


def test_a_blank_line_after_the_header_of_a_storage_file_is_legal(tmp_path):
    path = tmp_path / "ik.sto"
    path.write_text("x\ninDegrees=no\nendheader\n\ntime\tq\n0\t1\n0.1\t2\n")
    assert np.allclose(ff.load_motion(path)["q"], [1.0, 2.0])


@pytest.fixture(scope="module")
def rec():
    return ff.Simulation("spatial-biped", law="time-stepping").run(0.3, controller="posture", record_dt=0.01)


def test_a_recording_against_itself_is_off_by_nothing_and_against_twice_itself_by_itself(rec):
    channels = {f"left.force.{axis}": 2.0 * rec.foot_force[:, 0, k] for k, axis in enumerate("xyz")}
    channels |= {f"total.force.{axis}": rec.total_force[:, k] for k, axis in enumerate("xyz")}
    measured = ff.files.Measured(rec.time, channels, dict.fromkeys(channels, "N"), "z", "made")
    found = {(one.foot, one.axis): one for one in forces_against(rec, measured)}
    assert found["total", "z"].rms == 0.0 and found["total", "z"].timing == 0.0
    left = found["left", "z"]
    assert left.measured_peak == pytest.approx(2.0 * left.peak)
    assert left.measured_impulse == pytest.approx(2.0 * left.impulse)
    assert left.rms == pytest.approx(np.sqrt(np.mean(rec.foot_force[:, 0, 2] ** 2)))
    figure = rec.plot("grf", measured=measured)
    assert "left, measured" in {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    with pytest.raises(FootfallError, match="has no option 'measurd'"):
        rec.plot("grf", measurd=measured)
    with pytest.raises(FootfallError, match="name them with load_forces"):
        forces_against(rec, ff.files.Measured(rec.time, {}, {}, "z", "made"))


def test_a_recording_as_pandas_and_xarray_has_names_units_and_coordinates(rec):
    frame, data = rec.to_pandas(), rec.to_xarray()
    assert frame.index.name == "time" and len(frame) == len(rec)
    assert np.allclose(frame["left.force.z"], rec.foot_force[:, 0, 2]) and frame.attrs["units"]["left.force.z"] == "N"
    assert data["force"].dims == ("time", "point", "xyz") and np.array_equal(data["force"], rec.force)
    assert float(data["cop"].sel(foot="left", xyz="x")[-1]) == rec.cop[-1, 0, 0]
    assert data["force"].attrs["units"].startswith("N") and data.attrs["robot"] == "spatial-biped"


def test_a_notebook_shows_the_replay(rec):
    shown = rec._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&lt;canvas" in shown and "https://" not in shown.split("xmlns")[0]


def test_the_video_command_refuses_what_is_no_recording(tmp_path, capsys):
    assert main(["video", str(tmp_path / "none")]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
