"""Contacts between bodies are the law's: cone, friction, action and reaction, in runs and in many worlds."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import footfall as ff

#: Laws that give the forces between bodies; for the others MuJoCo's soft constraints do.
LAWS = ("linearizing-penalty", "time-stepping", "constraint-selection", "spring-damper", "hunt-crossley", "distributed")
STACK = """
<mujoco>
  <option gravity="{along} 0 {down}"/>
  <worldbody>
    <body name="base" pos="0 0 0.05">
      <freejoint/><geom type="box" size="0.2 0.15 0.05" mass="2" friction="{friction}"/>
    </body>
    <body name="top" pos="0 0 {height}">
      <freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="{friction}"/>
    </body>
  </worldbody>
</mujoco>
"""


def stack(friction: float = 0.5, tilt: float = 0.0, height: float = 0.1501) -> ff.Robot:
    """One box above another, both on ground that is tilted by the direction of gravity."""
    along, down = 9.81 * np.sin(tilt), -9.81 * np.cos(tilt)
    text = STACK.format(friction=friction, along=along, down=down, height=height)
    return ff.load_robot(mujoco.MjSpec.from_string(text), name="stack")


@pytest.mark.parametrize("law", LAWS)
def test_a_box_rests_on_another_with_its_weight(law: str) -> None:
    rec = ff.Simulation(stack(), law=law, dt=1e-3).run(1.0)
    between = rec.body_contacts
    assert between is not None
    assert rec.status.max() == 0
    # Hunt-Crossley's damper is that of the depth, so that small oscillations take seconds to fade.
    close = 2e-2 if law == "hunt-crossley" else 1e-6
    assert between.between("top", "base")[-100:].mean(axis=0) == pytest.approx([0.0, 0.0, 9.81], abs=close * 9.81)
    assert rec.total_force[-100:].mean(axis=0) == pytest.approx([0.0, 0.0, 29.43], abs=close * 29.43)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_box_on_a_tilted_one_holds_or_slides_by_the_friction_between_them(law: str, friction: float) -> None:
    tilt, gravity = np.radians(20.0), 9.81
    rec = ff.Simulation(stack(friction, tilt), ground=ff.Ground.plane(friction=1.0), law=law, dt=1e-3).run(0.4)
    down = max(0.0, gravity * (np.sin(tilt) - friction * np.cos(tilt)))
    slip = np.linalg.norm(rec.qvel[:, 6:9] - rec.qvel[:, 0:3], axis=1)
    found = (slip[-1] - slip[200]) / (rec.time[-1] - rec.time[200])
    # Adherence under ``distributed`` is a damper, under the other springs a spring that oscillates.
    assert found == pytest.approx(down, abs=0.05 if law in ("distributed", "hunt-crossley") else 0.02)


def test_the_audit_judges_forces_between_bodies() -> None:
    rec = ff.Simulation(stack(0.2, np.radians(20.0)), law="time-stepping", dt=1e-3).run(0.1)
    assert rec.audit().passed
    for factor, row in ((-1.0, "pulling force"), (2.0, "friction cone")):
        force = rec.signals["body_contact_force"].copy()
        force[50] *= [factor if row == "friction cone" else 1.0, 1.0, factor if row == "pulling force" else 1.0]
        forged = replace(rec, signals={**rec.signals, "body_contact_force": force})
        assert row in forged.audit().failed


def test_two_bodies_that_collide_in_the_air_keep_their_momentum() -> None:
    for law in LAWS:
        robot = stack()
        sim = ff.Simulation(robot, law=law, dt=1e-3)
        qpos, qvel = sim.place(), np.zeros(12)
        qpos[2], qpos[9], qvel[2], qvel[8], qvel[6] = 5.0, 5.2, 1.0, -1.0, 0.3
        rec = sim.run(0.3, controller=None, qpos=qpos, qvel=qvel)
        momentum = 2.0 * rec.qvel[:, 0:3] + 1.0 * rec.qvel[:, 6:9]
        free = momentum[0] + np.outer(rec.time, [0.0, 0.0, -3.0 * 9.81])
        assert np.abs(momentum - free).max() < 1e-9
        assert rec.body_contacts.mode.max() > 0


@pytest.mark.parametrize("law", ["time-stepping", "spring-damper"])
def test_worlds_on_a_cpu_have_the_same_contacts_between_bodies(law: str) -> None:
    sim = ff.Simulation(stack(), law=law, dt=1e-3)
    rec = sim.run(0.3, qvel=np.eye(12)[6] * 0.4)
    worlds = ff.Worlds(sim, 3)
    worlds.reset(qvel=np.eye(12)[6] * 0.4)
    worlds.step(n=300)
    assert np.abs(worlds.qpos - rec.qpos[-1]).max() < 1e-9
    assert rec.qpos[-1, 9] > 0.14  # it is still on top


def test_contacts_between_bodies_are_saved_with_a_recording(tmp_path) -> None:
    rec = ff.Simulation(stack(), law="time-stepping", dt=1e-3).run(0.1)
    loaded = ff.load_recording(rec.save(tmp_path / "stack"))
    assert loaded.body_contacts.bodies == rec.body_contacts.bodies
    for name in ("force", "position", "velocity", "normal", "gap", "mode"):
        np.testing.assert_array_equal(getattr(loaded.body_contacts, name), getattr(rec.body_contacts, name))
    assert loaded.slice(0.05).body_contacts.force.shape[0] == len(loaded.slice(0.05))


def test_bodies_that_overlap_in_the_drawing_do_not_push_each_other_apart() -> None:
    rec = ff.Simulation(stack(height=0.145), law="spring-damper", dt=1e-3).run(0.5)
    assert rec.qpos[:, 9].max() < 0.1455
    assert rec.body_contacts.between("top", "base")[-1] == pytest.approx([0.0, 0.0, 9.81], abs=1e-3)
