"""Measures against closed forms on recordings made by hand, and against MuJoCo stepped by hand."""

from __future__ import annotations

import gc
import math
import weakref

import mujoco
import numpy as np
import pytest
from test_recording import DT, blank

from footfall import measure
from footfall.errors import RecordingError
from footfall.ground import Ground
from footfall.robot import load_robot

OPEN, STICK, SLIDE = 0, 1, 2
TIGHT = 1e-9  # rounding of a few hundred N and m of order 1, with room


@pytest.fixture(scope="module")
def biped():
    return load_robot("spatial-biped")


@pytest.fixture(scope="module")
def brick():
    return load_robot("brick")


@pytest.fixture(scope="module")
def ball():
    return load_robot("ball")


def at_rest(robot, samples=5, **given):
    """A robot that stands still with its weight spread evenly over its contact points."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(robot.model, data)
    bodies = robot.point_body
    corners = data.xpos[bodies] + np.einsum("pij,pj->pi", data.xmat[bodies].reshape(-1, 3, 3), robot.point_position)
    corners[:, 2] -= robot.point_radius
    force = np.zeros((samples, robot.point_count, 3))
    force[..., 2] = robot.weight / robot.point_count
    held = {
        "force": force,
        "position": np.tile(corners, (samples, 1, 1)),
        "mode": np.ones((samples, robot.point_count)),
        "gap": np.zeros((samples, robot.point_count)),
    }
    return blank(robot, samples, **{**held, **given})


def stepped(robot, ground, samples=40, *, dt=DT, effort=1.0, flight=()):
    """A robot in wild motion, by semi-implicit Euler, with random forces of the ground.

    They act on points of the ground, not of the feet: momentum does not ask.
    """
    model, rng = robot.model, np.random.default_rng(0)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = robot.home, 0.5 * rng.normal(size=model.nv)
    points = robot.point_count
    rows = {"qpos": [], "qvel": [], "ctrl": [], "force": [], "position": [], "mode": []}
    for k in range(samples):
        xy = rng.normal(size=(points, 2)) * 0.2
        position = np.column_stack([xy, ground.height(*xy.T)])
        normal = ground.gap(position)[1]
        share = robot.weight / points
        force = share * (normal * rng.uniform(0, 2, (points, 1)) + 0.1 * rng.normal(size=(points, 3)))
        if k in flight:
            force[:] = 0.0
        data.ctrl[:] = effort * rng.normal(size=model.nu)
        data.qfrc_applied[:] = 0.0
        mujoco.mj_fwdPosition(model, data)
        body = robot.point_body
        for p in range(points):
            mujoco.mj_applyFT(model, data, force[p], np.zeros(3), position[p], body[p], data.qfrc_applied)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        closed = np.full(points, OPEN if k in flight else STICK)
        state = (data.qpos, data.qvel, data.ctrl, force, position, closed)
        for name, value in zip(rows, state, strict=True):
            rows[name].append(np.array(value))
        data.qvel += dt * data.qacc_smooth
        mujoco.mj_integratePos(model, data.qpos, data.qvel, dt)
    arrays = {name: np.array(value) for name, value in rows.items()}
    return blank(robot, samples, ground=ground, dt=dt, time=dt * np.arange(samples), **arrays)


GROUNDS = {
    "plane": Ground.plane(height=0.05),
    "slope": Ground.slope(0.2, heading=0.7),
    "uneven": Ground.function(lambda x, y: 0.05 * math.sin(3.0 * x) + 0.1 * y),
    "stairs": Ground.stairs(rise=0.1, run=0.3, start=0.05),
}


# ---- pressure ----------------------------------------------------------------------------------------------


def test_cop_is_where_known_forces_balance(biped):
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 1] = [0.1, 0.2, 0.0], [0.3, 0.2, 0.0]
    force[:, 0, 2], force[:, 1] = 10.0, [7.0, -4.0, 30.0]  # tangential forces do not move it
    rec = blank(biped, position=position, force=force)
    assert rec.cop.shape == (5, 2, 3)
    assert rec.cop[0, 0] == pytest.approx([0.25, 0.2, 0.0])
    assert np.isnan(rec.cop[:, 1]).all()  # the right foot carries nothing
    assert measure.overall_cop(rec)[0] == pytest.approx([0.25, 0.2, 0.0])


def test_cop_on_a_slope_weighs_by_the_force_along_the_normal(biped):
    ground = Ground.slope(0.3)
    normal, downhill = ground.gap(np.zeros(3))[1], np.array([math.cos(0.3), 0.0, math.sin(0.3)])
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 1] = 0.1 * downhill, 0.5 * downhill
    force[:, 0], force[:, 1] = 10.0 * normal + 50.0 * downhill, 30.0 * normal
    rec = blank(biped, position=position, force=force, ground=ground)
    assert rec.cop[0, 0] == pytest.approx(0.4 * downhill)
    assert measure.overall_cop(rec)[0] == pytest.approx(0.4 * downhill)


def test_overall_cop_lies_between_the_feet_as_their_loads_do(biped):
    rec = at_rest(biped)
    load = rec.foot_force[:, :, 2:]
    between = (rec.cop * load).sum(axis=1) / load.sum(axis=1)
    assert measure.overall_cop(rec) == pytest.approx(between, abs=TIGHT)


def test_free_moment_is_that_of_a_couple(biped):
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 1] = [0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]
    force[:, 0], force[:, 1] = [0.0, 5.0, 20.0], [0.0, -5.0, 20.0]
    rec = blank(biped, position=position, force=force)
    assert measure.free_moment(rec)[:, 0] == pytest.approx(2 * 0.1 * 5.0)
    assert np.isnan(measure.free_moment(rec)[:, 1]).all()


def test_ground_reaction_has_moments_about_the_origin_and_the_cop(biped):
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 4] = [0.1, 0.2, 0.0], [0.0, -0.2, 0.0]
    force[:, 0], force[:, 4] = [3.0, 0.0, 20.0], [0.0, 0.0, 10.0]
    grf = measure.grf(blank(biped, position=position, force=force))
    assert grf.force[0] == pytest.approx(np.array([[3.0, 0.0, 20.0], [0.0, 0.0, 10.0]]))
    assert grf.moment[0, 0] == pytest.approx(np.cross([0.1, 0.2, 0.0], [3.0, 0.0, 20.0]))
    assert grf.moment_at_cop[0] == pytest.approx(np.zeros((2, 3)), abs=TIGHT)
    assert grf.total_force[0] == pytest.approx([3.0, 0.0, 30.0])
    assert grf.total_moment[0] == pytest.approx(grf.moment[0].sum(axis=0))


# ---- motion ------------------------------------------------------------------------------------------------


def test_a_ball_in_flight_keeps_its_momentum_but_for_gravity(ball):
    t = DT * np.arange(100)
    velocity = np.column_stack([np.full(100, 2.0), np.zeros(100), 3.0 - 9.81 * t])
    qvel = np.column_stack([velocity, np.tile([4.0, 0.0, 1.0], (100, 1))])
    qpos = np.column_stack([2.0 * t, 0 * t, 1 + 3.0 * t - 4.905 * t**2, np.ones(100), np.zeros((100, 3))])
    rec = blank(ball, 100, qpos=qpos, qvel=qvel)
    motion = measure.momentum(rec)
    assert motion.com == pytest.approx(qpos[:, :3])
    assert motion.velocity == pytest.approx(velocity)
    assert motion.momentum == pytest.approx(1.0 * velocity)
    inertia = 0.4 * 1.0 * 0.1**2
    assert motion.angular_momentum == pytest.approx(np.tile([4 * inertia, 0, inertia], (100, 1)))
    # Nothing but gravity acts. 1e-9: rounding of velocities of 3 m/s, over a step of 1 ms.
    assert motion.force == pytest.approx(np.zeros((100, 3)), abs=1e-9)
    assert motion.moment == pytest.approx(np.zeros((100, 3)), abs=1e-9)
    assert np.isnan(rec.zmp).all()
    assert np.isnan(measure.overall_cop(rec)).all()


@pytest.mark.parametrize("name", ["ball", "brick", "spatial-biped"])
def test_a_robot_at_rest_has_its_zmp_below_its_centre_of_mass(name):
    rec = at_rest(load_robot(name))
    motion = measure.momentum(rec)
    assert rec.zmp[:, :2] == pytest.approx(motion.com[:, :2], abs=TIGHT)
    assert rec.zmp[:, 2] == pytest.approx(0.0, abs=TIGHT)
    assert motion.force[:, 2] == pytest.approx(rec.robot.weight)


@pytest.mark.parametrize("where", GROUNDS)
@pytest.mark.parametrize("name", ["brick", "spatial-biped"])
def test_zmp_from_the_motion_is_the_cop_of_the_forces(name, where):
    rec = stepped(load_robot(name), GROUNDS[where], flight=range(20, 25))
    cop = measure.overall_cop(rec)
    # The last row has no step after it. 1e-8: velocities of 1 m/s lose 1e-16 / 1e-3 in the difference, times
    # an arm and over a load that is at times small.
    assert rec.zmp[:-1] == pytest.approx(cop[:-1], abs=1e-8, nan_ok=True)
    assert np.isnan(rec.zmp[20:25]).all()
    assert not np.isnan(rec.zmp[:20]).any()
    if where in ("plane", "slope"):
        assert rec.ground.gap(rec.zmp[:20])[0] == pytest.approx(0.0, abs=TIGHT)
    motion = measure.momentum(rec)
    assert motion.force[:-1] == pytest.approx(rec.total_force[:-1], abs=1e-7)
    assert motion.moment[:-1] == pytest.approx(measure.grf(rec).total_moment[:-1], abs=1e-7)


def test_momentum_in_flight_changes_by_gravity_alone(biped):
    """To first order in dt, as the pose changes within a step: a tenth of the step, a tenth of the error."""
    errors = []
    for dt in (1e-3, 1e-4):
        rec = stepped(biped, Ground.plane(), samples=round(0.05 / dt), dt=dt, effort=0.0, flight=range(1000))
        motion = measure.momentum(rec)
        gained = np.outer(rec.time, biped.mass * biped.model.opt.gravity)
        linear = np.abs(motion.momentum - motion.momentum[0] - gained).max()
        angular = np.abs(motion.angular_momentum - motion.angular_momentum[0]).max()
        errors.append([linear / np.abs(motion.momentum[0]).max(), angular / np.abs(motion.angular_momentum[0]).max()])
    assert np.divide(*errors) == pytest.approx([10.0, 10.0], rel=0.3)
    assert max(errors[1]) < 1e-3


def test_a_push_parts_zmp_and_cop(brick):
    """A horizontal push F at height h moves the zmp by F h / W against it, and not the cop."""
    qvel = np.zeros((5, 6))
    qvel[:, 0] = 2.0 * DT * np.arange(5)  # 2 m/s2, frictionless
    rec = at_rest(brick, qvel=qvel)
    height = measure.momentum(rec).com[0, 2]
    shift = rec.zmp[:, 0] - measure.overall_cop(rec)[:, 0]
    assert shift == pytest.approx(-height * 2.0 / 9.81)


def test_what_is_fixed_in_the_world_is_no_part_of_the_motion():
    spec = mujoco.MjSpec()
    wall = spec.worldbody.add_body(name="wall", pos=[5, 0, 1])
    wall.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 1])
    box = spec.worldbody.add_body(name="box", pos=[0, 0, 0.1])
    box.add_freejoint()
    box.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
    robot = load_robot(spec)
    rec = at_rest(robot)
    motion = measure.momentum(rec)
    assert motion.com[0] == pytest.approx([0, 0, 0.1])
    assert motion.force[0] == pytest.approx([0, 0, robot.weight])


def test_a_fall_is_a_base_below_two_thirds_of_its_height(biped):
    rec = at_rest(biped)
    assert not measure.has_fallen(rec)
    assert measure.fall(rec) is None
    for share, falls in ((0.7, False), (0.64, True)):
        low = np.array(rec.qpos)
        low[3, 2] *= share  # the base's origin is the body's, so this is its height
        # The feet go under the ground here: only the base is looked at.
        fallen = measure.fall(at_rest(biped, qpos=low))
        assert measure.has_fallen(at_rest(biped, qpos=low)) == falls == (fallen is not None)
    assert fallen is not None and fallen.time == rec.time[3]
    assert fallen.cause.startswith("its legs gave way: the mass sank between its feet; its base sank to 0.5")


REACHING = """<mujoco><worldbody><body name="trunk" pos="0 0 .5"><freejoint/>
  <geom type="box" size=".1 .1 .05" mass="5"/>
  <geom name="leg" type="capsule" size=".02" fromto="0 0 0 0 0 -.4" mass="1" contype="0" conaffinity="0"/>
  <body name="foot" pos="0 0 -.42"><joint axis="0 1 0"/><geom type="box" size=".1 .05 .02" mass="1"/></body>
  <body name="arm" pos=".2 0 0"><joint axis="0 1 0"/>
    <geom type="%s" size="%s" pos=".25 0 0" euler="0 90 0" mass=".2"/></body>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("kind", "size"),
    [("capsule", ".02 .25"), ("cylinder", ".02 .25"), ("box", ".02 .02 .25"), ("ellipsoid", ".02 .02 .25")],
)
def test_a_body_that_is_no_foot_on_the_ground_is_a_fall(kind, size):
    robot = load_robot(mujoco.MjSpec.from_string(REACHING % (kind, size)))
    rec = at_rest(robot, samples=60)
    # The arm, 0.5 m from its joint to its tip and the joint 0.44 m high, is turned down.
    qpos = np.array(rec.qpos)
    qpos[:, -1] = np.radians(np.linspace(40.0, 85.0, len(qpos)))
    low = 0.44 - 0.5 * np.sin(qpos[:, -1]) - 0.02 < 0.0
    fallen = measure.fall(at_rest(robot, samples=60, qpos=qpos))
    assert fallen is not None and fallen.cause.endswith("body 'arm' is on the ground")
    # 2 degrees for the shapes of its tip, and 5 ms between two looks.
    at = int(np.flatnonzero(rec.time == fallen.time)[0])
    assert abs(at - int(np.flatnonzero(low)[0])) <= 2.0 / (45.0 / 59) + 5e-3 / (rec.time[1] - rec.time[0])


# ---- support -----------------------------------------------------------------------------------------------


def test_support_polygon_is_the_hull_of_the_closed_points(biped):
    rec = at_rest(biped)
    polygon = measure.support_polygon(rec, 0)
    assert polygon.shape == (4, 3)  # two feet side by side: their outer corners, and no point along an edge
    x, y = polygon[:, 0], polygon[:, 1]
    area = 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert area == pytest.approx(np.ptp(rec.position[0, :, 0]) * np.ptp(rec.position[0, :, 1]))  # and counter-clockwise
    mode = np.array(rec.mode)
    mode[1, 1:], mode[2, 2:], mode[3] = OPEN, OPEN, OPEN
    rec = at_rest(biped, mode=mode)
    assert [len(measure.support_polygon(rec, k)) for k in range(5)] == [4, 1, 2, 0, 4]


def test_hull_agrees_with_qhull():
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(0)
    for count in (3, 5, 20):
        for _ in range(20):
            points = rng.normal(size=(count, 2))
            corners = np.zeros(count + 1, dtype=np.int64)
            size = measure.support.hull(points, count, np.zeros_like(corners), corners)
            assert set(corners[:size]) == set(ConvexHull(points).vertices)


@pytest.mark.parametrize(
    ("x", "y", "margin"),
    [(0.0, 0.0, 0.5), (0.9, 0.2, 0.1), (1.3, 0.0, -0.3), (1.3, 0.9, -0.5), (1.0, 0.0, 0.0)],
)
def test_support_margin_is_the_distance_to_the_edge(brick, x, y, margin):
    corners = np.array([[1, 0.5, 0], [-1, 0.5, 0], [-1, -0.5, 0], [1, -0.5, 0]])
    qpos = np.tile(brick.home, (5, 1))
    qpos[:, 0], qpos[:, 1] = x, y
    rec = at_rest(brick, position=np.tile(corners, (5, 1, 1)), qpos=qpos)
    for of in ("com", "capture", "zmp"):  # at rest they all are below the brick's middle
        assert measure.support_margin(rec, of)[:-1] == pytest.approx(margin, abs=TIGHT)
    assert measure.support_margin(rec, "cop") == pytest.approx(0.5)


def test_support_margin_of_degenerate_support(brick):
    corners = np.array([[0.1, 0.0, 0], [-0.1, 0.0, 0], [0.0, 0.0, 0], [0.0, 0.3, 0]])
    mode = np.tile([STICK, STICK, STICK, OPEN], (5, 1))
    mode[1] = [STICK, OPEN, OPEN, OPEN]
    mode[2] = OPEN
    force = np.zeros((5, 4, 3))
    force[:, 0, 2] = force[:, 1, 2] = 5.0
    rec = at_rest(brick, position=np.tile(corners, (5, 1, 1)), mode=mode, force=force)
    assert measure.support_margin(rec) == pytest.approx([0.0, -0.1, math.nan, 0.0, 0.0], nan_ok=True, abs=TIGHT)


def test_a_planar_robot_stands_on_a_line():
    rec = at_rest(load_robot("planar-biped"))
    # The ankle stands over the middle of a sole of 0.2 m; the legs' distance in the drawing does not count.
    assert measure.support_margin(rec, "cop") == pytest.approx(0.1, abs=TIGHT)
    com = measure.momentum(rec).com[0, 0]
    assert measure.support_margin(rec, "com") == pytest.approx(0.1 - abs(com - rec.position[0, :, 0].mean()), abs=TIGHT)


def test_an_unknown_margin_is_answered_with_the_known_ones(brick):
    with pytest.raises(RecordingError, match="no support margin of 'zpm': did you mean 'zmp'"):
        measure.support_margin(at_rest(brick), "zpm")


def test_capture_point_leads_the_centre_of_mass_by_its_speed(biped):
    qvel = np.zeros((5, 20))
    qvel[:, 0] = 0.4
    for ground, height in ((Ground.plane(), 0.0), (Ground.plane(height=-0.2), -0.2)):
        rec = at_rest(biped, qvel=qvel, ground=ground)
        com = measure.momentum(rec).com[0]
        lead = 0.4 * math.sqrt((com[2] - height) / 9.81)
        assert measure.capture_point(rec)[0] == pytest.approx([com[0] + lead, com[1], height])


# ---- slip and impact ---------------------------------------------------------------------------------------


def sliding(brick):
    """Point 0 slows from 1 m/s in mode slide, then sticks; point 1 creeps in mode stick; others are open."""
    samples = 101
    t = DT * np.arange(samples)
    velocity = np.zeros((samples, 4, 3))
    velocity[:, 0, 0] = np.maximum(1.0 - t / 0.05, 0.0)
    velocity[:, 0, 2] = 3.0  # along the normal: no slip
    velocity[:, 1, 1] = 0.01
    velocity[:, 2:] = 7.0
    mode = np.zeros((samples, 4))
    mode[:, 0] = np.where(t < 0.05 - 1e-9, SLIDE, STICK)
    mode[:, 1] = STICK
    return blank(brick, samples, velocity=velocity, mode=mode)


def test_slip_distance_is_the_path_while_sliding(brick):
    distance = measure.slip_distance(sliding(brick))
    assert distance[-1] == pytest.approx([0.5 * 1.0 * 0.05, 0.0, 0.0, 0.0])
    assert distance[0] == pytest.approx(np.zeros(4))
    assert (np.diff(distance, axis=0) >= 0.0).all()


def test_slip_speed_is_tangential_and_of_closed_points(brick):
    speed = measure.slip_speed(sliding(brick))
    assert speed[0] == pytest.approx([1.0, 0.01, 0.0, 0.0])
    assert speed[-1] == pytest.approx([0.0, 0.01, 0.0, 0.0])


def test_intervals_give_the_times_of_switches(brick):
    found = measure.intervals(sliding(brick))
    assert [(i.point, i.mode) for i in found] == [
        (0, "slide"),
        (0, "stick"),
        (1, "stick"),
        (2, "open"),
        (3, "open"),
    ]
    assert (found[0].start, found[0].end) == (0.0, pytest.approx(0.05))
    assert (found[1].start, found[1].end) == (pytest.approx(0.05), pytest.approx(0.1))
    assert found[2].duration == pytest.approx(0.1)
    assert found[0].foot == "brick"


def test_penetration_counts_only_inside(brick):
    assert measure.penetration(blank(brick, gap=np.tile([-0.002, 0.0, 0.003, -1e-6], (5, 1))))[0] == pytest.approx(
        [0.002, 0.0, 0.0, 1e-6]
    )


def test_impacts_have_peak_impulse_and_loading_rate(ball):
    samples = 400
    force = np.zeros((samples, 1, 3))
    force[0:10, 0, 2] = 5.0  # loaded from the start: no landing
    force[100:110, 0, 2] = np.interp(np.arange(10), [0, 4, 9], [20.0, 100.0, 50.0])
    force[112, 0, 2] = 80.0  # a bounce within the window
    force[300, 0, 2] = 3000.0  # a step of a time-stepping law
    first, second = measure.impacts(blank(ball, samples, force=force))
    assert (first.foot, first.time, first.peak_force) == ("ball", pytest.approx(0.1), pytest.approx(100.0))
    assert first.impulse == pytest.approx(DT * force[100:113, 0, 2].sum())
    assert first.loading_rate == pytest.approx(100.0 / 0.005)
    assert (second.time, second.impulse) == (pytest.approx(0.3), pytest.approx(3.0))


# ---- gait --------------------------------------------------------------------------------------------------


def walk(biped):
    """Each foot: 0.6 s down, 0.4 s up, right half a stride later; heel first, toe last; 0.5 m per stride."""
    samples = 3001
    t = DT * np.arange(samples)
    front = biped.point_position[:, 0] > 0.0
    mode = np.zeros((samples, 8))
    position = np.zeros((samples, 8, 3))
    for foot, late in ((0, 0.1), (1, 0.6)):
        # In whole milliseconds: 0.6 is not a number that binary fractions keep.
        phase = np.round((t - late) / DT).astype(int) % 1000
        stride = np.round((t - late) / DT).astype(int) // 1000
        own = slice(4 * foot, 4 * foot + 4)
        heel, toe = phase < 400, (phase >= 100) & (phase < 600)
        mode[:, own] = np.where(front[own], toe[:, None], heel[:, None])
        place = 0.5 * (stride + np.maximum(phase - 600, 0) / 400)
        position[:, own, 0] = place[:, None] + biped.point_position[own, 0]
    mode[1234, 0:4] = OPEN  # chatter
    return blank(biped, samples, mode=mode, position=position)


def test_phases_find_heel_strike_flat_heel_off_and_toe_off(biped):
    phases = measure.phases(walk(biped))
    left = [s for s in phases.stances if s.foot == "left"]
    assert [s.first for s in left] == ["heel", "heel", "heel"]
    assert [left[1].strike, left[1].flat, left[1].heel_off, left[1].toe_off] == pytest.approx([1.1, 1.2, 1.5, 1.7])
    assert math.isnan(left[2].toe_off) is False
    right = [s for s in phases.stances if s.foot == "right"]
    # The recording begins within one of its stances, and ends in another.
    assert (right[0].first, right[0].start) == ("", 0.0)
    assert math.isnan(right[0].strike)
    assert right[0].toe_off == pytest.approx(0.2)
    assert math.isnan(right[-1].toe_off)
    assert [e.kind for e in phases.events if e.foot == "left"][:5] == [
        "strike",
        "flat",
        "heel off",
        "toe off",
        "strike",
    ]
    assert phases.flight == ()
    assert phases.contact.shape == (3001, 2)
    assert phases.contact[1234, 0]


def test_flight_is_when_no_foot_is_down(biped):
    mode = np.ones((500, 8))
    mode[100:200] = OPEN
    mode[480:] = OPEN
    flight = measure.phases(blank(biped, 500, mode=mode)).flight
    assert np.array(flight) == pytest.approx(np.array([[0.1, 0.2], [0.48, 0.499]]))


def test_strides_have_the_numbers_the_walk_was_made_with(biped):
    strides = measure.strides(walk(biped))
    assert [s.foot for s in strides] == ["left", "right", "left", "right"]
    for stride in strides:
        assert stride.time == pytest.approx(1.0)
        assert stride.length == pytest.approx(0.5)
        assert stride.speed == pytest.approx(0.5)
        assert stride.cadence == pytest.approx(120.0)
        assert stride.duty_factor == pytest.approx(0.6)


def test_heel_and_toe_are_the_ends_of_the_foot(biped, ball):
    (heel, toe), _ = measure.heel_and_toe(blank(biped))
    assert (biped.point_position[heel, 0] < 0).all()
    assert (biped.point_position[toe, 0] > 0).all()
    assert len(heel) == len(toe) == 2
    ((heel, toe),) = measure.heel_and_toe(blank(ball))
    assert heel.tolist() == toe.tolist() == [0]


# ---- energy ------------------------------------------------------------------------------------------------


def test_a_ball_in_flight_keeps_its_energy(ball):
    t = DT * np.arange(100)
    qvel = np.zeros((100, 6))
    qvel[:, 2] = 3.0 - 9.81 * t
    qvel[:, 4] = 5.0
    qpos = np.column_stack([0 * t, 0 * t, 1 + 3.0 * t - 4.905 * t**2, np.ones(100), np.zeros((100, 3))])
    energy = measure.energy(blank(ball, 100, qpos=qpos, qvel=qvel))
    assert energy.kinetic[0] == pytest.approx(0.5 * 9.0 + 0.5 * 0.004 * 25.0)
    assert energy.potential[0] == pytest.approx(9.81)
    assert energy.mechanical == pytest.approx(np.full(100, energy.mechanical[0]))
    assert energy.dissipated == pytest.approx(np.zeros(100), abs=TIGHT)


def test_an_impact_within_a_step_takes_the_energy_that_is_missing(ball):
    qvel = np.zeros((3, 6))
    qvel[:, 2] = [-2.0, 1.0, 1.0]
    force = np.zeros((3, 1, 3))
    force[0, 0, 2] = 3.0 / DT
    energy = measure.energy(blank(ball, 3, qvel=qvel, velocity=qvel[:, None, :3], force=force))
    assert energy.contact_power[0] == pytest.approx(-2.0 * 3.0 / DT)
    assert energy.contact_work == pytest.approx([0.0, -1.5, -1.5])
    assert energy.kinetic[1] - energy.kinetic[0] == pytest.approx(-1.5)
    assert energy.dissipated[-1] == pytest.approx(1.5)


def test_motors_put_in_torque_times_speed(biped):
    rng = np.random.default_rng(0)
    ctrl, qvel = rng.normal(size=(5, 14)), rng.normal(size=(5, 20))
    rec = blank(biped, ctrl=ctrl, qvel=qvel)
    torque = measure.joint_torques(rec)
    dof = [biped.model.joint(name).dofadr[0] for name in biped.actuated]
    gear = biped.model.actuator_gear[:, 0]
    assert torque[:, dof] == pytest.approx(ctrl * gear)
    assert torque[:, :6] == pytest.approx(np.zeros((5, 6)))
    assert measure.energy(rec).actuator_power == pytest.approx(ctrl * gear * qvel[:, dof])


def test_work_and_energy_balance_in_a_wild_motion(biped):
    """All forces act on points of bodies, so their work is the change of energy, to first order in dt."""
    rec = stepped(biped, Ground.plane(), samples=100, flight=range(100))
    energy = measure.energy(rec)
    scale = np.abs(np.diff(energy.kinetic)).sum()
    assert np.abs(energy.dissipated).max() < 0.02 * scale


def test_cost_of_transport_is_work_per_weight_and_way():
    xml = """<mujoco><worldbody><body name="cart" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
      <actuator><motor joint="x" ctrlrange="-100 100"/></actuator></mujoco>"""
    robot = load_robot(mujoco.MjModel.from_xml_string(xml))
    t = DT * np.arange(1001)
    ctrl = np.where(t < 0.5, 3.0, -1.0)[:, None]
    rec = blank(robot, 1001, ctrl=ctrl, qvel=np.full((1001, 1), 0.5), qpos=0.5 * t[:, None])
    weight_way = 2.0 * 9.81 * 0.5
    assert measure.cost_of_transport(rec) == pytest.approx(3.0 * 0.25 / weight_way)
    assert measure.cost_of_transport(rec, "absolute") == pytest.approx(1.0 / weight_way)
    assert measure.cost_of_transport(rec, "net") == pytest.approx(0.5 / weight_way)
    assert math.isnan(measure.cost_of_transport(blank(robot)))
    with pytest.raises(RecordingError, match="no cost of transport by 'sum' work: known: absolute, net, positive"):
        measure.cost_of_transport(rec, "sum")


def test_actuators_with_a_state_are_integrated_anew():
    xml = """<mujoco><worldbody><body name="cart" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
      <actuator><general joint="x" dyntype="integrator" actlimited="true" actrange="0 0.05"/></actuator>
      </mujoco>"""
    robot = load_robot(mujoco.MjModel.from_xml_string(xml))
    rec = blank(robot, 101, ctrl=np.ones((101, 1)))
    assert measure.joint_torques(rec)[:, 0] == pytest.approx(np.minimum(DT * np.arange(101), 0.05))


# ---- all of them -------------------------------------------------------------------------------------------

EVERY = [
    name
    for name in measure.__all__
    if callable(getattr(measure, name)) and name[0].islower() and name != "support_polygon"
]


@pytest.mark.parametrize("samples", [0, 1, 2])
@pytest.mark.parametrize("name", EVERY)
def test_short_recordings_are_measured_without_fuss(name, samples, biped, recwarn):
    getattr(measure, name)(at_rest(biped, samples))
    assert not recwarn.list


@pytest.mark.parametrize("name", EVERY)
def test_a_recording_that_ends_in_nan_is_measured_up_to_there(name, biped):
    qpos, force = np.tile(biped.home, (5, 1)), np.ones((5, 8, 3))
    whole = getattr(measure, name)(at_rest(biped, qpos=qpos, force=force, position=force))
    broken, bad = qpos.copy(), force.copy()
    broken[-1], bad[-1] = np.nan, np.nan
    found = getattr(measure, name)(at_rest(biped, qpos=broken, force=bad, position=bad))
    assert type(found) is type(whole)
    if isinstance(found, np.ndarray) and len(found) == 5:  # rates look one sample ahead
        np.testing.assert_array_equal(found[:3], whole[:3])


def test_what_is_remembered_of_a_recording_goes_with_it(brick):
    rec = at_rest(brick)
    assert measure.momentum(rec) is measure.momentum(rec)
    gone = weakref.ref(measure.momentum(rec))
    del rec
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_zmp_and_cop_agree_in_a_simulation():
    """A brick dropped on its edge: impacts, stick and slide, by the engine itself."""
    from footfall.contact import law
    from footfall.simulation import Simulation

    robot = load_robot("brick")
    qpos = robot.home.copy()
    qpos[2] += 0.1
    qpos[3:7] = [math.cos(0.2), math.sin(0.2), 0.0, 0.0]
    qvel = np.array([0.5, 0.0, 0.0, 0.0, 1.0, 2.0])
    for ground in GROUNDS.values():
        rec = Simulation(robot, ground=ground, law=law("linearizing-penalty"), dt=DT).run(0.5, qpos=qpos, qvel=qvel)
        cop = measure.overall_cop(rec)
        both = ~(np.isnan(rec.zmp) | np.isnan(cop)).any(axis=1)[:-1]
        assert both.sum() > 50
        assert rec.zmp[:-1][both] == pytest.approx(cop[:-1][both], abs=1e-8)
