"""How does the peak force of a step follow the shape of the foot? Its derivative along a walk, beside a sweep."""

import numpy as np
from matplotlib.figure import Figure

import footfall as ff

law = ff.law("hunt-crossley", k=1e6, c=1e6, friction="regularised", v_s=0.5)  # soft soles; the same for every shape
robot = ff.load_robot("spatial-biped", actuators="position")
soles = {foot.name: foot.points for foot in robot.feet}
heel = {name: points[:, 0] < points[:, 0].mean() for name, points in soles.items()}
sim = ff.Simulation(robot, law=law, dt=0.0005, body_contacts=False)
walk = sim.run(1.3, controller=ff.control.walker(robot))
start = round(1.0 / sim.dt)  # a foot comes down after it


def replay(lower):
    """The end of the walk with the recorded controls, on heels that are lower (m)."""
    points = {name: soles[name] - lower * np.outer(heel[name], [0.0, 0.0, 1.0]) for name in soles}
    other = ff.Simulation(robot.with_points(points), law=law, dt=sim.dt, body_contacts=False)
    world = other.start(qpos=walk.qpos[start], qvel=walk.qvel[start])
    for ctrl in walk.ctrl[start:-1]:
        world.step(ctrl)
    return world.record()


rec = replay(0.0)
peak, shape = rec.total_force[:, 2].argmax(), [f"{name}.p{i} z" for name in soles for i in np.flatnonzero(heel[name])]
moved = sim.along(rec, to=shape).tangent(parameters=dict.fromkeys(shape, -1.0))[peak]  # of the state, by lower heels
force = rec.linearize(rec.time[peak], to=shape).force[:, 2].sum(axis=0)
slope = force @ np.concatenate([moved, np.zeros(robot.model.nu), -np.ones(len(shape))])  # N/m
lower = np.linspace(-2e-5, 2e-5, 9)  # farther away the peak comes in another sample
peaks = [replay(one).total_force[:, 2].max() for one in lower]
swept = np.polyfit(lower, peaks, 3)[2]
print(f"heels lower by 0.01 mm: peak {1e-5 * slope:.4f} N higher by its derivative, {1e-5 * swept:.4f} N by the sweep")
figure = Figure()
axes = figure.add_subplot(xlabel="heels lower by, µm", ylabel="peak force, N; the line is its derivative")
axes.plot(1e6 * lower, peaks, "o", 1e6 * lower, rec.total_force[peak, 2] + slope * lower)
figure.savefig("shape.png")
