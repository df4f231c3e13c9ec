"""Take a push that Balance does not survive: iterative LQR on derivatives of every step finds a step to the front."""

import mujoco
import numpy as np

import footfall as ff
from footfall.show.plots import plot, save_plot

sim = ff.Simulation("spatial-biped", law="hunt-crossley", body_contacts=False)
model, nv, nu = sim.robot.model, sim.robot.model.nv, sim.robot.model.nu
limits = model.actuator_ctrlrange.T  # N m
still = sim.run(0.5, controller="balance")
goal, hold = (still.qpos[-1], np.zeros(nv)), still.ctrl[-1]
push = ff.Push("trunk", force=(230, 0, 0), start=0.0, duration=0.1)
falls = sim.run(1.5, controller="balance", pushes=[push])
begin, steps = falls.state(push.duration), 500  # plans the half second after the push

# Weights of errors of places and angles, of velocities, at the end, and of torques; the trunk's count most.
places, speeds = np.full(nv, 0.3), np.full(nv, 0.003)
places[:2], places[2], places[3:6], speeds[:3], speeds[3:6] = 0.1, 20.0, 10.0, 0.3, 0.1
away_cost, end_cost, effort_cost = 0.01 * np.r_[places, speeds], np.r_[30.0 * places, 100.0 * speeds], 1e-6


def way(here, there):
    """(2 nv,) from one state to another, in the tangent space."""
    back = np.zeros(nv)
    mujoco.mj_differentiatePos(model, back, 1.0, here[0], there[0])
    return np.concatenate([back, there[1] - here[1]])


def play(ctrl, path=None, gains=None, share=1.0):
    """Play controls with feedback about a path: controls, path, states and the cost."""
    world, controls, path_now, states, cost = sim.start(recorded=False), [], [], [], 0.0
    world.restore(begin)
    for k in range(steps + 1):
        here = world.qpos.copy(), world.qvel.copy()
        path_now.append(here)
        states.append(world.state())
        away = way(goal, here)
        if k == steps:
            return controls, path_now, states, cost + 0.5 * away @ (end_cost * away)
        u = ctrl[k] if gains is None else ctrl[k] + share * gains[k][0] + gains[k][1] @ way(path[k], here)
        controls.append(np.clip(u, *limits))
        cost += 0.5 * (away @ (away_cost * away) + effort_cost * (controls[k] - hold) @ (controls[k] - hold))
        world.step(controls[k])


def improve(ctrl, path, states, damping):
    """For each step a change of the controls and a gain: Riccati's recursion backwards over the linearized steps."""
    value, slope, found = np.diag(end_cost), end_cost * way(goal, path[-1]), []
    for k in reversed(range(steps)):
        lin = sim.linearize(states[k], ctrl[k])
        step = np.hstack([lin.A, lin.B])
        gradient = step.T @ slope + np.r_[away_cost * way(goal, path[k]), effort_cost * (ctrl[k] - hold)]
        hessian = step.T @ value @ step + np.diag(np.r_[away_cost, np.full(nu, effort_cost)])
        mixed, own = hessian[2 * nv :, : 2 * nv], hessian[2 * nv :, 2 * nv :]
        solved = -np.linalg.solve(own + damping * np.eye(nu), np.c_[gradient[2 * nv :], mixed])
        change, gain = solved[:, 0], solved[:, 1:]
        slope = gradient[: 2 * nv] + gain.T @ (own @ change + gradient[2 * nv :]) + mixed.T @ change
        value = hessian[: 2 * nv, : 2 * nv] + gain.T @ own @ gain + gain.T @ mixed + mixed.T @ gain
        found.append((change, gain))
    return found[::-1]


best, damping = play(sim.run(steps * sim.dt, controller="posture", start=begin).ctrl), 1e-5
costs = [best[-1]]
for _ in range(10):
    gains = improve(*best[:3], damping)
    tries = (play(*best[:2], gains, share) for share in (1.0, 0.6, 0.3, 0.1, 0.03))
    best = next((one for one in tries if one[-1] < best[-1]), best)
    damping = max(1e-9, damping * (0.3 if best[-1] < costs[-1] else 5.0))
    costs.append(best[-1])
print("cost of the half second after the push, by iteration:", np.round(costs, 1))
torques = [*best[0], best[0][-1]]
plan = sim.run(steps * sim.dt, controller=lambda t, state: torques[round((t - push.duration) / sim.dt)], start=begin)
after = sim.run(2.0, controller="balance", start=best[2][-1])  # Balance takes over where the plan ends
runs = {"Balance alone": falls, "iterative LQR": plan, "then Balance": after}
for name, rec in runs.items():
    print(f"{name}: {'falls' if rec.summary()['fell'] else 'stands'}, {rec.qpos[-1, 0]:.2f} m to the front")
save_plot(plot({"Balance alone": falls, "iterative LQR": plan}, "grf", title="A push of 23 N s"), "push.png")
