"""Files as other programs write them: the right numbers, or one sentence with file, column and remedy."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallError

# time (s), force on the left foot x, y, z (N) with z up: what every table below holds.
TIME = np.arange(6) / 200.0 + 1.5
FORCE = np.column_stack([np.linspace(-20, 30, 6), np.linspace(3, -4, 6), np.linspace(100, 700, 6)])


def lines(time, values, delimiter, decimal="."):
    rows = np.column_stack([time, values])
    return "\n".join(delimiter.join(f"{v:.5f}".replace(".", decimal) for v in row) for row in rows)


def storage(head, body, separator="\n"):
    return separator.join(["forces", "version=1", "nRows=9", "nColumns=4", "inDegrees=yes", "endheader", head, body])


TURNED = FORCE[:, [0, 2, 1]] * [1, 1, -1]  # y up
TABLES = {
    "plain.csv": "time,left.x [N],left.y [N],left.z [N]\n" + lines(TIME, FORCE, ","),
    "german.csv": "Zeit (s);left.x (N);left.y (N);left.z (N)\n" + lines(TIME, FORCE, ";", ","),
    "german_tabs.txt": "Zeit\tleft.x\tleft.y\tleft.z\ns\tN\tN\tN\n" + lines(TIME, FORCE, "\t", ","),
    "two_rows.csv": "time,left.x,left.y,left.z\ns,kN,kN,kN\n" + lines(TIME, FORCE / 1e3, ","),
    "groups.csv": ",left,,\ntime,x,y,z\ns,N,N,N\n" + lines(TIME, FORCE, ","),
    "ends.csv": "t_ms,leftx_N,lefty_N,leftz_N,\n" + lines(1e3 * TIME, FORCE, ",").replace("\n", ",\n") + ",",
    "savetxt.txt": "# time left.x[N] left.y[N] left.z[N]\n" + lines(TIME, FORCE, " "),
    "blanks.txt": "time   fx1  fy1  fz1\n" + lines(TIME, FORCE, "   "),
    "preamble.csv": "Bertec Digital Acquire\nSubject,S01\nFrequency,200\n\ntime,left.x,left.y,left.z\ns,N,N,N\n"
    + lines(TIME, FORCE, ","),
    "quoted.csv": '"time","left.x [N]","left.y [N]","left.z [N]"\n' + lines(TIME, FORCE, ","),
    "named.mot": storage(
        "time\tleft_vx\tleft_vy\tleft_vz".replace("left_", "ground_force_1_"), lines(TIME, TURNED, "\t")
    ),
    "blank_line.sto": storage("\ntime ground_force_vx ground_force_vy ground_force_vz", lines(TIME, TURNED, "  \t ")),
    "second.mot": storage("time\t1_ground_force_vx\t1_ground_force_vy\t1_ground_force_vz", lines(TIME, TURNED, "\t")),
    "heel.mot": storage("time\t" + "\t".join(f"ground_force_calcn_l_v{a}" for a in "xyz"), lines(TIME, TURNED, "\t")),
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", TABLES)
def test_forces_of_other_programs_are_the_same_forces(name, mark, ending, tmp_path):
    (tmp_path / name).write_bytes((mark + TABLES[name].replace("\n", ending)).encode("utf-8"))
    found = ff.load_forces(tmp_path / name)
    assert len(found.vectors) == 1
    assert np.allclose(found.vector(found.vectors[0]), FORCE, atol=1e-2)
    assert np.allclose(found.time, TIME, atol=1e-5) and found.rate == pytest.approx(200.0, rel=1e-3)


def test_plates_of_one_table_are_told_apart_and_moments_are_no_forces(tmp_path):
    names = [f"{kind}_{plate}_{letter}{axis}" for plate in (0, 1) for kind, letter in
             (("ground_force", "v"), ("ground_force", "p"), ("ground_torque", "")) for axis in "xyz"]  # fmt: skip
    values = np.hstack([TURNED, 0.1 * TURNED, TURNED, 2 * TURNED, 0.1 * TURNED, TURNED])
    (tmp_path / "two.mot").write_text(storage("\t".join(["time", *names]), lines(TIME, values, "\t")))
    found = ff.load_forces(tmp_path / "two.mot", {"left": "ground_force_0_v", "right": "ground_force_1_v"})
    assert np.allclose(found.vector("right.force"), 2 * FORCE, atol=1e-4)
    whole = ff.load_motion(tmp_path / "two.mot")
    assert whole.units["ground_torque_1_y"] == "N m" and whole.units["ground_force_0_px"] == "m"
    assert "announces 9 rows, and 6 were read" in whole.done[0]


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("ground_torque_calcn_l_vx", "N m"),  # AddBiomechanics names moments so
        ("ground_force_calcn_r_mx", "N m"),
        ("ground_moment_1_mx", "N m"),
        ("hip_flexion_r_moment", "N m"),
        ("pelvis_tx_force", "N"),
        ("pelvis_tx", "m"),
        ("knee_angle_r", "rad"),
        ("soleus_r.activation", ""),
    ],
)
def test_units_by_the_names_of_opensim(column, unit, tmp_path):
    (tmp_path / "a.sto").write_text(storage(f"time\t{column}", "0\t90\n0.1\t90"))
    found = ff.load_motion(tmp_path / "a.sto")
    assert found.units[column] == unit
    assert found[column][0] == pytest.approx(np.pi / 2 if unit == "rad" else 90.0)


def test_the_axis_that_carries_the_load_is_up_and_it_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("time,left.x [N],left.y [N],left.z [N]\n" + lines(TIME, TURNED, ","))
    found = ff.load_forces(tmp_path / "a.csv")
    assert np.allclose(found.vector("left.force"), FORCE, atol=1e-4)
    assert "y taken to be up, along which the forces act" in found.done
    (tmp_path / "a.csv").write_text("time,left.x [N],left.y [N],left.z [N]\n" + lines(TIME, FORCE[:, ::-1], ","))
    with pytest.raises(FootfallError, match="act along x"):
        ff.load_forces(tmp_path / "a.csv")


TRC = "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n{rate}\t{rate}\t3\t2\tmm\n"


def test_markers_with_rounded_times_double_names_and_gaps(tmp_path):
    rows = "1\t0.000\t1\t2\t3\t7\t8\t9\n2\t0.007\t1\t2\t3\t0\t0\t0\n3\t0.013\t1\t2\t3\t\t\t\n"
    for blank in ("", "\n"):
        path = tmp_path / "a.trc"
        names = "Frame#\tTime\tHeel\t\t\tHeel\t\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
        path.write_bytes((TRC.format(rate=150) + names + blank + rows).replace("\n", "\r\n").encode())
        found = ff.load_motion(path)
        assert found.vectors == ("Heel", "Heel#2") and found.rate == pytest.approx(150.0)
        assert np.allclose(found.vector("Heel"), [1e-3, 2e-3, 3e-3])
        assert np.isnan(found.vector("Heel#2")[1:]).all()
        assert any("0, 0, 0" in one for one in found.done) and any("rounds" in one for one in found.done)
    spaces = TRC.format(rate=100).replace("\t", "  ") + "Frame#  Time  A  B\nX1 Y1 Z1 X2 Y2 Z2\n\n1 0.00 1 2 3 4 5 6\n"
    path.write_text(spaces + "2 0.01 1 2 3 4 5 6\n")
    assert np.allclose(ff.load_motion(path).vector("B")[1], [4e-3, 5e-3, 6e-3])
    path.write_text(spaces + "2 0.01 1 2 3\n")
    with pytest.raises(FootfallError, match="line 8 has 5 numbers and not 8"):
        ff.load_motion(path)


def test_units_and_rates_can_be_given_where_a_table_states_none(tmp_path):
    (tmp_path / "a.csv").write_text("frame,HEE_X,HEE_Y,HEE_Z\n1,100,0,20\n2,110,0,20\n")
    with pytest.raises(FootfallError, match=r"no column 'time' but 'frame', .* give rate="):
        ff.load_motion(tmp_path / "a.csv")
    found = ff.load_motion(tmp_path / "a.csv", {"heel": "HEE"}, rate=50.0, units={"HEE": "mm"})
    assert np.allclose(found.vector("heel"), [[0.1, 0, 0.02], [0.11, 0, 0.02]]) and found.rate == 50.0
    with pytest.raises(FootfallError, match="unit 'mmm' of column 'HEE' is not known"):
        ff.load_motion(tmp_path / "a.csv", rate=50.0, units={"HEE": "mmm"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2,3\n4,5,6\n", "it has no head"),
        ("time,b\n0,1\n1,x2\n2,3\n", r"could not convert 'x2' to a number, in line 3, column 'b'"),
        ("time,b\n0,1\n1,2,3\n2,3\n", r"row 2 has 3 values and not 2.*line 3"),
        ("time [N],b\n0,1\n1,2\n", "column 'time' is in N and not in seconds"),
        ("time,F.x [N/kg],F.y [N/kg],F.z [N/kg]\n0,1,1,9\n1,1,1,9\n", "no three columns in N.*F in N/kg"),
    ],
)
def test_what_is_wrong_with_a_table_names_line_and_column(text, sentence, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(FootfallError, match=sentence):
        ff.load_forces(tmp_path / "x.csv")


def test_text_columns_are_left_out_and_it_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("time,foot,fx_N,fy_N,fz_N\n0,R,1,2,500\n0.1,R,1,2,510\n")
    found = ff.load_forces(tmp_path / "a.csv")
    assert found.vectors == ("f.force",) and "left out foot, which hold no numbers" in found.done


def test_times_that_a_file_rounds_are_evenly_spaced():
    time = np.round(np.arange(300) / 600.0, 4)  # 0.0017, 0.0033, 0.0050: as OpenSim's example has them
    data = ff.files.Measured(time, {"a": np.sin(time)}, {"a": "N"}, "z", "made")
    assert data.rate == pytest.approx(600.0, rel=1e-3) and len(data.low_passed(20.0)) == 300
    with pytest.raises(FootfallError, match="not evenly spaced"):
        _ = ff.files.Measured(np.delete(time, 5), {"a": time[1:]}, {"a": "N"}, "z", "made").rate
    assert data.shifted(-time[0] + 2.0).time[0] == 2.0
