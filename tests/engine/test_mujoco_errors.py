"""An error inside MuJoCo ends a run, never the process, and MuJoCo writes no files."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from fresh_python import fresh_python

import footfall as ff

SCRIPT = """
import threading
import mujoco
import numpy as np
import footfall as ff
from footfall.engine import bridge
from footfall.simulation.run import Run

biped = ff.load_robot("spatial-biped")
spec = mujoco.MjSpec.from_string(biped.mjcf)
spec.option.solver = mujoco.mjtSolver.mjSOL_CG  # so that MuJoCo's own solver is asked
sim = ff.Simulation(ff.load_robot(spec, pose=biped.home), law="mujoco")


def attempt(found):
    run = Run(sim, 0.1)
    run.advance(20)
    bridge.counter(run.data, "narena")[0] = 2000  # there was room before
    try:
        run.finish()
    except ff.FootfallError as error:
        found.append((str(error), len(error.recording), error.recording.failure.cause))


for threads in (1, 8):
    found = []
    ours = [threading.Thread(target=attempt, args=(found,)) for _ in range(threads)]
    for one in ours:
        one.start()
    for one in ours:
        one.join()
    assert len(found) == threads, found
    assert all(said.startswith("MuJoCo") and cause == "mujoco" for said, _, cause in found), found
    assert all(samples >= 20 for _, samples, _ in found), found
print(found[0][0])

# The process goes on, and MuJoCo's own warnings make no file.
assert sim.run(0.1).failure is None
data = mujoco.MjData(sim.robot.model)
data.qpos[:] = np.nan
mujoco.mj_step(sim.robot.model, data)
"""


def test_too_small_an_arena_ends_the_run_and_not_the_process(tmp_path):
    done = fresh_python(SCRIPT, tmp_path, Path(ff.__file__).parents[1])
    assert done.returncode == 0, done.stderr
    assert "memory" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", ["xml", "model"])
def test_the_arena_has_room_for_all_contacts_whatever_the_model_says(given):
    """The same run with room for nothing and for everything."""
    built = ff.load_robot("quadruped")
    feet, robots = {foot.name: foot.body for foot in built.feet}, []
    for size in ("", '<size memory="12K"/>'):
        asked = '<option solver="CG"/>'  # so that MuJoCo's own solver is asked
        text = built.mjcf.replace("<worldbody>", f"{asked}{size}\n<worldbody>", 1)
        spec = mujoco.MjSpec.from_string(text)
        robots.append(ff.load_robot(spec if given == "xml" else spec.compile(), feet=feet))
    own, small = robots
    assert small.model.narena < own.model.narena
    law = "mujoco" if given == "xml" else "spring-damper"  # MuJoCo's contacts need the geom of a ground
    recordings = [ff.Simulation(robot, law=law).run(0.1, qpos=built.home, controller="posture") for robot in robots]
    np.testing.assert_allclose(recordings[1].qpos, recordings[0].qpos, atol=1e-9)
    assert recordings[1].total_force[-1, 2] > 0.5 * own.weight


def test_constraints_that_find_no_room_are_an_error(monkeypatch):
    """MuJoCo leaves out what does not fit and counts it as a warning: forces are missing from there on."""
    from footfall.simulation.run import Run

    advance = Run.advance

    def warned(self, *arguments):
        more = advance(self, *arguments)
        self.data.warning[int(mujoco.mjtWarning.mjWARN_CNSTRFULL)].number = 1
        return more

    monkeypatch.setattr(Run, "advance", warned)
    with pytest.raises(ff.FootfallError, match="no room for all contacts") as caught:
        ff.Simulation("ball", law="mujoco").run(0.01)
    assert caught.value.recording.failure.cause == "mujoco"


def brick_with(option: str) -> ff.Robot:
    text = ff.load_robot("brick").mjcf.replace("<worldbody>", f"{option}\n<worldbody>", 1)
    return ff.load_robot(mujoco.MjSpec.from_string(text), feet={"brick": "brick"})


def test_a_solver_that_makes_no_forces_is_refused():
    for flag in ("contact", "constraint"):
        robot = brick_with(f'<option><flag {flag}="disable"/></option>')
        with pytest.raises(ff.FootfallError, match="would give no contact forces"):
            ff.Simulation(robot, law="mujoco")


def test_a_solver_that_a_model_lets_not_iterate_does_under_law_mujoco():
    """Half a second brings the brick to rest to far less than a thousandth of its weight."""
    robot = brick_with('<option solver="PGS" iterations="0"/>')
    rec = ff.Simulation(robot, law="mujoco").run(0.5)
    assert rec.total_force[-1, 2] == pytest.approx(robot.weight, rel=1e-3)


# ---- what controllers may do -------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["mujoco", "linearizing-penalty"])
def test_what_a_controller_computes_with_its_data_does_not_reach_the_run(law):
    """mj_forward makes contacts of its own, and deletes those that were there."""
    sim = ff.Simulation("spatial-biped", law=law)
    seen = []

    def quiet(t, state):
        return np.zeros(14)

    def busy(t, state):
        data = state.data
        np.testing.assert_array_equal(data.qpos, state.qpos)
        np.testing.assert_array_equal(data.qvel, state.qvel)
        np.testing.assert_allclose(data.subtree_com[0], state.com)
        assert data.time == pytest.approx(t)
        seen.append(data.xpos[1].copy())
        mujoco.mj_forward(sim.scene.model, data)
        mujoco.mj_resetData(sim.scene.model, data)
        data.qpos[:] = 1.0
        return np.zeros(14)

    alone, disturbed = (sim.run(0.2, controller=one) for one in (quiet, busy))
    np.testing.assert_array_equal(alone.qpos, disturbed.qpos)
    np.testing.assert_array_equal(alone.force, disturbed.force)
    assert alone.total_force[:, 2].max() > 0.5 * sim.robot.weight  # it collapses, on the ground
    np.testing.assert_allclose(np.array(seen)[:, :3], disturbed.qpos[: len(seen), :3], atol=1e-12)


def test_views_of_the_data_that_a_controller_keeps_stay_new():
    kept = []

    def controller(t, state):
        kept[:] = kept or [state.data.qpos]
        np.testing.assert_array_equal(kept[0], state.qpos)
        return np.zeros(14)

    ff.Simulation("spatial-biped").run(0.05, controller=controller)
