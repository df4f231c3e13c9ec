"""Land softly: iterative LQR on the derivatives of every step, forces included, for a quadruped that is dropped."""

import mujoco
import numpy as np

import footfall as ff
from footfall.show.plots import plot, save_plot

sim = ff.Simulation("quadruped", law="hunt-crossley", body_contacts=False)
model, nv, nu, weight = sim.robot.model, sim.robot.model.nv, sim.robot.model.nu, sim.robot.weight
start = sim.home_on_ground.copy()
start[2] += 0.05  # m: it lands at 1 m/s
stiff = sim.run(0.2, controller="posture", qpos=start)
steps, first = len(stiff) - 1, list(zip(stiff.qpos, stiff.qvel, strict=True))
away_cost, effort_cost = 0.1, 1e-3  # of states (m, rad, m/s) and torques (N m) other than those of the stiff landing


def way(here, there):
    """(2 nv,) from one state to another, in the tangent space."""
    back = np.zeros(nv)
    mujoco.mj_differentiatePos(model, back, 1.0, here[0], there[0])
    return np.concatenate([back, there[1] - here[1]])


def land(ctrl, path, gains=None, share=1.0):
    """Play controls with feedback about a path: controls, path, states, loads (body weights) and the cost."""
    world, controls, places, states, loads, cost = sim.start(qpos=start, recorded=False), [], [], [], [], 0.0
    for k in range(steps):
        here = world.qpos.copy(), world.qvel.copy()
        u = ctrl[k] if gains is None else ctrl[k] + share * gains[k][0] + gains[k][1] @ way(path[k], here)
        states.append(world.state())
        world.step(u)
        controls.append(u)
        places.append(here)
        loads.append(world.force[:, 2].sum() / weight)
        away, more = way(first[k], here), u - stiff.ctrl[k]
        cost += 0.5 * ((loads[-1] - 1.0) ** 2 + away_cost * away @ away + effort_cost * more @ more)
    return controls, places, states, loads, cost


def improve(ctrl, path, states, loads):
    """For each step a change of the controls and a gain: Riccati's recursion backwards over the linearized steps."""
    value, slope, found = np.zeros((2 * nv, 2 * nv)), np.zeros(2 * nv), []
    for k in reversed(range(steps)):
        lin = sim.linearize(states[k], ctrl[k])
        step, load = np.hstack([lin.A, lin.B]), lin.force[:, 2].sum(axis=0) / weight
        gradient = (loads[k] - 1.0) * load + step.T @ slope
        gradient += np.r_[away_cost * way(first[k], path[k]), effort_cost * (ctrl[k] - stiff.ctrl[k])]
        hessian = np.outer(load, load) + step.T @ value @ step
        hessian += np.diag(np.r_[np.full(2 * nv, away_cost), np.full(nu, effort_cost)])
        mixed = hessian[2 * nv :, : 2 * nv]
        solved = -np.linalg.solve(hessian[2 * nv :, 2 * nv :], np.c_[gradient[2 * nv :], mixed])
        change, gain = solved[:, 0], solved[:, 1:]
        value, slope = hessian[: 2 * nv, : 2 * nv] + mixed.T @ gain, gradient[: 2 * nv] + mixed.T @ change
        found.append((change, gain))
    return found[::-1]


best = land(stiff.ctrl, first)
costs = [best[-1]]
for _ in range(3):
    gains = improve(*best[:4])
    tries = (land(best[0], best[1], gains, share) for share in (1.0, 0.5, 0.25, 0.1, 0.03))
    best = next((one for one in tries if one[-1] < best[-1]), best)
    costs.append(best[-1])
soft = sim.run(0.2, controller=lambda t, state: best[0][min(steps - 1, round(t / sim.dt))], qpos=start)
peaks = [float(rec.total_force[:, 2].max() / weight) for rec in (stiff, soft)]
print("cost of the landing, by iteration:", np.round(costs, 1))
print(f"peak force: {peaks[0]:.1f} times the weight in a stiff pose, {peaks[1]:.1f} after")
runs = {"stiff pose": stiff, "iterative LQR": soft}
save_plot(plot(runs, "grf", title="A quadruped lands from 5 cm"), "landing.png")
