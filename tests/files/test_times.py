"""Times and units of tables as loggers write them: from 1970, by ROS; doubtful ones are told."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallError
from footfall.measure.forces import forces_against

FORCES = ",5,3,700"
EPOCH = 1_700_000_000


@pytest.mark.parametrize(
    ("head", "times", "told"),
    [
        (
            "%time,field.force.x,field.force.y,field.force.z",
            [EPOCH * 10**9 + k * 10**7 for k in range(4)],
            "1970 in ns",
        ),
        ("timestamp_ms,Fx,Fy,Fz", [EPOCH * 10**3 + 10 * k for k in range(4)], "counted from 1970, begin"),
        ("timestamp,Fx,Fy,Fz", [EPOCH * 10**3 + 10 * k for k in range(4)], "1970 in ms"),
        (
            "__time,/ft/force/x,/ft/force/y,/ft/force/z",
            [f"{EPOCH}.{k}00" for k in ("00", "01", "02", "03")],
            "from 1970",
        ),
        (
            "s/stamp/sec,s/stamp/nanosec,f.x,f.y,f.z",
            [f"{EPOCH},{k}0000000" for k in range(4)],
            "times by 's/stamp/sec'",
        ),
    ],
    ids=["rostopic", "ms", "ms unnamed", "PlotJuggler", "ROS 2"],
)
def test_times_of_loggers_are_seconds_from_0(head, times, told, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([head, *(f"{time}{FORCES}" for time in times)]) + "\n")
    found = ff.load_forces(path)
    # Seconds from 1970 have 2.4e-7 s in their last bit, nanoseconds 256.
    np.testing.assert_allclose(found.time, [0.0, 0.01, 0.02, 0.03], atol=1e-6)
    assert told in "; ".join(found.done) and "left out" not in "; ".join(found.done)
    assert found.vector(found.vectors[0])[0].tolist() == [5.0, 3.0, 700.0]


@pytest.mark.parametrize(("step", "unit"), [(10, "ms"), (5000, "us"), (2_000_000, "ns")])
def test_times_seconds_apart_are_in_a_finer_unit_and_told(step, unit, tmp_path):
    (tmp_path / "a.csv").write_text("time,Fx,Fy,Fz\n" + "".join(f"{step * k}{FORCES}\n" for k in range(4)))
    found = ff.load_forces(tmp_path / "a.csv")
    assert found.time[1] == pytest.approx(step * {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit])
    assert f"times of 'time' are {step:g} apart: taken to be in {unit}" in found.done


def test_kilogram_forces_are_newtons_and_a_unit_that_is_not_known_is_not_one(tmp_path):
    (tmp_path / "a.csv").write_text("t,Fx (kgf),Fy (kgf),Fz (kgf)\n0,0,0,70\n0.1,0,0,70\n")
    assert ff.load_forces(tmp_path / "a.csv").vector("F.force")[0, 2] == pytest.approx(70 * 9.80665)
    (tmp_path / "a.csv").write_text("t,Fx (st),Fy (st),Fz (st)\n0,0,0,11\n0.1,0,0,11\n")
    with pytest.raises(
        FootfallError, match=r"'F \(st\)' of a.csv may be in 'st', which is not known: rename its columns"
    ):
        ff.load_forces(tmp_path / "a.csv")


@pytest.mark.parametrize(("factor", "doubted"), [(1e3, True), (1e-3, True), (6.0, False)])
def test_forces_that_no_body_of_this_weight_makes_are_doubted(factor, doubted, recwarn):
    rec = ff.Simulation("brick").run(0.1)
    force = {f"total.force.{axis}": factor * rec.total_force[:, k] for k, axis in enumerate("xyz")}
    forces_against(rec, ff.files.Measured(rec.time, force, dict.fromkeys(force, "N"), "z", "plates.csv"))
    assert [str(one.message).startswith("plates.csv has vertical forces of up to") for one in recwarn] == [
        True
    ] * doubted
