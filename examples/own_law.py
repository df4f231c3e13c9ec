"""A contact law of one's own in five lines, compiled, and a throw that has a closed form: v^2 / (2 mu g)."""

import footfall as ff


@ff.point_law("rubber", k=2e4, c=100.0)  # options with their defaults, N/m and N s/m
def rubber(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    limit = parameters.dynamic_friction * normal
    x, y, mode = ff.contact.spring_friction(slip, slip_velocity, parameters.k, parameters.c, limit)
    return normal, x, y, mode


ground = ff.Ground.plane(friction=0.5)
sim = ff.Simulation("brick", law="rubber", ground=ground, dt=2e-4)
rec = sim.run(0.6, qpos=sim.run(0.5).qpos[-1], qvel=(1.0, 0, 0, 0, 0, 0))  # at rest first, then thrown at 1 m/s
slid, expected = rec.qpos[-1, 0] - rec.qpos[0, 0], 1.0**2 / (2 * 0.5 * 9.81)
print(f"slid {1e3 * slid:.1f} mm, Coulomb says {1e3 * expected:.1f} mm")
