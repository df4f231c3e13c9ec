"""Integration from event to event: what is on record, what stays where it is, and what is refused."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from plain_python import plainly
from scipy.integrate import solve_ivp

import footfall as ff
from footfall.engine.events.dormand_prince import STAGES, WEIGHTS, set_part
from footfall.engine.events.flow import make_flow, slow_down
from footfall.errors import SimulationError

LAW = "acceleration-complementarity"


def test_the_law_says_that_it_is_driven_by_events():
    assert [law for law in ff.laws() if ff.law(law).event_driven] == [LAW]


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 2e-2])
def test_forces_on_record_explain_the_change_of_momentum_impacts_included(dt):
    """A brick thrown onto its edge, whatever the period of the records: to the tolerance of the steps."""
    sim = ff.Simulation("brick", law=ff.law(LAW, restitution=0.3), dt=dt)
    qpos = sim.place() + 0.05 * np.eye(7)[2]
    qpos[3:7] = [np.cos(0.1), 0.0, np.sin(0.1), 0.0]
    rec = sim.run(0.4, qpos=qpos, qvel=[0.5, 0.2, -1.0, 0.0, 0.0, 1.0])
    change = np.diff(rec.qvel[:, :3], axis=0) * rec.robot.mass
    given = (rec.total_force[:-1] - rec.robot.weight * np.eye(3)[2]) * dt
    assert rec.signals["impacts"].sum() > 3
    np.testing.assert_allclose(given, change, atol=1e-8)


def test_the_period_of_the_records_changes_nothing_of_the_motion():
    ends = []
    for dt in (1e-3, 1e-2):
        sim = ff.Simulation("brick", law=LAW, ground=ff.Ground.plane(0.4), dt=dt)
        qpos = sim.place() + 0.05 * np.eye(7)[2]
        ends.append(sim.run(0.3, qpos=qpos, qvel=[1.0, 0.3, 0, 0, 0, 5.0]).qpos[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)


def standing(**options) -> ff.Recording:
    sim = ff.Simulation("spatial-biped", law=LAW)
    qpos = sim.place() + options.pop("drop", 0.0) * np.eye(sim.robot.model.nq)[2]
    return sim.run(1.0, controller="posture", qpos=qpos, **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"drop": 0.05}, {"pushes": [ff.Push("trunk", (60.0, 20.0, 0.0), start=0.1, duration=0.1)]}],
    ids=["standing", "dropped", "pushed"],
)
def test_the_audit_finds_nothing(options):
    """No pull, no force outside the cone, no energy created, Newton's law kept: to rounding and tolerance."""
    rec = standing(**options)
    audit = ff.audit(rec)
    weight = rec.robot.weight
    assert rec.failure is None and not audit.failed
    assert audit["pulling force"].worst < 1e-9 * weight
    assert audit["penetration"].worst < 1e-9
    assert audit["friction cone"].worst < 1e-8 * weight  # slips that end are stopped from 0.1 um/s
    assert audit["force balance"].worst < 1e-5 * weight
    assert audit["solved"].worst == 0.0


@pytest.mark.parametrize("robot", ["spatial-biped", "planar-biped"])
def test_a_foot_that_rests_stays_within_a_nanometre(robot):
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(5.0, controller="posture", record_dt=0.1)
    assert (rec.mode == 1).all()
    assert np.abs(rec.position - rec.position[0]).max() < 1e-9


def test_a_brick_at_rest_slides_as_soon_as_it_is_pulled_and_rests_again():
    """At rest one evaluation is a whole period; what ends the rest is integrated with all stages (closed form)."""
    sim = ff.Simulation("brick", law=LAW, ground=ff.Ground.plane(0.5))
    mass, weight = sim.robot.mass, sim.robot.weight
    low = np.array([0.0, -0.5 * weight * sim.place()[2], 0.0])  # as if it were pulled at the height of the ground
    pull = ff.Push("brick", (0.8 * weight, 0.0, 0.0), torque=tuple(low), start=0.5, duration=0.1)
    rec = sim.run(1.0, pushes=[pull])
    speed = 0.3 * weight / mass * 0.1
    way = 0.5 * speed * 0.1 + speed**2 / (2 * 0.5 * weight / mass)
    assert np.abs(rec.qvel[:500]).max() < 1e-12
    np.testing.assert_allclose(rec.qvel[600, 0], speed, rtol=1e-8)
    np.testing.assert_allclose(rec.qpos[-1, 0] - rec.qpos[0, 0], way, rtol=1e-8)
    np.testing.assert_allclose(rec.total_force[-300:], np.tile([0.0, 0.0, weight], (300, 1)), atol=1e-9 * weight)


def test_friction_holds_a_brick_against_a_push_from_the_first_period_to_the_last():
    """Nothing moves, so that only forces show that a push begins and ends (closed form)."""
    sim = ff.Simulation("brick", law=LAW, ground=ff.Ground.plane(0.5))
    push = np.array([0.3, -0.2, 0.1]) * sim.robot.weight
    rec = sim.run(0.06, pushes=ff.Push("brick", push, start=0.02, duration=0.02))
    held = np.tile([0.0, 0.0, sim.robot.weight], (60, 1))
    held[20:40] -= push
    np.testing.assert_allclose(rec.total_force[:-1], held, atol=1e-9 * sim.robot.weight)


STANDING = """
<mujoco><worldbody><body name="base" pos="0 0 0.05"><freejoint/>
  <geom type="box" size="0.1 0.1 0.05" mass="1"/>
  <body name="part" pos="0 0 0.1">{joint}
    <geom type="box" size="0.01 0.01 0.01" mass="{mass}" contype="0" conaffinity="0"/>
  </body></body></worldbody>{motor}</mujoco>
"""


def on_a_base(folder, joint: str, mass: float, motor: str = "") -> ff.Robot:
    path = folder / "on_a_base.xml"
    path.write_text(STANDING.format(joint=joint, mass=mass, motor=motor))
    return ff.load_robot(path, feet=["base"])


@pytest.mark.parametrize("amplitude", [1e-4, 1e-2])
def test_a_weight_that_swings_slowly_on_a_base_at_rest_keeps_its_closed_form(tmp_path, amplitude):
    """A cos(wt), and the base carries m x'' more. Two swings in 4,200 periods, most of them with one evaluation.

    Each may err by the tolerance, 1e-9 m/s, which is 4e-6 m/s if all err alike.
    """
    mass, w = 2.0, 3.0
    stiffness = mass * w * w
    joint = f'<joint type="slide" axis="0 0 1" stiffness="{stiffness}" springref="{mass * 9.81 / stiffness}"/>'
    robot = on_a_base(tmp_path, joint, mass)
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(4.2, qpos=sim.place() + amplitude * np.eye(8)[7])
    x = amplitude * np.cos(w * rec.time)
    np.testing.assert_allclose(rec.qpos[:, 7], x, atol=1e-8)
    middle = rec.time[:-1] + 0.5 * rec.dt  # a force on record is the mean over its period
    more = -mass * w * w * amplitude * np.cos(w * middle)
    np.testing.assert_allclose(rec.total_force[:-1, 2] - robot.weight, more, atol=1.3 * mass * 1e-9 / rec.dt)


@pytest.mark.parametrize("fast", [300.0, 600.0, 880.0])  # 1/s: up to a motion forgotten within a period
def test_a_weight_that_sinks_slowly_against_a_stiff_damper_keeps_its_closed_form(tmp_path, fast):
    """A exp(-st), the slow one of two motions: a method that could not bear the fast one would shake the weight."""
    mass, slow, height = 0.1, 2.0, 1e-2  # little beside the base, so that no inertia is added
    stiffness, damping = mass * fast * slow, mass * (fast + slow)
    spring = f'stiffness="{stiffness}" springref="{mass * 9.81 / stiffness}" damping="{damping}"'
    robot = on_a_base(tmp_path, f'<joint type="slide" axis="0 0 1" {spring}/>', mass)
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(2.0, qpos=sim.place() + height * np.eye(8)[7], qvel=-slow * height * np.eye(7)[6])
    np.testing.assert_allclose(rec.qpos[:, 7], height * np.exp(-slow * rec.time), atol=1e-9)
    more = -mass * slow * np.diff(height * np.exp(-slow * rec.time)) / rec.dt  # the mean of m x'' over a period
    np.testing.assert_allclose(rec.total_force[:-1, 2] - robot.weight, more, atol=1.3 * mass * 1e-10 / rec.dt)


def test_inertia_is_added_about_the_axes_that_have_too_little(tmp_path):
    """A thin rod on a damped ball turns easily about itself alone: MuJoCo's own measure is a mean over all axes."""
    rod = (
        '<joint type="ball" damping="{d}"/><inertial pos="0 0 0.3" mass="0.2" diaginertia="6e-3 6e-3 1e-6"/>'
        '<geom type="sphere" size="0.01" mass="0" contype="0" conaffinity="0"/>'
    )
    dt, damping = 1e-3, 1e-2
    path = tmp_path / "rod.xml"
    path.write_text(f"<mujoco><worldbody><body>{rod.format(d=damping)}</body></worldbody></mujoco>")
    added = slow_down(mujoco.MjModel.from_xml_path(str(path)), dt)
    np.testing.assert_allclose(added, [0.0, 0.0, dt * damping - 1e-6], atol=1e-12)


def test_a_joint_that_comes_to_its_limit_within_a_period_swings_back_by_its_closed_form(tmp_path):
    """The limit is a spring and a damper that begin with a jump: from then on x'' = -share (damping x' + stiffness x).

    The tolerance of a step is 1e-9, and it takes some fifty.
    """
    mass, speed, bound, impedance = 0.02, 0.2, 2.1e-3, 0.9
    limit = f'range="-1 {bound}" solreflimit="-4e4 -40" solimplimit="{impedance} {impedance} 0.001 0.5 2"'
    robot = on_a_base(tmp_path, f'<joint type="slide" axis="1 0 0" limited="true" {limit}/>', mass)
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(0.022, qpos=sim.place(), qvel=speed * np.eye(7)[6])
    assert not rec.signals["time_steps"].any()
    inertia = impedance / ((1.0 - impedance) * robot.model.dof_invweight0[6])
    share = inertia / (mass + inertia)
    decay, stiffness = 0.5 * share * 40.0 / impedance, share * 4e4 / impedance
    swing = np.sqrt(stiffness - decay**2)
    since = rec.time - bound / speed
    beyond = speed / swing * np.exp(-decay * since) * np.sin(swing * since)
    x = np.where(since < 0.0, speed * rec.time, bound + beyond)
    assert (np.diff(x) < 0.0).any()
    np.testing.assert_allclose(rec.qpos[:, 7], x, atol=1e-8)


#: Time by which a switch of friction is passed, s.
PAST = 1e-9


def with_friction(mass: float, stiffness: float, row: tuple[float, float, float], start: float, time: np.ndarray):
    """Position of a weight on a spring and where friction switches, by DOP853 from one switch to the next.

    ``row`` is what MuJoCo makes of friction: inertia, damping (1/s) and the largest force.
    """
    inertia, damping, loss = row

    def rates(_, y, slip):
        pull = -stiffness * y[0]
        held = (pull - inertia * damping * y[1]) / (mass + inertia)
        return y[1], held if slip == 0 else (pull + slip * loss) / mass

    def beyond(t, y, slip):
        value = inertia * (-damping * y[1] - rates(t, y, slip)[1])
        return loss - abs(value) if slip == 0 else slip * value - loss

    def state(t, y):
        """What friction does next: hold, or push so that a joint slips."""
        value = inertia * (-damping * y[1] - rates(t, y, 0)[1])
        return 0 if abs(value) <= loss else int(np.sign(value))

    beyond.terminal = True
    x, at, y, switches = np.full(time.size, start), 0.0, np.array([start, 0.0]), []
    while at < time[-1]:
        slip = state(at, y)
        options = {"events": beyond, "dense_output": True, "args": (slip,), "rtol": 1e-13, "atol": 1e-15}
        found = solve_ivp(rates, (at, time[-1]), y, "DOP853", **options)
        now = (time >= at) & (time <= found.t[-1])
        x[now] = found.sol(time[now])[0]
        at, y = found.t[-1], found.y[:, -1]
        switches.append(at)
        y, at = y + PAST * np.array(rates(at, y, slip)), at + PAST  # where the event's own function is not zero
    return x, switches[:-1]


@pytest.mark.parametrize(("stiffness", "loss", "start", "count"), [(800.0, 0.3, 5e-3, 13), (200.0, 0.1, 1e-2, 6)])
def test_friction_of_a_joint_begins_and_ceases_to_slip_within_periods_at_its_instants(
    tmp_path, stiffness, loss, start, count
):
    """A weight on a spring with joint friction that slips and holds in turn.

    The tolerance of a step is 1e-9 m/s, and there are six hundred.
    """
    mass = 0.5
    joint = f'<joint type="slide" axis="1 0 0" stiffness="{stiffness}" frictionloss="{loss}"/>'
    robot = on_a_base(tmp_path, joint, mass)
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(0.6, qpos=sim.place() + start * np.eye(8)[7])
    assert not rec.signals["time_steps"].any()
    row = (9.0 / robot.model.dof_invweight0[6], 2.0 / (0.95 * 0.02), loss)
    x, switches = with_friction(mass, stiffness, row, start, rec.time)
    assert len(switches) == count
    np.testing.assert_allclose(rec.qpos[:, 7], x, atol=1e-8)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_the_motion_within_a_step_is_known_to_the_fourth_order(part):
    """Integrals of powers of time over a part of a step, by its stages: the order's conditions on a quadrature."""
    flow = make_flow(ff.load_robot("ball").model, 1, 1, 1e-3, ff.law("acceleration-complementarity"), ff.Ground.plane())
    plainly(set_part)(flow, part)
    stages = WEIGHTS[:STAGES].sum(axis=1)
    for power in range(4):
        np.testing.assert_allclose(flow.weights[STAGES] @ stages**power, part ** (power + 1) / (power + 1), rtol=1e-12)
    plainly(set_part)(flow, 1.0)
    np.testing.assert_allclose(flow.weights[STAGES], flow.weights[STAGES - 1], atol=1e-14)


def test_a_joint_that_forgets_its_motion_within_a_period_is_one_period_late_at_most(tmp_path):
    """A turning part of hardly any inertia and much damping: speed torque over damping, reached within 0.7 us."""
    damping, torque = 0.1, 0.01
    joint = f'<joint name="turn" axis="0 0 1" damping="{damping}"/>'
    motor = '<actuator><motor joint="turn"/></actuator>'
    robot = on_a_base(tmp_path, joint, 1e-3, motor)
    sim = ff.Simulation(robot, law=LAW)
    rec = sim.run(0.5, controller=lambda t, state: [torque])
    speed = torque / damping
    np.testing.assert_allclose(rec.qvel[20:, 6], speed, rtol=1e-7)
    behind = speed * rec.time[20:] - rec.qpos[20:, 7]
    assert (behind > 0.0).all() and behind.max() < 1.25 * speed * sim.dt


def test_a_controller_is_called_once_a_period():
    times = []

    def hold(t, state):
        times.append(t)
        return np.zeros(6)

    ff.Simulation("planar-biped", law=LAW, dt=1e-3).run(0.02, controller=hold, control_dt=2e-3)
    np.testing.assert_allclose(times, np.arange(11) * 2e-3, atol=1e-12)


def bowl(x, y):
    return 0.5 * (x * x + y * y)


def test_a_small_ball_on_an_icy_bowl_keeps_its_energy_and_stays_on_the_ground():
    """The ground bends under it."""
    robot, ground = ff.load_robot("ball", radius=1e-4), ff.Ground.function(bowl, friction=0.0)
    sim = ff.Simulation(robot, law=LAW, ground=ground, body_contacts=False)
    rec = sim.run(2.0, qpos=sim.place((0.4, 0.0)), qvel=[0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    energy = ff.measure.energy(rec)
    assert energy.kinetic.max() > 0.5 and (rec.mode != 0).all()
    assert np.abs(energy.mechanical - energy.mechanical[0]).max() < 1e-7 * energy.kinetic.max()
    assert np.abs(rec.gap).max() < 1e-9


def test_a_point_that_starts_inside_the_ground_stays_as_deep_as_it_is():
    sim = ff.Simulation("brick", law=LAW)
    rec = sim.run(0.2, qpos=sim.place() - 1e-3 * np.eye(7)[2])
    np.testing.assert_allclose(rec.gap, -1e-3, atol=1e-9)
    np.testing.assert_allclose(rec.total_force[:, 2], rec.robot.weight, rtol=1e-9)


def test_a_period_must_not_be_too_long_to_look_for_events():
    with pytest.raises(SimulationError, match=r"dt = 0.5 s, but acceleration-complementarity looks for events.*0.1 s"):
        ff.Simulation("ball", law=LAW, dt=0.5)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_point_without_friction_is_given_none(friction):
    """What takes off the drift of points in contact holds only those that friction holds."""
    sim = ff.Simulation("brick", law=LAW, ground=ff.Ground.plane(friction))
    rec = sim.run(0.2, qvel=[0.0, 0.0, -0.5, 0.3, 0.2, 0.1])
    across = np.linalg.norm(rec.force[..., :2], axis=2)
    assert rec.force[..., 2].max() > rec.robot.weight
    assert (across.max() > 0.0) == (friction > 0.0)
