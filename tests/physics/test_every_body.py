"""Every body meets the ground under the chosen law: cubes on all corners, ellipses, robots on their backs."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallWarning
from footfall.solve.problem import COMPLIANCE

LAWS = ff.laws()
SOFT = {"spring-damper", "hunt-crossley", "distributed", "mujoco"}  # bodies sink in as they strike
CUBE = """
<robot name="cube"><link name="cube">
  <inertial><mass value="1"/><inertia ixx="0.0067" iyy="0.0067" izz="0.0067" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""


@pytest.fixture(scope="module")
def cube(tmp_path_factory) -> ff.Robot:
    path = tmp_path_factory.mktemp("cube") / "cube.urdf"
    path.write_text(CUBE)
    return ff.load_robot(path)


@pytest.mark.parametrize("law", LAWS)
def test_a_cube_from_a_urdf_thrown_tumbles_on_all_its_corners(cube, law):
    """Half a metre of fall, turning: it must come to rest on some face, carried, and never have sunk in far."""
    sim = ff.Simulation(cube, law=law, ground=ff.Ground.plane(friction=0.5))
    qpos = sim.place()
    qpos[2] += 0.3
    rec = sim.run(3.0, qpos=qpos, qvel=[1.0, 0.3, 0.0, 2.0, 5.0, 1.0])
    assert rec.failure is None and not rec.status.any()
    assert rec.other_points.size >= 2
    assert rec.force[:, 4:].any() and rec.force[:, :4].any()
    # A point law lets a corner in by speed over the frequency of its spring; the edge is 200 mm.
    assert rec.gap.min() > (-0.04 if law in SOFT else -0.012)
    assert rec.total_force[-200:, 2].mean() == pytest.approx(cube.weight, rel=0.01)
    assert np.abs(rec.qvel[-1]).max() < 0.05


@pytest.mark.parametrize("law", ["time-stepping", "constraint-selection"])
def test_corners_beside_the_feet_stop_at_the_surface_in_long_steps(cube, law):
    """Upside down from 1 m, 44 mm in its last step of 10 ms, before which they are 29 mm over the ground."""
    sim = ff.Simulation(cube, law=law, dt=0.01)
    rec = sim.run(0.6, qpos=[0.0, 0.0, 1.1, 0.0, 1.0, 0.0, 0.0])
    assert rec.gap.min() > -1e-9 and rec.other_points.size == 4
    assert rec.total_force[-1, 2] == pytest.approx(rec.robot.weight)


@pytest.mark.parametrize("height", [0.0, 0.1, 0.2])
def test_a_corner_that_a_foot_has_for_a_contact_point_is_not_counted_twice(height):
    """A box whose upper corners are contact points of its foot as well, or not: eight points in all, none twice."""
    corners = np.array([(x, y, z) for z in (-0.1, height - 0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="box")
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1] * 3)
    robot = ff.load_robot(spec, feet={"box": ("box", np.unique(corners, axis=0))})
    everywhere = np.vstack([robot.point_position, robot.others.points]).round(9)
    assert len(np.unique(everywhere, axis=0)) == len(everywhere)
    assert len(robot.others) == (0 if height == 0.2 else 4)


@pytest.mark.parametrize("law", LAWS)
def test_the_balance_holds_for_a_robot_on_its_back_on_stairs(law):
    sim = ff.Simulation("quadruped", law=law, ground=ff.Ground.stairs(0.1, 0.3, 4, start=-0.3, friction=0.6))
    qpos = sim.place()
    qpos[2] += 0.25
    qpos[3:7] = np.array([0.05, 1.0, 0.0, 0.0]) / np.hypot(0.05, 1.0)
    rec = sim.run(0.8, qpos=qpos, controller="posture")
    assert rec.failure is None and not rec.status.any()
    assert np.linalg.norm(rec.force[:, sim.robot.point_count :], axis=2).max() > sim.robot.weight
    audit = ff.audit(rec)
    for row in ("force balance", "moment balance"):
        assert audit[row].verdict in ("pass", "note") and (audit[row].worst < 1e-6 or law.startswith("accel"))
    # From event to event forces are means, whose moment about a moving centre is only nearly that of the mean, and sums
    # of steps that each may err by the law's tolerance.
    peak = np.linalg.norm(rec.total_force, axis=1).max()
    allowed = 100.0 * sim.law.tolerance * peak if law.startswith("accel") else 1e-6
    assert audit["force balance"].worst < allowed


def ellipse(long: float = 0.2, short: float = 0.1, depth: float = 0.05) -> ff.Robot:
    """An ellipsoid of 1 kg that moves in the plane of x and z, its inertia that of a uniform solid."""
    xml = f"""<mujoco model="ellipse"><worldbody><body name="egg">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 1 0"/><geom type="ellipsoid" size="{long} {depth} {short}" mass="1"/>
      </body></worldbody></mujoco>"""
    return ff.load_robot(mujoco.MjSpec.from_string(xml))


def support(angle: float, long: float = 0.2, short: float = 0.1) -> tuple[float, float]:
    """Where a tilted ellipse touches the ground: ahead of its centre, and below it, m."""
    height = np.hypot(long * np.sin(angle), short * np.cos(angle))
    return (long**2 - short**2) * np.sin(angle) * np.cos(angle) / height, height


@pytest.mark.parametrize(("law", "restitution"), [("time-stepping", 0.5), ("acceleration-complementarity", 0.5)])
@pytest.mark.parametrize("angle", [-0.7, 0.2, 1.0])
def test_an_ellipse_thrown_on_smooth_ground_bounces_where_it_touches(law, restitution, angle):
    """Without friction the impulse is (1 + e) v / (1/m + x^2/I), x ahead of the centre."""
    robot = ellipse()
    sim = ff.Simulation(robot, law=ff.law(law, restitution=restitution), ground=ff.Ground.plane(friction=0.0), dt=1e-4)
    ahead, height = support(angle)
    speed = 1.0
    rec = sim.run(0.02, qpos=[0.0, height + 0.005, angle], qvel=[0.0, -speed, 0.0])
    struck = int(np.flatnonzero(rec.total_force[:, 2] > 0)[0])
    down = -rec.qvel[struck, 1]
    inertia = 0.2 * (0.2**2 + 0.1**2)
    impulse = (1 + restitution) * down / (1.0 + ahead**2 / inertia)
    after = rec.qvel[-1] + [0.0, 9.81 * (rec.time[-1] - rec.time[struck + 1]), 0.0]
    # A step of 0.1 ms at 1 m/s and the weight in it leave a part in a thousand.
    assert after[1] == pytest.approx(-down + impulse, abs=3e-3)
    assert after[2] == pytest.approx(-ahead * impulse / inertia, abs=0.03)
    assert rec.position[struck, 0, 0] - rec.qpos[struck, 0] == pytest.approx(ahead, abs=1e-3)


@pytest.mark.parametrize(
    "law", ["time-stepping", "linearizing-penalty", "acceleration-complementarity", "spring-damper"]
)
def test_an_ellipse_rocks_on_rough_ground_with_the_period_of_its_curvature(law):
    """On its flat side, of radius a^2/b, it rocks with w^2 = m g (a^2/b - b) / (I + m b^2) without slipping."""
    robot = ellipse()
    options = {"k": 1e5, "c": 50.0} if law == "spring-damper" else {}
    sim = ff.Simulation(robot, law=ff.law(law, **options), ground=ff.Ground.plane(friction=1.0), dt=5e-4)
    angle = 0.05
    _, height = support(angle)
    rec = sim.run(2.0, qpos=[0.0, height, angle])
    rate = np.sqrt(9.81 * (0.2**2 / 0.1 - 0.1) / (0.2 * (0.2**2 + 0.1**2) + 0.1**2))
    crossings = np.flatnonzero(np.diff(np.sign(rec.qpos[:, 2])))
    period = 2.0 * float(np.mean(np.diff(rec.time[crossings])))
    assert period == pytest.approx(2.0 * np.pi / rate, rel=0.01)
    # It rolls: as it turns to level, the centre goes by its height times the angle (but for what a spring gives way).
    assert rec.qpos[crossings[0], 0] == pytest.approx(-0.1 * angle, rel=0.12)


@pytest.mark.parametrize("law", LAWS)
def test_a_standing_robot_is_the_same_with_and_without_other_bodies(law):
    duration = 0.1 if law == "acceleration-complementarity" else 0.3
    recs = [
        ff.Simulation("spatial-biped", law=law, body_contacts=wanted).run(duration, controller="posture")
        for wanted in (True, False)
    ]
    for name in ("qpos", "force", "position", "mode"):
        np.testing.assert_array_equal(getattr(recs[0], name), getattr(recs[1], name))


STRUCK = """
<mujoco model="struck"><worldbody>
  <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
  <body name="ball" pos="-0.5 0 0.1"><freejoint/><geom type="sphere" size="0.05" mass="0.5"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_strikes_the_robot_hands_on_its_momentum_and_rolls_on_the_ground(law):
    """Ball and box touch by MuJoCo's contact, both touch the ground by the law; momentum is what the ground leaves."""
    robot = ff.load_robot(mujoco.MjSpec.from_string(STRUCK), feet={"box": "box"})
    sim = ff.Simulation(robot, law=law, ground=ff.Ground.plane(friction=0.1))
    qpos = robot.home.copy()
    qpos[9] = 0.05
    rec = sim.run(0.5, controller=None, qpos=qpos, qvel=[0, 0, 0, 0, 0, 0, 3.0, 0, 0, 0, 0, 0])
    assert rec.failure is None and not rec.status.any()
    momentum = 2.0 * rec.qvel[:, :3] + 0.5 * rec.qvel[:, 6:9]
    given = np.cumsum(rec.total_force[:-1] - [0.0, 0.0, robot.weight], axis=0) * rec.dt
    # MuJoCo's solver stops at 1e-8 of its own measure, step by step; what is ours adds up to rounding.
    bound = np.full(3, 1e-4 if law == "mujoco" else 1e-9)
    if law == "acceleration-complementarity":
        # Ball and corners, each under 4.9 N, sink by the compliance of contacts, which goes with the mobility of the
        # most mobile point, the ball's: (1 + 3.5 + 3.5) / 3 of 1 / mass. Projections put them back between events; they
        # are no forces and in no recording: upwards, the momentum of all that sank.
        sinks = COMPLIANCE * (8.0 / 3.0 / 0.5) * 0.5 * 9.81  # m/s2
        bound[2] = robot.mass * sinks * rec.time[-1]
    assert (np.abs(momentum[1:] - momentum[0] - given) <= bound).all()
    assert rec.qvel[-1, 0] > 0.05  # it was struck
    assert rec.force[:, robot.point_count :, 2].sum(axis=1).mean() == pytest.approx(0.5 * 9.81, rel=0.1)


def test_recordings_of_other_bodies_are_saved_and_loaded(tmp_path):
    sim = ff.Simulation("brick", law="time-stepping")
    rec = sim.run(0.5, qpos=[0, 0, 0.4, 0.6, 0.8, 0, 0])
    again = ff.load_recording(rec.save(tmp_path / "rec"))
    np.testing.assert_array_equal(again.force, rec.force)
    np.testing.assert_array_equal(again.other_points, rec.other_points)
    assert rec.point_names[4:] == tuple(f"brick.beside{i}" for i in rec.other_points)
    assert rec.foot_force.shape == (len(rec), 1, 3)


def chain(links: int) -> ff.Robot:
    """Boxes in a row, joined by hinges across and upright in turn, without a motor."""
    box = '<geom type="box" size=".05 .04 .03" mass=".5"/>'
    bodies = f'<body name="link0" pos="0 0 .06"><freejoint/>{box}'
    for i in range(1, links):
        bodies += f'<body name="link{i}" pos=".12 0 0"><joint axis="0 {i % 2} {1 - i % 2}" damping=".02"/>{box}'
    xml = f"<mujoco><worldbody>{bodies}{'</body>' * links}</worldbody></mujoco>"
    return ff.load_robot(mujoco.MjSpec.from_string(xml), feet=["link0"])


@pytest.mark.parametrize("law", LAWS)
def test_the_ground_carries_a_robot_of_many_bodies_that_lies_on_all_of_them(law):
    """26 links on 104 corners fall flat by 5 mm: every one is held, and together they are as heavy as the robot."""
    robot = chain(26)
    qpos = robot.home.copy()
    qpos[2] += 0.005
    duration = 0.5 if law in {*SOFT, "linearizing-penalty"} else 0.2  # s, until it rests
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(duration, controller=None, qpos=qpos)
    assert np.count_nonzero(rec.status) == 0
    # Laws with springs may still swing a little.
    assert rec.slice(duration - 0.1).total_force[:, 2].mean() == pytest.approx(
        robot.weight, rel=0.02 if law in SOFT else 1e-5
    )
    assert np.abs(rec.qpos[-1, 2] - robot.home[2]) < 0.02


def test_more_contacts_than_there_is_room_for_are_marked_unsolved_and_warned_of():
    """A carpet of 60 small boxes that lie on the ground all at once: more bodies than a law can be shown."""
    boxes = "".join(
        f'<body name="b{i}" pos="{0.3 * (i % 8)} {0.3 * (i // 8)} 0.0501"><freejoint/>'
        '<geom type="box" size="0.05 0.05 0.05"/></body>'
        for i in range(60)
    )
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{boxes}</worldbody></mujoco>")
    sim = ff.Simulation(ff.load_robot(spec, feet={"first": "b0"}), law="spring-damper")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rec = sim.run(0.02)
    assert any("marked as unsolved" in str(one.message) for one in told if issubclass(one.category, FootfallWarning))
    assert rec.status.any()
