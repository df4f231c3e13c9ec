"""The audit: correct laws pass, and every fault planted on purpose is found by the row that should find it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from blank_recordings import blank

import footfall as ff
from footfall.contact import law_class, registry
from footfall.errors import FootfallError
from footfall.measure.audit import audit_table
from footfall.record import Failure

OPEN, STICK, SLIDE = 0, 1, 2
GROUND = ff.Ground.plane(friction=(0.8, 0.6))
BUILT_IN = [name for name in ff.laws() if law_class(name).citation != "user"]


def brick(law, duration=0.4, *, lift=0.0, qvel=None, ground=GROUND, **options):
    sim = ff.Simulation("brick", ground=ground, law=law)
    qpos = sim.place(align=True)
    qpos[2] += lift
    return sim.run(duration, qpos=qpos, qvel=qvel, **options)


def biped(law, pushes=(), name="spatial-biped", dt=1e-3):
    return ff.Simulation(name, law=law, dt=dt).run(0.5, controller="posture", pushes=pushes)


CASES = {
    "brick standing": lambda law: brick(law),
    "brick sliding": lambda law: brick(law, qvel=[1.0, 0.3, 0.0, 0.0, 0.0, 0.5]),
    "brick dropped": lambda law: brick(law, lift=0.1),
    "brick on a ramp": lambda law: brick(law, ground=ff.Ground.slope(0.2, heading=0.5)),
    "biped standing": lambda law: biped(law),
    "biped pushed": lambda law: biped(law, [ff.Push("trunk", force=(30.0, 10.0, 0.0), start=0.1, duration=0.1)]),
    # Its feet are light: springs of 1 mm need short steps.
    "planar biped": lambda law: biped(law, name="planar-biped", dt=2e-4),
}


@pytest.fixture(scope="module")
def standing():
    return brick("linearizing-penalty")


@pytest.fixture(scope="module")
def sliding():
    """Under friction that claims to oppose the slip at every instant, which a spring's does not."""
    return brick(ff.law("spring-damper", friction="regularised"), 0.05, qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def with_force(rec, change):
    force = rec.force.copy()
    change(force)
    return replace(rec, force=force)


@pytest.mark.parametrize("law", BUILT_IN)
@pytest.mark.parametrize("case", CASES)
def test_correct_laws_pass(case, law):
    audit = CASES[case](law).audit()
    assert not audit.failed, str(audit)


@pytest.fixture(scope="module", params=[0.1, 0.2])
def cube(request, tmp_path_factory):
    """A cube of wood of so many metres, from a URDF."""
    side = request.param
    mass = 600.0 * side**3
    inertia = " ".join(
        f'{axes}="{mass * side**2 / 6.0 * (axes[1] == axes[2])}"' for axes in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    path = tmp_path_factory.mktemp("cube") / "cube.urdf"
    path.write_text(
        f'''<robot name="cube"><link name="cube">
        <inertial><mass value="{mass}"/><inertia {inertia}/></inertial>
        <collision><geometry><box size="{side} {side} {side}"/></geometry></collision></link></robot>''',
        encoding="utf-8",
    )
    return ff.load_robot(path)


@pytest.mark.parametrize("law", BUILT_IN)
def test_a_cube_thrown_with_spin_passes_under_every_law(cube, law):
    """It lands on corners, edges and faces, slips, turns over and comes to rest: three throws."""
    sim = ff.Simulation(cube, law=law)
    for seed in (0, 1, 5):
        random = np.random.default_rng(seed)
        qpos = sim.place()
        qpos[2] += random.uniform(0.05, 0.4)
        qvel = np.concatenate([random.uniform(-2, 2, 2), random.uniform(-1, 1, 1), random.uniform(-10, 10, 3)])
        audit = sim.run(0.6, qpos=qpos, qvel=qvel).audit()
        assert not audit.failed and not audit.unknown, f"throw {seed}: {audit}"


# ---- what a law does not claim -----------------------------------------------------------------------------


@pytest.mark.parametrize("law", BUILT_IN)
def test_what_a_law_does_not_claim_is_a_row_with_a_reason(law, standing):
    rows = {row.name for row in ff.audit(standing).rows}
    assert set(ff.law(law).unclaimed) <= rows
    assert all(ff.law(law).unclaimed.values())
    # Every law claims that nothing pulls, sinks too deep, or creates energy.
    assert set(ff.law(law).unclaimed) <= {"friction direction", "friction energy"}


def test_laws_of_coulombs_friction_claim_all_of_it():
    for name in ("time-stepping", "acceleration-complementarity", "constraint-selection"):
        assert not ff.law(name).unclaimed
    assert not ff.law("spring-damper", friction="regularised").unclaimed
    assert not ff.law("hunt-crossley", friction="regularised").unclaimed
    assert ff.law("hunt-crossley", friction="lugre").unclaimed


def test_what_a_law_does_not_claim_is_a_note_that_says_why(sliding):
    driving = with_force(sliding, lambda force: np.negative(force[..., :2], out=force[..., :2]))
    assert ff.audit(driving)["friction direction"].verdict == "fail"
    row = ff.audit(replace(driving, law=ff.law("spring-damper")))["friction direction"]
    assert row.verdict == "note" and "spring-damper does not claim that: the anchor's spring" in row.meaning
    assert "friction energy" in ff.audit(replace(driving, law=ff.law("spring-damper"))).failed  # which it does claim
    calm = ff.audit(replace(sliding, law=ff.law("spring-damper")))["friction direction"]
    assert calm.verdict == "pass" and "claim" not in calm.meaning


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_mujocos_own_friction_may_drive_a_slip(cone):
    """In MuJoCo alone: a box that slides back, pulled forward by 2 g, has friction at its limit that points back.

    It opposes the acceleration of about 10 m/s2 and b = 2 / (0.95 * 0.02 s) times the velocity, -5 m/s2, together.
    """
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001" cone="{cone}"/><worldbody>
        <geom type="plane" size="5 5 1" friction="0.7"/>
        <body pos="0 0 0.0999"><freejoint/><geom type="box" size=".1 .1 .1" density="600" friction="0.7"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 300)
    data.qvel[:] = [-0.05, 0.0, 0.0, 0.0, 0.0, 0.0]
    data.xfrc_applied[1, 0] = 2.0 * 9.81 * model.body_mass[1]
    mujoco.mj_forward(model, data)
    total, one = np.zeros(3), np.zeros(6)
    for contact in range(data.ncon):
        mujoco.mj_contactForce(model, data, contact, one)
        total += data.contact[contact].frame.reshape(3, 3).T @ one[:3]
    assert total[0] == pytest.approx(-0.7 * total[2], rel=1e-6)
    mujoco.mj_step(model, data)
    assert data.qvel[0] < -0.03  # it slides back all the time


def test_one_cone_for_a_foot_is_that_of_the_resultant(standing):
    """Of a law that claims no more: single points may exceed it, the foot may not."""
    law = ff.law("distributed")

    def shift(force):
        force[5, 0, 0] += 0.9 * force[5, 0, 2]  # over 0.8, the static coefficient
        force[5, 1, 0] -= 0.9 * force[5, 1, 2]

    turned = with_force(standing, shift)
    assert ff.audit(turned)["friction cone"].verdict == "fail"
    assert ff.audit(replace(turned, law=law))["friction cone"].verdict == "pass"
    all_of_it = with_force(standing, lambda force: np.add(force[..., 0], 0.9 * force[..., 2], out=force[..., 0]))
    row = ff.audit(replace(all_of_it, law=law))["friction cone"]
    assert row.verdict == "fail"
    assert row.worst == pytest.approx(0.1 * standing.total_force[:, 2].max(), rel=1e-6)


def test_friction_that_stops_a_slip_turned_round_by_the_impact_creates_nothing():
    """A rod lands askew on its end, which slips back: the normal impulse turns the slip round, friction holds it."""
    rod = ff.load_robot("brick", length=0.4, width=0.02, height=0.02)
    sim = ff.Simulation(rod, law="time-stepping", ground=ff.Ground.plane(friction=2.0))
    qpos = sim.place()
    qpos[2], qpos[3:7] = 0.25, [math.cos(0.4), 0.0, math.sin(0.4), 0.0]  # 46 degrees nose down
    rec = sim.run(0.3, qpos=qpos, qvel=[-0.3, 0.0, -1.0, 0.0, 0.0, 0.0])
    audit = ff.audit(rec)
    assert not audit.failed
    landing = int(np.argmax(rec.force[:, :, 2].max(axis=1) > 0.0))
    point = int(rec.force[landing, :, 2].argmax())
    force, before = rec.force[landing, point, 0], rec.velocity[landing, point, 0]
    assert force * before > 0.0  # along the slip before
    assert audit["friction energy"].worst < audit["friction energy"].tolerance


def test_the_length_of_a_sole_does_not_depend_on_its_bodys_axes():
    for angle in (0.0, 0.3, 0.7, 1.2):
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        ring = np.array([[0.1, 0.04, -0.1], [-0.12, 0.04, -0.1], [-0.12, -0.05, -0.1], [0.1, -0.05, -0.1]]) @ turn.T
        assert ff.Foot("sole", "body", ring, ring, np.zeros(4)).length == pytest.approx(0.22)
        assert ff.Foot("edge", "body", ring[:2], ring[:2], np.zeros(2)).length == pytest.approx(0.22)
    assert ff.Foot("ball", "body", ring[:1], ring[:1], np.ones(1)).length == 0.0


def test_a_rigid_contact_passes_every_row_without_a_note(standing):
    audit = ff.audit(standing)
    assert audit.verdict == "pass"
    assert audit["force balance"].worst < 1e-12 * standing.robot.weight * 1e3


# ---- faults planted in a correct recording -----------------------------------------------------------------


def push_sideways(force):
    force[7, 2, 0] += 1.1 * 0.8 * force[7, 2, 2]


def pull_down(force):
    force[7, 2, 2] = -0.01


FAULTS = {
    "friction cone": push_sideways,
    "pulling force": pull_down,
    "force balance": lambda force: np.multiply(force, 1.01, out=force),
}


@pytest.mark.parametrize("row", FAULTS)
def test_a_wrong_force_is_found_by_its_row(standing, row):
    audit = ff.audit(with_force(standing, FAULTS[row]))
    assert row in audit.failed
    assert set(audit.failed) <= {row, "force balance", "moment balance", "cop in support"}
    with pytest.raises(FootfallError, match=f"fails: .*{row} "):
        audit.check()


def test_the_worst_is_told_with_its_size_and_time(standing):
    row = ff.audit(with_force(standing, push_sideways))["friction cone"]
    assert row.worst == pytest.approx(0.1 * 0.8 * standing.force[7, 2, 2], rel=1e-6)
    assert row.relative == pytest.approx(row.worst / standing.robot.weight, rel=1e-6)
    assert row.rms == pytest.approx(row.worst / math.sqrt(len(standing)), rel=1e-6)
    assert row.when == standing.time[7]


def test_a_moment_without_motion_is_found_though_forces_add_up(standing):
    def twist(force):
        force[:, 0, 2] += 0.5
        force[:, 3, 2] -= 0.5

    assert ff.audit(with_force(standing, twist)).failed == ("moment balance",)


def test_sliding_points_are_held_to_the_dynamic_cone(standing):
    mode, force = standing.mode.copy(), standing.force.copy()
    force[5, :, 0] = 0.7 * force[5, :, 2]  # between dynamic 0.6 and static 0.8
    assert ff.audit(replace(standing, force=force))["friction cone"].verdict == "pass"
    mode[5] = SLIDE
    assert ff.audit(replace(standing, force=force, mode=mode))["friction cone"].verdict == "fail"


def test_a_force_on_a_point_above_the_ground_is_found(standing):
    gap = standing.gap.copy()
    gap[:, 1] = 1e-3
    assert "gap times force" in ff.audit(replace(standing, gap=gap)).failed
    mode = standing.mode.copy()
    mode[3, 1] = OPEN
    audit = ff.audit(replace(standing, mode=mode))
    assert audit.failed == ("open force",)
    assert audit["open force"].worst == pytest.approx(np.linalg.norm(standing.force[3, 1]))


def test_a_force_in_the_step_that_closes_the_gap_is_no_fault(standing):
    gap, velocity = standing.gap.copy(), standing.velocity.copy()
    gap[0], velocity[0, :, 2] = 1e-3, -1.0  # there within the step: what time-stepping laws do
    assert ff.audit(replace(standing, gap=gap, velocity=velocity))["gap times force"].verdict == "pass"


def test_friction_that_drives_the_slip_is_found(sliding):
    audit = ff.audit(with_force(sliding, lambda force: np.negative(force[..., :2], out=force[..., :2])))
    assert {"friction direction", "friction energy"} <= set(audit.failed)
    assert audit["friction direction"].worst == pytest.approx(180.0, abs=0.1)
    across = with_force(sliding, lambda force: force.__setitem__((..., slice(2)), force[..., 1::-1]))
    assert ff.audit(across)["friction direction"].worst == pytest.approx(90.0, abs=0.1)


def test_deep_penetration_is_found(standing):
    audit = ff.audit(replace(standing, gap=standing.gap - 0.011))  # 5 % of a sole of 0.2 m is 10 mm
    assert "penetration" in audit.failed
    assert audit["penetration"].relative == pytest.approx(0.011 / 0.2, rel=1e-3)


def test_unsolved_samples_are_counted_and_many_fail(standing):
    status = np.zeros(len(standing))
    status[10] = 1
    assert ff.audit(replace(standing, status=status))["solved"].verdict == "note"
    status[10:20] = 2
    row = ff.audit(replace(standing, status=status))["solved"]
    assert (row.verdict, row.when) == ("fail", standing.time[19])
    assert row.worst == pytest.approx(10 / len(standing))


def test_a_run_that_ended_early_fails(standing):
    ended = replace(standing, failure=Failure(0.4, "diverged", "base z", "diverged at t = 0.4 s"))
    assert ff.audit(ended).failed == ("solved",)


def test_an_unstable_step_shows_as_created_energy():
    stiff = ff.law("spring-damper", rest_penetration=5e-5, damping_ratio=0.0)
    dropped = ff.Simulation("brick", law=stiff, dt=2e-3)
    qpos = dropped.place()
    qpos[2] += 0.01
    assert "normal energy" in ff.audit(dropped.run(0.5, qpos=qpos)).failed


# ---- laws that are wrong -----------------------------------------------------------------------------------


def negative_damping(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return max(0.0, parameters.k * depth - parameters.c * depth_rate)


def pushing_friction(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    speed = max(1e-6, (slip_velocity[0] ** 2 + slip_velocity[1] ** 2) ** 0.5)
    push = parameters.dynamic_friction * normal / speed
    return normal, push * slip_velocity[0], push * slip_velocity[1]


def sticky(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return parameters.k * depth + parameters.c * depth_rate


def too_much_friction(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    speed = max(1e-3, (slip_velocity[0] ** 2 + slip_velocity[1] ** 2) ** 0.5)
    brake = 1.5 * parameters.static_friction * normal / speed
    return normal, -brake * slip_velocity[0], -brake * slip_velocity[1]


@pytest.fixture
def wrong_law(monkeypatch):
    """Makes a law of a function, which no other test shall meet."""
    monkeypatch.setattr(registry, "_registered", {})
    return lambda function, c: ff.point_law("wrong", k=2500.0, c=c)(function)()


def test_a_law_that_creates_energy_is_found(wrong_law):
    audit = ff.audit(brick(wrong_law(negative_damping, c=5.0), 1.0, lift=0.05))
    assert audit.failed == ("normal energy", "contact energy")


def test_a_spring_without_damping_gives_back_what_it_took(wrong_law):
    row = ff.audit(brick(wrong_law(negative_damping, c=0.0), 1.0, lift=0.05))["normal energy"]
    assert row.verdict != "fail"  # but for the steps in which it lands and leaves, of order dt


def test_friction_with_the_wrong_sign_is_found(wrong_law):
    audit = ff.audit(brick(wrong_law(pushing_friction, c=35.0), 0.1, qvel=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert {"friction direction", "friction energy"} <= set(audit.failed)
    assert not {"friction cone", "force balance", "normal energy"} & set(audit.failed)


def test_a_law_that_pulls_is_found(wrong_law):
    assert "pulling force" in ff.audit(brick(wrong_law(sticky, c=5.0), lift=0.05)).failed
    as_printed = ff.law("spring-damper", damping_ratio=0.2, adhesive=True)
    assert "pulling force" in ff.audit(brick(as_printed, lift=0.05)).failed


def test_a_law_beyond_the_cone_is_found(wrong_law):
    rec = brick(wrong_law(too_much_friction, c=35.0), 0.1, qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert "friction cone" in ff.audit(rec).failed


# ---- momentum ----------------------------------------------------------------------------------------------


def test_pushes_count_as_forces_and_forgotten_ones_are_found():
    push = ff.Push("trunk", force=(20.0, 0.0, 5.0), torque=(0.0, 3.0, 0.0), start=0.1, duration=0.05)
    rec = biped("linearizing-penalty", [push])
    assert ff.audit(rec)["force balance"].worst < 1e-9 * rec.robot.weight
    assert ff.audit(rec)["moment balance"].worst < 1e-9 * rec.robot.weight
    row = ff.audit(replace(rec, pushes=()))["force balance"]
    assert row.worst == pytest.approx(math.hypot(20.0, 5.0), rel=1e-6)
    assert 0.1 <= row.when < 0.15


def test_rails_bear_what_is_across_them():
    rec = biped("linearizing-penalty", name="planar-biped")
    across = with_force(rec, lambda force: force.__setitem__((..., 1), 5.0))
    assert not {"force balance", "moment balance"} & set(ff.audit(across).failed)
    along = with_force(rec, lambda force: force.__setitem__((..., 0), 5.0))
    assert {"force balance", "moment balance"} <= set(ff.audit(along).failed)


def test_momentum_is_judged_by_the_mean_forces_where_steps_are_left_out():
    sim = ff.Simulation("brick", law="spring-damper", ground=GROUND)
    qpos = sim.place()
    qpos[2] += 0.05
    row = ff.audit(sim.run(0.3, qpos=qpos, record_dt=5e-3))["force balance"]
    assert (row.verdict, row.limit) == ("pass", math.inf)


def test_momentum_of_a_moving_robot_is_not_known_where_steps_are_left_out():
    """Differences of momentum over many steps of joint coordinates are not those of the forces."""
    sim = ff.Simulation("spatial-biped", law="spring-damper", ground=GROUND)
    rec = sim.run(0.3, controller="posture", qvel=0.3 * np.eye(20)[1], record_dt=5e-3)
    row = ff.audit(rec)["force balance"]
    assert (row.verdict, row.limit) == ("not known", math.inf) and row.worst > row.tolerance


def test_the_balance_holds_with_other_bodies_than_feet_on_the_ground():
    rec = ff.Simulation("spatial-biped").run(1.5)  # nobody holds it up
    assert rec.summary()["fell"]
    audit = ff.audit(rec)
    assert audit["force balance"].verdict == audit["moment balance"].verdict == "pass"
    assert np.isfinite(audit.series["force balance"][:-1]).all()
    assert rec.other_points.size and rec.force[:, rec.robot.point_count :].any()


# ---- the answer --------------------------------------------------------------------------------------------


def test_it_prints_as_a_table_and_goes_to_json(standing):
    audit = ff.audit(standing)
    lines = str(audit).splitlines()
    assert lines[0] == "Audit of brick on plane, law linearizing-penalty, 0.4 s: passes"
    assert len(lines) == 3 + len(audit.rows)
    assert all(row.name in str(audit) and row.meaning in str(audit) for row in audit.rows)
    content = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert content["passed"] is True
    assert [row["name"] for row in content["rows"]] == [row.name for row in audit.rows]
    assert all(len(audit.series[row.name]) == len(standing) for row in audit.rows)


def test_several_audits_make_one_table(standing, sliding):
    text = audit_table({"rigid": ff.audit(standing), "soft": ff.audit(sliding)})
    assert text.splitlines()[0].split() == ["unit", "rigid", "soft"]
    assert text.splitlines()[-1].split() == ["verdict", "pass", "note"]
    assert "penetration" in ff.audit(sliding).noted


def test_a_robot_that_floats_is_found_and_short_recordings_can_be_audited():
    robot = ff.load_robot("spatial-biped")
    free = blank(robot, 3)
    assert "force balance" in ff.audit(free).failed  # it floats
    assert ff.audit(blank(robot, 1)).unknown == ("force balance", "moment balance")
    nothing = ff.audit(blank(robot, 0))
    assert not nothing.passed and nothing.unknown == tuple(row.name for row in nothing.rows)


# ---- round feet on uneven ground ---------------------------------------------------------------------------


@pytest.mark.parametrize("law", ff.laws())
def test_round_feet_on_uneven_ground_are_judged_by_the_normal_that_the_law_saw(law):
    """That under the centre of the ball: under the point of contact, a radius away, the ground turns elsewhere."""
    heights = 0.03 * np.sin(12.0 * np.linspace(-2.0, 2.0, 201))
    uneven = ff.Ground.heightfield(np.tile(heights, (201, 1)), size=(4.0, 4.0), friction=0.4)
    rolling = [
        ff.Simulation("ball", ground=ground, law=law).run(0.5, qvel=[0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
        for ground in (ff.Ground.plane(friction=0.4), uneven)
    ]
    level, found = (ff.audit(rec) for rec in rolling)
    for row in ("friction cone", "pulling force"):  # no worse than where there is no doubt about the normal
        assert found[row].worst <= max(found[row].limit, level[row].worst), found
    there = uneven.gap(rolling[1].position)[1]
    assert np.abs(rolling[1].normal - there).max() > 0.01
    wrong = ff.audit(replace(rolling[1], normal=there))["friction cone"]
    assert wrong.worst > 10.0 * wrong.limit
