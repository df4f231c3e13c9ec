"""The linearizing penalty, against dense linear algebra at single states; its motions are in tests/physics."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from engine import reference

import footfall as ff
from footfall.errors import FootfallWarning
from footfall.solve.contacts import OPEN, SLIDE, STICK

DEPTH = 1e-4  # m, of the lowest points below the ground
DOWN = np.array([0.0, 0.0, -0.1])  # m/s: moving down, no point's force is one that pulls


def biped(**joints: float) -> tuple[ff.Robot, np.ndarray]:
    """The spatial biped at home but for some joints (rad)."""
    robot = ff.load_robot("spatial-biped")
    qpos = robot.home.copy()
    for name, angle in joints.items():
        qpos[robot.model.joint(name).qposadr] += angle
    return robot, qpos


def planar() -> tuple[ff.Robot, np.ndarray]:
    robot = ff.load_robot("planar-biped")
    return robot, robot.home


def gridded() -> tuple[ff.Robot, np.ndarray]:
    robot = ff.load_robot("spatial-biped").with_points((6, 3))
    return robot, robot.home


def brick() -> tuple[ff.Robot, np.ndarray]:
    robot = ff.load_robot("brick")
    return robot, robot.home


# A posture, and how many of its points touch.
POSTURES = {
    "flat feet": (biped, 8),
    "one foot on its edge": (lambda: biped(left_ankle_pitch=-0.05), 6),
    "one foot on a vertex": (lambda: biped(left_ankle_pitch=-0.02, left_ankle_roll=0.05), 5),
    "one foot in the air": (lambda: biped(left_hip_roll=0.3), 4),
    "planar, where no force moves anything sideways": (planar, 4),
    "eighteen points a foot": (gridded, 36),
    "a brick": (brick, 4),
}
every_posture = pytest.mark.parametrize("posture", POSTURES)


def touching(posture: str, speed: np.ndarray = DOWN, friction: float = 1e6, **options) -> reference.Run:
    """A robot a little inside the ground that moves as a whole with ``speed`` (m/s), at its first instant."""
    make, count = POSTURES[posture]
    robot, qpos = make()
    sim = ff.Simulation(
        robot, ground=ff.Ground.plane(friction, height=DEPTH), law=ff.law("linearizing-penalty", **options)
    )
    qvel = np.zeros(robot.model.nv)
    if robot.name == "planar-biped":
        qvel[:2] = speed[[0, 2]]
    else:
        qvel[:3] = speed
    run = reference.evaluated(sim, qpos, qvel)
    assert run.contacts.number[0] == count
    return run


def wanted_acceleration(run: reference.Run) -> np.ndarray:
    """(n, 3) m/s2, Rengifo 2009 eq. 17, the gain as a step of any length must have it; frames are the world's."""
    law, dt, points = run.simulation.law, run.simulation.dt, reference.near(run)
    kv = (1.0 - math.exp(-law.kv * dt)) / dt
    velocity = run.contacts.velocity[points]
    wanted = -kv * velocity
    wanted[:, 2] = -law.kp * (law.eps + run.contacts.gap[points]) - kv * np.minimum(0.0, velocity[:, 2])
    return wanted


def pseudo_inverse_forces(run: reference.Run) -> np.ndarray:
    """(n, 3) N, eq. 18 by a singular value decomposition of the whole Delassus matrix."""
    data = reference.mujoco_data(run)
    jacobian = reference.point_jacobian(run, data)
    bias = reference.point_jacobian(run, data, rate=True) @ run.data.qvel
    flat = jacobian.reshape(-1, run.model.nv)
    inertia = reference.inertia(run, data)
    free = jacobian @ np.linalg.solve(inertia, reference.smooth_force(data)) + bias
    delassus = flat @ np.linalg.solve(inertia, flat.T)
    missing = (wanted_acceleration(run) - free).ravel()
    return (np.linalg.pinv(delassus, rcond=1e-11, hermitian=True) @ missing).reshape(-1, 3)


def forces(run: reference.Run) -> np.ndarray:
    return reference.in_world(run, run.points.force)


def accelerations(run: reference.Run) -> np.ndarray:
    """(n, 3) m/s2 of the touching points, under the forces the law gave."""
    data = reference.mujoco_data(run)
    bias = reference.point_jacobian(run, data, rate=True) @ run.data.qvel
    return reference.point_jacobian(run, data) @ run.data.qacc + bias


@every_posture
def test_unlimited_forces_are_those_of_the_pseudo_inverse(posture):
    run = touching(posture)
    expected = pseudo_inverse_forces(run)
    assert (expected[:, 2] > 0.0).all()  # nothing to limit, friction being endless
    # Rounding times the condition of the Delassus matrix on its range, up to 1e5.
    np.testing.assert_allclose(forces(run), expected, atol=1e-9 * np.abs(expected).max())


@every_posture
def test_unlimited_forces_give_the_wanted_accelerations(posture):
    run = touching(posture, speed=np.array([0.1, 0.05, -0.1]))
    wanted = wanted_acceleration(run)
    if run.simulation.robot.name == "planar-biped":
        wanted[:, 1] = 0.0  # it cannot move there
    np.testing.assert_allclose(accelerations(run), wanted, atol=1e-8 * np.abs(wanted).max())


@every_posture
@pytest.mark.parametrize("heading", [0.0, 0.5, 2.0])
def test_the_papers_saturation_clips_every_force_once(posture, heading):
    speed = np.array([0.4 * math.cos(heading), 0.4 * math.sin(heading), -0.02])
    run = touching(posture, speed=speed, friction=0.3, saturation="paper")
    expected = pseudo_inverse_forces(run)
    expected[:, 2] = np.maximum(0.0, expected[:, 2])  # eq. 19
    size = np.linalg.norm(expected[:, :2], axis=1)
    shrink = np.minimum(1.0, 0.3 * expected[:, 2] / np.maximum(size, 1e-300))  # eq. 20
    expected[:, :2] *= shrink[:, None]
    np.testing.assert_allclose(forces(run), expected, atol=1e-9 * np.abs(expected).max())
    mode = np.where(expected[:, 2] == 0.0, OPEN, np.where(shrink < 1.0, SLIDE, STICK))
    np.testing.assert_array_equal(run.points.mode[reference.near(run)], mode)


@every_posture
@pytest.mark.parametrize("heading", [0.0, 0.5, 2.0, 4.0])
@pytest.mark.parametrize("sink", [-0.02, 0.3])
def test_consistent_forces_obey_coulomb_and_give_what_friction_leaves_of_the_wanted(posture, heading, sink):
    """No pull, none outside the cone; loaded points have the normal acceleration asked for, sticking ones all of it."""
    friction = 0.3
    speed = np.array([0.4 * math.cos(heading), 0.4 * math.sin(heading), sink])
    run = touching(posture, speed=speed, friction=friction, saturation="consistent")
    assert run.tape.status[0] == 0
    force, mode = forces(run), run.points.mode[reference.near(run)]
    load, size = force[:, 2], np.linalg.norm(force[:, :2], axis=1)
    assert (load >= 0.0).all()
    assert (size <= friction * load * (1.0 + 1e-9)).all()
    found, wanted = accelerations(run), wanted_acceleration(run)
    scale = max(np.abs(wanted).max(), 9.81)
    miss = np.abs(found - wanted) / scale
    if run.simulation.robot.name == "planar-biped":
        miss[:, 1] = 0.0
    # What the rounds of the law leave: 1e-10 of the largest friction, times the mobility.
    assert (miss[mode != OPEN, 2] < 1e-6).all()
    assert (miss[mode == STICK] < 1e-6).all()
    np.testing.assert_allclose(size[mode == SLIDE], friction * load[mode == SLIDE], rtol=1e-9)
    # Points without force are not to be pushed: they leave faster than asked.
    assert (found[mode == OPEN, 2] >= wanted[mode == OPEN, 2] - 1e-6 * scale).all()


def test_both_saturations_are_the_same_where_nothing_is_limited():
    given = [forces(touching("flat feet", saturation=s)) for s in ("paper", "consistent")]
    np.testing.assert_array_equal(*given)


def test_sliding_friction_opposes_the_motion():
    for heading in (0.3, 1.8, 4.0):
        direction = np.array([math.cos(heading), math.sin(heading), 0.0])
        run = touching("a brick", speed=direction + DOWN, friction=0.3)
        force = forces(run)
        loaded = force[:, 2] > 0.0
        assert loaded.sum() >= 3 and (run.points.mode[loaded] == SLIDE).all()
        expected = -0.3 * force[:, 2:] * direction[:2]
        np.testing.assert_allclose(force[:, :2], expected, atol=1e-9 * np.abs(force).max())


@pytest.mark.parametrize("option", ["kp", "kv", "eps"])
def test_gains_must_not_be_negative(option):
    with pytest.raises(ff.errors.LawError, match=f"{option} = -1"):
        ff.law("linearizing-penalty", **{option: -1})


def test_an_unknown_saturation_is_refused():
    with pytest.raises(ff.errors.LawError, match="'consistent' or 'paper'"):
        ff.law("linearizing-penalty", saturation="none")


RAIL = """
<mujoco><worldbody><body name="slider" pos="0 0 0.049">
  <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
  <geom type="sphere" size="0.05" mass="1"/>
</body></worldbody></mujoco>"""


def test_a_point_inside_the_ground_that_no_force_can_lift_is_called_unsolved():
    """The solver's own compliance, a billionth, would bear it with 5e8 N."""
    with pytest.warns(FootfallWarning, match="no joint of robot .* can lift it"):
        robot = ff.load_robot(mujoco.MjSpec.from_string(RAIL))
    rec = ff.Simulation(robot, law="linearizing-penalty").run(0.01, controller=None, qpos=[0, 0], qvel=[1, 0])
    assert (rec.status != 0).all() and np.isfinite(rec.force).all()
