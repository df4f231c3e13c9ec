"""The audit: correct laws pass, what a law does not claim is told, and so is what was found."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from audited import biped, brick, with_force
from blank_recordings import blank

import footfall as ff
from footfall.contact import law_class
from footfall.measure.audit import audit_table

BUILT_IN = [name for name in ff.laws() if law_class(name).citation != "user"]


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


@pytest.mark.parametrize("law", BUILT_IN)
@pytest.mark.parametrize("case", CASES)
def test_correct_laws_pass(case, law):
    audit = CASES[case](law).audit()
    assert audit.verdict == "pass", str(audit)


@pytest.mark.parametrize("law", BUILT_IN)
def test_feet_at_rest_under_a_robot_that_tips_are_not_said_to_slide(law):
    """Its legs turn so fast that in a step of 1 ms their turning alone gives a foot at rest 1 cm/s."""
    tipping = ff.Push("trunk", force=(0.0, 220.0, 0.0), start=0.1, duration=0.1)
    audit = biped(law, [tipping], duration=0.8, controller="balance").audit()
    assert "friction direction" not in audit.failed, str(audit)


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
    # Every law claims that nothing pulls or sinks too deep, and all but two that nothing creates energy: those
    # prescribe accelerations, which lift loads (see test_audit_energy).
    lifts = {"normal energy", "contact energy"} if law in ("linearizing-penalty", "mujoco") else set()
    assert set(ff.law(law).unclaimed) <= {"friction direction", "friction energy"} | lifts


def test_laws_of_coulombs_friction_claim_all_of_it():
    for name in ("time-stepping", "acceleration-complementarity", "constraint-selection"):
        assert not ff.law(name).unclaimed
    assert not ff.law("spring-damper", friction="regularised").unclaimed
    assert not ff.law("hunt-crossley", friction="regularised").unclaimed
    assert ff.law("hunt-crossley", friction="lugre").unclaimed


def test_what_a_law_does_not_claim_is_by_design_and_says_why(sliding):
    driving = with_force(sliding, lambda force: np.negative(force[..., :2], out=force[..., :2]))
    assert ff.audit(driving)["friction direction"].verdict == "fail"
    row = ff.audit(replace(driving, law=ff.law("spring-damper")))["friction direction"]
    assert row.verdict == "by design" and "spring-damper does not claim that: the anchor's spring" in row.meaning
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


def test_the_least_friction_that_mujoco_has_is_no_fault_on_ice():
    stairs = ff.Ground.stairs(rise=0.2, run=1.0, start=0.3, friction=0.0)
    rec = ff.Simulation("ball", law="mujoco", ground=stairs).run(0.05, qvel=[8.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    assert rec.force[:, 0, 0].min() < -50.0 * rec.robot.weight  # a blow of which a share of 1e-5 is more than rounding
    assert ff.audit(rec)["friction cone"].verdict == "pass"


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
    assert text.splitlines()[-1].split() == ["verdict", "pass", "pass"]
    assert ff.audit(sliding)["penetration"].verdict == "by design"


def test_a_summary_names_the_rows_that_are_not_as_they_should_be(standing, sliding):
    assert ff.audit(standing).summary == "pass"
    assert ff.audit(sliding).summary == "pass" and ff.audit(sliding)["penetration"].verdict == "by design"
    rigid = ff.audit(replace(sliding, law=ff.law("time-stepping")))  # which has no business in the ground
    assert rigid.summary == "note: " + ", ".join(rigid.noted) and "penetration" in rigid.noted
    driving = ff.audit(with_force(sliding, lambda force: np.negative(force[..., :2], out=force[..., :2])))
    assert driving.summary.startswith("fail: " + ", ".join(driving.failed))


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
    """That where the ball touches, on record: straight under its centre the ground turns elsewhere."""
    heights = 0.03 * np.sin(12.0 * np.linspace(-2.0, 2.0, 201))
    uneven = ff.Ground.heightfield(np.tile(heights, (201, 1)), size=(4.0, 4.0), friction=0.05)
    rolling = [
        ff.Simulation("ball", ground=ground, law=law).run(0.5, qvel=[0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
        for ground in (ff.Ground.plane(friction=0.05), uneven)
    ]
    level, found = (ff.audit(rec) for rec in rolling)
    for row in ("friction cone", "pulling force"):  # no worse than where there is no doubt about the normal
        assert found[row].worst <= max(found[row].limit, level[row].worst), found
    centre = rolling[1].qpos[:, :3]
    straight_under = centre * [1.0, 1.0, 0.0] + [0.0, 0.0, 1.0] * uneven.height(centre[:, 0], centre[:, 1])[:, None]
    there = uneven.gap(straight_under)[1][:, None]
    assert np.abs(rolling[1].normal - there).max() > 0.01
    wrong = ff.audit(replace(rolling[1], normal=there))["friction cone"]
    assert wrong.worst > 10.0 * wrong.limit


def test_a_ridge_between_the_corners_of_a_sole_is_noted():
    """A brick stands on its corners over a ridge of 10 mm, which goes that far into it: a point would feel it."""
    x = np.linspace(-2.0, 2.0, 401)
    heights = np.tile(np.maximum(0.0, 0.01 - 0.2 * np.abs(x)), (401, 1))
    brick, row = ff.load_robot("brick"), "unfelt ground"
    over, beside = (
        ff.Simulation(brick, ground=ff.Ground.heightfield(heights, size=(4.0, 4.0), center=at)).run(0.02)
        for at in ((0.0, 0.0), (0.5, 0.0))
    )
    assert over.audit()[row].verdict == "note" and over.audit().passed
    # The nearest place from under a ridge is its flank.
    assert over.audit()[row].worst == pytest.approx(0.01 / np.hypot(1.0, 0.2), rel=1e-3)
    assert beside.audit()[row].verdict == "pass" and beside.audit()[row].worst == 0.0


ROLLING = """<mujoco model="roller"><worldbody><body name="trunk" pos="0 0 .5"><freejoint/>
  <geom type="box" size=".2 .1 .05" mass="4" contype="0" conaffinity="0"/>{}</body></worldbody></mujoco>"""
BALL_LEG = """<body name="leg{}" pos="{} {} -.05"><joint axis="0 1 0" damping=".01"/><joint axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".3" contype="0" conaffinity="0"/>
  <geom type="sphere" size=".06" pos="0 0 -.34" mass=".1"/></body>"""


@pytest.mark.parametrize("law", ff.laws())
def test_friction_on_balls_that_roll_and_slide_is_against_their_slip(law):
    """Where a ball touches goes along with it, and is no place on it whose way could tell how it slips."""
    places = [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]
    legs = "".join(BALL_LEG.format(i, *place) for i, place in enumerate(places))
    sim = ff.Simulation(ff.load_robot(mujoco.MjSpec.from_string(ROLLING.format(legs))), law=law)
    rec = sim.run(
        0.5, controller=None, qvel=np.concatenate([[0.3, 0.1, 0.0, 0.0, 0.0, 2.0], np.full(8, 0.3)])
    )  # legs give way
    row = ff.audit(rec)["friction direction"]
    assert (rec.mode == 2).sum() > 100 and row.verdict in ("pass", "by design", "note")
    if law in ("time-stepping", "constraint-selection"):  # whose cone is exact
        assert row.worst < 1.0


ROLLER = """<mujoco><worldbody><body name="trunk" pos="0 0 .3"><freejoint/>
<geom type="box" size=".25 .12 .05" mass="6"/>
{}</body></worldbody></mujoco>"""
WHEEL = """<body name="wheel{0}{1}" pos="{0} {1} -.2"><joint axis="0 1 0" stiffness="50" damping="1"/>
<geom type="cylinder" size=".03 .01" euler="90 0 0" mass=".2"/></body>"""


def test_short_soles_under_four_legs_may_sink_in_as_what_the_robot_stands_on():
    """Wheels 2 cm wide, 40 cm apart along and 22 cm across: 5 % of that are 11 mm."""
    wheels = "".join(WHEEL.format(x, y) for x in (0.2, -0.2) for y in (0.1, -0.1))
    robot = ff.load_robot(mujoco.MjSpec.from_string(ROLLER.format(wheels)))
    assert max(foot.length for foot in robot.feet) == pytest.approx(0.02)
    for law in ("spring-damper", "hunt-crossley", "distributed"):
        assert ff.Simulation(robot, law=law).run(0.1, controller=None).audit()["penetration"].verdict == "by design"
    soft = ff.Simulation(robot, law=ff.law("spring-damper", rest_penetration=0.03)).run(1.0, controller=None)
    assert soft.audit()["penetration"].verdict == "fail"


def test_a_prompt_shows_an_audit_as_its_table(standing):
    """And not as three thousand characters of names and numbers."""
    found = ff.audit(standing)
    assert repr(found) == str(found) and repr(found).startswith("Audit of ")
