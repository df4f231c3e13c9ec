"""One robot stands under every contact law: what differs is how deep it sinks, what must not differ is its weight."""

import footfall as ff

robot = ff.load_robot("spatial-biped")
resting = {}  # by law: the vertical force as a part of the weight, and the depth in mm
for law in ff.laws():
    sim = ff.Simulation(robot, law=law)
    rec = sim.run(1.0, controller="posture")
    load = rec.total_force[-1, 2] / robot.weight
    depth = -1e3 * rec.gap[-1].min()
    resting[law] = (load, depth)
    print(f"{law:30} carries {load:7.4f} of the weight, {max(0.0, depth):6.3f} mm deep")
