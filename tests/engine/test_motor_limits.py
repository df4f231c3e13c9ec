"""Motors at the limits of their force under laws that integrate from event to event."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from bounds import below

import footfall as ff
from footfall.engine.events.joint_events import force_limits

LAW = "acceleration-complementarity"
SLIDER = """
<mujoco><worldbody><body name="base" pos="0 0 0.05"><freejoint/>
  <geom type="box" size="0.1 0.1 0.05" mass="10"/>
  <body name="part" pos="0 0 0.1"><joint name="slide" type="slide" axis="1 0 0" {joint}/>
    <geom type="box" size="0.01 0.01 0.01" mass="{mass}" contype="0" conaffinity="0"/>
  </body></body></worldbody><actuator>{motors}</actuator></mujoco>
"""


def swing(start: float, bound: float, rate: float, time: np.ndarray) -> np.ndarray:
    """Position with x'' = -rate^2 x, but at most rate^2 bound either way, from rest, for a whole swing."""
    pull = rate * rate * bound
    first = math.sqrt(2.0 * (start - bound) / pull)
    speed = -pull * first
    size, phase = math.hypot(bound, speed / rate), math.atan2(-speed / rate, bound)
    second = first + (math.pi - 2.0 * phase) / rate
    between, after = time - first, time - second
    beyond = -bound + speed * after + 0.5 * pull * after**2
    x = np.where(time < second, size * np.cos(rate * between + phase), beyond)
    return np.where(time < first, start - 0.5 * pull * time**2, x)


@pytest.mark.parametrize("start", [0.004, 0.4])  # m: up to 0.05 and 5 m/s
@pytest.mark.parametrize("limit", ["servo", "joint"])
def test_a_weight_whose_servo_reaches_its_limit_within_a_period_keeps_its_closed_form(tmp_path, start, limit):
    """Accelerations bend where the servo leaves its limit and where it reaches the other one.

    A step may err by ten times the tolerance there, of 1 m/s more than the speed, and others by the tolerance, which is
    the root of their number if they err at random; that goes on for 0.3 s at most.
    """
    mass, rate, bound = 0.05, 17.0, 0.3 * start
    stiffness, gear = mass * rate * rate, -2.0
    most = stiffness * bound
    own = f'forcelimited="true" forcerange="{-most / 2} {most / 2}"' if limit == "servo" else ""
    joint = f'actuatorfrclimited="true" actuatorfrcrange="{-most} {most}"' if limit == "joint" else ""
    motor = f'<position joint="slide" kp="{stiffness / gear**2}" gear="{gear}" {own}/>'
    path = tmp_path / "slider.xml"
    path.write_text(SLIDER.format(joint=joint, mass=mass, motors=motor))
    sim = ff.Simulation(ff.load_robot(path, feet=["base"]), law=LAW)
    rec = sim.run(0.3, qpos=sim.place() + start * np.eye(8)[7])
    assert (rec.mode == 1).all() and not rec.signals["time_steps"].any()
    expected = swing(start, bound, rate, rec.time)
    assert expected.min() < -bound
    fastest = float(np.abs(rec.qvel[:, 6]).max())
    steps = 2 * 10 + math.sqrt(len(rec))
    below(np.abs(rec.qpos[:, 7] - expected).max(), steps * sim.law.tolerance * (1.0 + fastest) * rec.time[-1])


def test_every_limit_of_a_motor_or_a_joint_is_known():
    servo = '<position joint="slide" kp="1" forcelimited="true" forcerange="-1 2"/>'
    limited = 'actuatorfrclimited="true" actuatorfrcrange="-3 4"'
    motors = servo + "<motor joint='slide'/>"
    found = force_limits(mujoco.MjModel.from_xml_string(SLIDER.format(joint=limited, mass=1, motors=motors)))
    assert found.known == 1
    np.testing.assert_array_equal(found.least, [-1.0, -np.inf, *[-np.inf] * 6, -3.0])
    np.testing.assert_array_equal(found.most, [2.0, np.inf, *[np.inf] * 6, 4.0])
