"""Constraint selection: from any state a state is found that breaks no rule, and it changes when it should."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from engine import reference
from physics.laws import GRAVITY
from plain_python import plainly
from robot_models import three_legged_stool
from scipy.spatial import ConvexHull

import footfall as ff
from footfall.contact.constraint_selection import STEPS, ConstraintSelection
from footfall.solve.contacts import SLIDE, STICK
from footfall.solve.selection.forces import affine_load, put_joint, spread_load
from footfall.solve.selection.soles import STRAIGHT, Workspace, convex_outline, make_workspace
from footfall.standing import point_positions

LAW = "constraint-selection"
NONE, VERTEX, EDGE, FACE = range(4)
DT = 1e-3  # s
#: Share of states that may cost more than a step may.
UNSOLVED = 2e-3
#: What is random: friction (static, dynamic), and how often a robot starts level and at rest.
FRICTIONS = ((0.0, 0.0), (0.12, 0.1), (0.5, 0.4), (1.0, 0.8))
LEVEL, AT_REST = 0.3, 0.2


def random_states(robot: ff.Robot, count: int, seed: int, law: ff.contact.Law) -> Iterator[reference.Run]:
    """Runs at their first instant: a robot near the ground, tilted and moving anyhow, remembering any state."""
    rng = np.random.default_rng(seed)
    model, feet = robot.model, robot.point_count
    run = reference.evaluated(ff.Simulation(robot, law=law, dt=DT), robot.home)
    height = 2 if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1
    for _ in range(count):
        run.contacts.static_friction[:], run.contacts.dynamic_friction[:] = FRICTIONS[rng.integers(len(FRICTIONS))]
        qpos = robot.home.copy()
        if rng.random() > LEVEL:
            mujoco.mj_integratePos(model, qpos, 10 ** rng.uniform(-6, -0.5) * rng.normal(size=model.nv), 1.0)
        run.data.qpos[:] = qpos
        mujoco.mj_kinematics(run.model, run.data)
        places = point_positions(robot, run.data)
        over = (0.0, rng.uniform(-1e-3, 1e-3), rng.uniform(0.0, 5e-3))[rng.integers(3)]
        lift = over - (places[:, 2] - robot.point_radius).min()
        run.data.qpos[height] += lift
        run.data.qvel[:] = 0.0 if rng.random() < AT_REST else 10 ** rng.uniform(-3, 0.7) * rng.normal(size=model.nv)
        run.data.ctrl[:] = rng.uniform(0.0, 30.0) * rng.normal(size=model.nu)
        run.points.memory[:] = 0.0
        run.points.memory[:feet, 0] = rng.integers(0, 3, size=feet) * (rng.random() < 0.5)
        run.points.anchor[:feet] = np.add(places, (0.0, 0.0, lift))
        run.step, run.outcome.end[0], run.outcome.samples[0] = 0, 0, 0
        run.advance(1)
        if run.contacts.number[0]:
            yield run


@pytest.mark.parametrize("rules", ["landing", "paper"])
@pytest.mark.parametrize(
    ("name", "count"),
    [("ball", 300), ("brick", 1200), ("planar-biped", 1200), ("spatial-biped", 2000), ("quadruped", 1000)],
)
def test_from_any_state_the_search_ends_and_no_rule_is_broken(name, count, rules):
    """No pull, nothing beyond the cone, friction against the slip; no free vertex that goes in, or, under the paper's
    rules, nothing clamped above d and no free vertex below -d that does not come out.

    Nearly all are solved within what a step may cost.
    """
    robot, law = ff.load_robot(name), ff.law(LAW, rules=rules)
    tried, touching, unsolved = [], [], 0
    for run in random_states(robot, count, 1, law):
        tried.append(run.scratch.signals[0])
        if run.tape.status[0] != 0:
            unsolved += 1
            continue
        assert run.scratch.signals[1] == 0
        near, contacts = reference.near(run), run.contacts
        friction = contacts.static_friction[near], contacts.dynamic_friction[near]
        found = run.points.force[near], run.points.mode[near], contacts.velocity[near], contacts.gap[near]
        chosen = np.full(len(found[1]), run.scratch.signals[3] == 0)  # by states, and not point by point
        touching.append((*found, contacts.body[near], *friction, end_velocities(run), chosen))
    # All points of all states, one after the other, and which state they are of.
    first = np.cumsum([0, *(len(mode) for _, mode, *_ in touching)])[:-1]
    force, mode, velocity, gap, foot, static, dynamic, end, chosen = map(np.concatenate, zip(*touching, strict=True))
    seen = len(touching)
    state = np.repeat(np.arange(seen), np.diff([*first, len(mode)]))
    assert (force[:, 2] >= 0.0).all()
    limit = np.where(mode == SLIDE, dynamic, static) * force[:, 2]
    assert (np.hypot(force[:, 0], force[:, 1]) <= limit * (1.0 + 1e-9) + 1e-12).all()
    fastest = np.maximum.reduceat(np.abs(velocity).max(axis=1), first)[state]
    scale = 1e-6 * np.maximum(1.0, fastest)
    # Forces are spread as if the sole were level; where it lands askew, friction has its vertices' heights as arms.
    askew = (np.maximum.reduceat(gap, first) - np.minimum.reduceat(gap, first))[state] / 0.05 * (0.1 + fastest)
    deepest = np.zeros((seen, foot.max() + 1))
    np.minimum.at(deepest, (state, foot), gap)
    allowed = -(gap - deepest[state, foot]) / DT - scale - askew
    if rules == "landing":
        assert ((end[:, 2] >= allowed) | (mode != 0)).all()
    else:
        d = law.reach
        assert (gap <= d)[chosen & (mode != 0)].all()
        assert (end[:, 2] >= -scale - askew)[chosen & (mode == 0) & (gap < -d)].all()
    assert (np.abs(end[:, :2]).max(axis=1) < 20.0 * scale + askew)[mode == STICK].all()
    slides = (mode == SLIDE) & (np.hypot(end[:, 0], end[:, 1]) > 1e3 * scale + askew)
    assert (np.einsum("pi,pi->p", force[slides, :2], end[slides, :2]) <= 0.0).all()
    print(
        f"\n    {name}: {seen} states touched, {np.mean(tried):.2f} tried on average, {max(tried):.0f} at most", end=""
    )
    assert seen > 0.4 * count
    assert unsolved <= UNSOLVED * count


@pytest.mark.parametrize("vertices", [4, 12, 64])
def test_states_of_the_full_humanoid_are_solved(vertices):
    """Soles of many corners, joints at their limits: what the search does not find is found point by point.

    One of 700 states with 64 corners stays unsolved, and says so: contacts and joint limits do not agree in a hundred
    rounds.
    """
    robot = ff.load_robot("full-humanoid", vertices=vertices)
    ended = [int(run.tape.status[0]) for run in random_states(robot, 700, 2, ff.law(LAW))]
    assert len(ended) > 350
    assert sum(ended) <= (1 if vertices == 64 else 0)


@lru_cache(maxsize=1)
def data_beside(run: reference.Run) -> mujoco.MjData:
    return mujoco.MjData(run.model)


def end_velocities(run: reference.Run) -> np.ndarray:
    """(n, 3) m/s of the near points at the end of the step, under the forces the law gave; frames are the world's."""
    data = data_beside(run)  # thousands of times: to make one takes longer than all else
    data.qpos[:] = run.data.qpos
    mujoco.mj_kinematics(run.model, data)
    mujoco.mj_comPos(run.model, data)
    jacobian = reference.point_jacobian(run, data)
    return jacobian @ (run.data.qvel + DT * run.data.qacc)


def test_points_that_begin_to_slide_because_others_do_have_their_dynamic_friction_too():
    """Under time-stepping, which slides by the same solver; in three of these states static friction was clipped."""
    for run in random_states(ff.load_robot("spatial-biped"), 900, 1, ff.law("time-stepping")):
        near = reference.near(run)
        velocity, gap = run.contacts.velocity[near], run.contacts.gap[near]
        slack = 1e-6 * max(1.0, np.abs(velocity).max())
        assert (end_velocities(run)[:, 2] >= -np.maximum(gap, 0.0) / DT - slack).all()


def test_without_the_last_state_a_search_ends_in_the_same_motion():
    robot = ff.load_robot("spatial-biped")
    warm, cold = (
        ff.Simulation(robot, law=ff.law(LAW, warm=one), dt=DT).run(0.3, controller="posture") for one in (True, False)
    )
    np.testing.assert_allclose(cold.qpos, warm.qpos, atol=1e-9)
    assert (cold.signals["candidates"][1:] > warm.signals["candidates"][1:]).all()


def test_the_thresholded_model_is_for_the_exact_mode_without_the_rule():
    with pytest.raises(ff.FootfallError, match="pull = 5"):
        ff.law(LAW, pull=5.0)
    assert ff.law(LAW, pull=5.0, cop_rule=False).pull == 5.0


@pytest.mark.parametrize("d", [1e-4, 1e-3, 5e-3])
def test_under_the_papers_rules_a_foot_is_clamped_below_d_and_free_above(d):
    """It stops where it is, at most d above the ground, and comes down at Baumgarte's rate; nothing pulls."""
    sim = ff.Simulation("brick", law=ff.law(LAW, rules="paper", d=d), dt=DT)
    rec = sim.run(0.3, qpos=sim.place() + 0.02 * np.eye(7)[2])
    height, landed = rec.gap[:, 0], int(np.flatnonzero(rec.mode.any(axis=1))[0])
    assert height[landed] <= d < height[landed - 1]
    assert (rec.mode[landed:] != 0).all() and (rec.force[..., 2] >= 0.0).all() and (rec.status == 0).all()
    np.testing.assert_allclose(
        height[landed + 1 :], height[landed] * (1.0 - 1.0 / STEPS) ** np.arange(1, len(rec) - landed)
    )


@pytest.mark.parametrize("rules", ["landing", "paper"])
def test_all_rules_hold_in_random_states_under_either_set(rules):
    """No pull, nothing beyond the cone; under the paper's, nothing that is above d is clamped."""
    robot, law = ff.load_robot("spatial-biped"), ff.law(LAW, rules=rules)
    for run in random_states(robot, 300, 3, law):
        near, contacts = reference.near(run), run.contacts
        force, mode = run.points.force[near], run.points.mode[near]
        assert run.tape.status[0] == 0 and run.scratch.signals[1] == 0
        limit = np.where(mode == SLIDE, contacts.dynamic_friction[near], contacts.static_friction[near]) * force[:, 2]
        assert (force[:, 2] >= 0.0).all()
        assert (np.hypot(force[:, 0], force[:, 1]) <= limit * (1.0 + 1e-9) + 1e-12).all()
        if rules == "paper" and run.scratch.signals[3] == 0:
            assert (contacts.gap[near][mode != 0] <= 1e-3).all()


@pytest.mark.parametrize(
    ("threshold", "value"), [("d", 1e-6), ("d", 1e-2), ("a_t", 0.0), ("v_t", 10.0)], ids=lambda one: str(one)
)
def test_every_threshold_of_the_paper_changes_some_motion(threshold, value):
    """A biped that lands, which nothing but d and v_t concern; and one that is pushed onto the edges of its soles."""
    sims = [
        ff.Simulation("spatial-biped", law=ff.law(LAW, rules="paper", **options), dt=DT)
        for options in ({}, {threshold: value})
    ]
    if threshold == "a_t":
        push = ff.Push("trunk", force=(0.0, 80.0, 0.0), start=0.1, duration=0.2)
        usual, other = (sim.run(1.0, pushes=[push], controller="posture") for sim in sims)
    else:
        start = sims[0].place() + 0.03 * np.eye(sims[0].robot.home.size)[2]
        usual, other = (sim.run(0.2, qpos=start, controller="posture") for sim in sims)
    assert (usual.signals["state"] != other.signals["state"]).any()
    assert np.abs(usual.position - other.position).max() > 1e-4


@pytest.mark.parametrize("threshold", ["d", "a_t", "v_t"])
def test_a_threshold_is_refused_where_no_rule_has_one(threshold):
    with pytest.raises(ff.errors.LawError, match=f"{threshold} = 0.01 but it must be left out unless"):
        ff.law(LAW, rules="landing", **{threshold: 0.01})
    assert getattr(ff.law(LAW, **{threshold: 0.01}), threshold) == 0.01


def test_a_threshold_beyond_what_laws_are_shown_is_heeded():
    """A vertex is clamped 1.6 cm above the ground, where it falls as fast as the clamp would lead it down; without d,
    points farther than 1 cm are not shown to the law.
    """
    sim = ff.Simulation("brick", law=ff.law(LAW, d=0.03), dt=DT)
    rec = sim.run(0.2, qpos=sim.place() + 0.05 * np.eye(7)[2])
    landed = int(np.flatnonzero(rec.mode.any(axis=1))[0])
    assert ConstraintSelection.margin < rec.gap[landed, 0] <= 0.03


@pytest.mark.parametrize(("d", "verdict"), [(1e-3, "by design"), (1e-5, "fail")])
def test_the_audit_allows_pushes_as_far_above_the_ground_as_the_law_says(d, verdict):
    """A brick that is held up to 1 mm above the ground, by a law that says so and by one that says less."""
    sim = ff.Simulation("brick", law=ff.law(LAW, d=1e-3), dt=DT)
    rec = sim.run(0.1, qpos=sim.place() + 0.02 * np.eye(7)[2])
    row = ff.audit(replace(rec, law=ff.law(LAW, d=d)))["gap times force"]
    assert row.verdict == verdict and row.worst > 1e-4 * rec.robot.weight * 0.2
    assert ff.law(LAW, rules="landing").reach == 0.0 and ff.law("time-stepping").reach == 0.0


def test_no_chattering_over_ten_seconds_of_standing():
    rec = ff.Simulation("spatial-biped", law=LAW, dt=DT).run(10.0, controller="posture")
    assert (rec.signals["state"] == FACE).all()
    assert (rec.signals["sliding"] == 0).all()
    assert (rec.signals["candidates"][1:] == 1).all()
    assert (rec.status == 0).all()
    assert np.abs(rec.position[-1] - rec.position[0]).max() < 1e-12


def tipped_block(law: ff.contact.Law | str, sideways: float = 0.0) -> ff.Recording:
    """A tall brick that is pushed at its middle by a hundredth of its weight more every 10 ms, until it tips over."""
    robot = ff.load_robot("brick", height=0.4)
    force = robot.weight * np.array([1.0, sideways, 0.0])
    pushes = [ff.Push("brick", force=tuple(0.01 * k * force), start=0.01 * k, duration=0.01) for k in range(60)]
    return ff.Simulation(robot, ground=ff.Ground.plane(2.0), law=law, dt=DT).run(0.6, pushes=pushes)


def test_the_face_is_left_for_the_edge_when_the_pressure_centre_gets_there():
    """A force F at the height h moves the centre of pressure by F h / (m g): to the edge at half the weight here."""
    rec = tipped_block(LAW)
    state = rec.signals["state"][:, 0]
    change = int(np.flatnonzero(state != FACE)[0])
    assert (state[:change] == FACE).all() and (state[change:] == EDGE).all()
    edge = rec.position[0, :, 0].max()
    ahead = 0.2 * 0.01 * (rec.time[:change] // 0.01)  # h F / (m g)
    np.testing.assert_allclose(rec.cop[:change, 0, 0], ahead, atol=0.002 + 1e-9)
    assert rec.cop[change - 1, 0, 0] == pytest.approx(edge, abs=1e-9)
    np.testing.assert_allclose(rec.cop[change : change + 20, 0, 0], edge, atol=1e-6)
    assert rec.time[change] == pytest.approx(0.51, abs=1e-9)  # the first push beyond half the weight


def test_without_the_pressure_rule_the_state_chatters_before_the_foot_tips():
    """Pushed askew, the load of least norm pulls at a corner long before the centre of pressure is at the edge."""
    clean, rough = (tipped_block(ff.law(LAW, cop_rule=rule), sideways=0.2) for rule in (True, False))
    changes = [np.flatnonzero(np.diff(rec.signals["state"][:, 0])) for rec in (clean, rough)]
    assert len(changes[0]) <= 2
    assert len(changes[1]) > 10
    assert rough.time[changes[1][0]] < clean.time[changes[0][0]] - 0.05
    assert (rough.status[rough.signals["violations"] > 0] == 1).all()  # never silent


def test_touch_down_is_a_plastic_impact():
    sim = ff.Simulation("brick", law=ff.law(LAW, rules="landing"), dt=DT)
    rec = sim.run(0.3, qpos=sim.place() + 0.1 * np.eye(7)[2])
    landed = int(np.flatnonzero(rec.mode.any(axis=1))[0])
    assert np.abs(rec.qvel[landed + 2 :]).max() < 1e-12
    assert rec.gap.min() > -1e-12
    impulse = (rec.total_force[landed : landed + 2, 2] - rec.robot.weight).sum() * DT
    assert impulse == pytest.approx(rec.robot.mass * -rec.qvel[landed, 2], rel=1e-9)


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 5e-4])
def test_a_sliding_brick_decelerates_by_exactly_mu_g(dt):
    rec = ff.Simulation("brick", ground=ff.Ground.plane(0.3), law=LAW, dt=dt).run(0.4, qvel=[2.0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(rec.qvel[:, 0], 2.0 - 0.3 * GRAVITY * rec.time, atol=1e-9)


def test_a_foot_inside_the_ground_comes_out_as_baumgartes_gains_say():
    rec = ff.Simulation("brick", law=LAW, dt=DT).run(0.1, qpos=ff.load_robot("brick").home - 1e-4 * np.eye(7)[2])
    np.testing.assert_allclose(-rec.gap[:, 0], 1e-4 * (1.0 - 1.0 / STEPS) ** np.arange(len(rec)), rtol=1e-6)


@pytest.mark.parametrize("ground", ["slope", "stairs", "function"])
def test_bricks_rest_on_slopes_stairs_and_bumps(ground):
    grounds = {
        "slope": ff.Ground.slope(0.3, friction=0.8),
        "stairs": ff.Ground.stairs(rise=0.03, run=0.12, count=3, start=0.02),
        "function": ff.Ground.function(lambda x, y: 0.01 * np.sin(20.0 * x) * np.cos(15.0 * y)),
    }
    sim = ff.Simulation("brick", ground=grounds[ground], law=LAW, dt=DT)
    rec = sim.run(1.5, qpos=sim.place(align=ground == "slope"))
    late = rec.slice(1.3)
    assert (late.status == 0).all()
    np.testing.assert_allclose(
        late.total_force.mean(axis=0), [0.0, 0.0, rec.robot.weight], atol=1e-3 * rec.robot.weight
    )
    assert np.abs(late.qvel).max() < 1e-6


@pytest.mark.parametrize("vertices", [1, 2, 3, 5, 12, 64])
def test_loads_push_and_have_their_centre_where_it_is(vertices):
    """For any polygon and any place inside it, and where an affine load would pull: none is negative."""
    rng, cut = np.random.default_rng(vertices), 0
    for _ in range(100):
        work = foot(rng, vertices)
        weights = rng.dirichlet(np.full(vertices, rng.choice([0.05, 0.3, 1.0])))
        centre = weights @ work.place[:, :2]
        work.pressure[0, :3] = [7.0, *centre]
        plainly(spread_load)(work, 0)
        loads, (x, y) = work.push[:, 2], 7.0 * (centre - work.joint[0, :2])
        assert (loads >= 0.0).all()
        assert loads.sum() == pytest.approx(7.0, rel=1e-9)
        np.testing.assert_allclose(loads @ work.place[:, :2] / 7.0, centre, atol=1e-9)
        affine = [plainly(affine_load)(work, 0, p, 7.0, x, y) for p in range(vertices)]
        cut += min(affine) < -1e-9
        if min(affine) > 1e-9:
            np.testing.assert_allclose(loads, affine, atol=1e-9)
    assert cut > 10 or vertices < 4


def foot(rng: np.random.Generator, vertices: int) -> Workspace:
    """A foot whose vertices, anywhere on an ellipse, are all clamped."""
    work = make_workspace(vertices, 1, 1)
    work.code[0], work.begin[1], work.ring[:vertices] = min(vertices, FACE), vertices, np.arange(vertices)
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, vertices))
    work.place[:, 0], work.place[:, 1] = 0.1 * np.cos(angle), 0.06 * np.sin(angle)
    seen = SimpleNamespace(frame=np.array([np.eye(3)] * vertices), arm=work.place[:, :3])
    plainly(put_joint)(seen, work, 0, 0)
    return work


def test_the_one_step_mode_tries_one_state_and_says_what_it_left():
    law = ff.law(LAW, mode="one-step")
    sim = ff.Simulation("spatial-biped", law=law, dt=DT)
    start = sim.place()
    start[2] += 0.03
    rec = sim.run(1.0, qpos=start, controller="posture")
    assert set(np.unique(rec.signals["candidates"])) <= {0.0, 1.0}
    late = rec.slice(0.9)
    assert (late.signals["violations"] == 0).all() and (late.signals["state"] == FACE).all()
    assert late.total_force[:, 2].mean() == pytest.approx(rec.robot.weight, rel=1e-2)


@pytest.mark.parametrize(("option", "value"), [("d", -1.0), ("mode", "fast"), ("cop_rule", 1), ("beta", -2.0)])
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(ff.errors.LawError, match=f"{option} = {value!r}"):
        ff.law(LAW, **{option: value})


@pytest.mark.parametrize("count", [3, 4, 5, 8, 12])
def test_the_outline_of_a_foot_is_qhulls_and_stays_in_its_room(count):
    rng = np.random.default_rng(count)
    for _ in range(50):
        place = np.zeros((count, 6))
        place[:, :2] = rng.normal(size=(count, 2))
        ring = np.full(count + 1, -1)
        found = convex_outline.py_func(place, np.arange(count), count, STRAIGHT, ring)
        theirs = list(ConvexHull(place[:, :2]).vertices)  # counter-clockwise, from anywhere
        begin = theirs.index(ring[0])
        assert ring[:found].tolist() == theirs[begin:] + theirs[:begin]


def test_a_sole_that_is_not_flat_stands_on_its_lowest_points_without_a_search():
    """No vertex, edge or face of six points is what it stands on, and none that is off the ground is pushed."""
    sim = ff.Simulation(three_legged_stool(), law=LAW, dt=DT)
    assert sim.robot.point_count == 6
    rec = sim.run(0.5, controller=None)
    assert rec.audit().passed
    assert rec.signals["candidates"].max() < 10  # 28 states were tried in vain
    assert (rec.signals["points"] == 1).all() and not rec.signals["rule"].any()
    loads = np.sort(rec.force[-1, :, 2])
    np.testing.assert_allclose(loads, [0.0] * 3 + [5.0 * GRAVITY / 3] * 3, atol=1e-6 * 5.0 * GRAVITY)
