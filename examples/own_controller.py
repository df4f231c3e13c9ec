"""A controller of one's own: a function of time and state that lets a biped bend and stretch its knees."""

import math

import numpy as np

import footfall as ff
from footfall.measure import com_height

robot = ff.load_robot("spatial-biped")
names = [name.removeprefix("left_").removeprefix("right_") for name in robot.actuated]
bend = np.array([{"knee_pitch": 1.0, "hip_pitch": -0.5, "ankle_pitch": -0.5}.get(name, 0.0) for name in names])


def squat(t, state):
    """Torques in N m: joint PD around a pose that goes down and up once in two seconds."""
    angle = 0.25 * (1.0 - math.cos(math.pi * t))  # rad
    target = robot.home[7:] + angle * bend
    return 2000.0 * (target - state.qpos[7:]) - 60.0 * state.qvel[6:]


rec = ff.Simulation(robot, law="time-stepping").run(4.0, controller=squat)
height = com_height(rec)
print(f"the centre of mass moves {1e3 * np.ptp(height):.0f} mm, fell: {rec.summary()['fell']}")
print(f"vertical force between {rec.total_force[500:, 2].min():.0f} and {rec.total_force[500:, 2].max():.0f} N")
