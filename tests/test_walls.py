"""Data and models that lack something: what is there is used, and what is lost is said."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.cli import _parse
from footfall.errors import RobotError
from footfall.measure.forces import forces_against
from footfall.study.fit import ForceTrial
from footfall.study.fit.trials import follow_forces


@pytest.mark.parametrize("feet", [None, {"total": "load_cell_Fz"}])
def test_a_vertical_force_alone_is_compared_alone(feet, tmp_path):
    sim = ff.Simulation("brick", law="spring-damper")
    rec = sim.run(0.1, qpos=sim.place() + np.eye(7)[2] * 0.01)
    name = "total.force" if feet is None else "load_cell_Fz"
    rows = "\n".join(f"{t:.6f},{f:.6f}" for t, f in zip(rec.time, rec.total_force[:, 2], strict=True))
    (tmp_path / "cell.csv").write_text(f"time,{name} [N]\n{rows}\n")
    measured = ff.load_forces(tmp_path / "cell.csv", feet)
    assert np.isnan(measured.vector("total.force")[:, :2]).all() and "taken as vertical forces" in measured.done[-1]
    errors = forces_against(rec, measured)
    assert [one.axis for one in errors] == ["z"] and errors[0].rms < 1e-5
    assert np.linalg.norm(follow_forces(sim, ForceTrial(measured, drop=0.01))["force_weights"]) < 1e-6


URDF = """<robot name="sledge"><link name="base"><inertial><mass value="2"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2"
ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.2 0.1 0.05"/></geometry></collision>
<collision><geometry><mesh filename="gone.stl"/></geometry></collision></link></robot>"""


def test_missing_meshes_can_be_skipped_with_what_is_lost(tmp_path):
    (tmp_path / "sledge.urdf").write_text(URDF)
    with pytest.raises(RobotError, match=r"cannot find 'gone\.stl'.*meshes='skip' does without"):
        ff.load_robot(tmp_path / "sledge.urdf")
    with pytest.warns(ff.FootfallWarning, match=r"gone\.stl of link 'base'.* skipped: these links touch nothing"):
        robot = ff.load_robot(tmp_path / "sledge.urdf", meshes="skip")
    assert robot.mass == pytest.approx(2.0) and robot.point_count == 4
    with pytest.raises(RobotError, match="meshes = 'no', but it must be 'needed' or 'skip'"):
        ff.load_robot(tmp_path / "sledge.urdf", meshes="no")


def test_options_of_many_values_may_be_repeated():
    typed = ["walk.trc", "--marker", "R_knee=A", "L_knee=B", "--up", "z", "--marker", "R_hip=C"]
    command = _parse("human-walk", typed)
    assert (command.marker, command.up) == ({"R_knee": "A", "L_knee": "B", "R_hip": "C"}, "z")
