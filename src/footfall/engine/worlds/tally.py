"""Measures of a world that accumulate during the run, for otherwise they would need a recording of every step."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.engine.dynamics.inertia import momentum
from footfall.engine.worlds.arrays import COP, ENERGY, IMPULSE, PEAK, SLIP, WORK


@inlined
def tally_contacts(points, contacts, dt, tally):
    """Add the contact forces of a step to the tallies.

    These are: largest total normal force (N), impulse (N s, world frame), slip distance of loaded points (m), centre of
    pressure of the step (m, world frame; NaN without load), work of the ground on the robot (J).
    """
    total, slip, work = 0.0, 0.0, 0.0
    x, y, z = 0.0, 0.0, 0.0
    px, py, pz = tally[IMPULSE], tally[IMPULSE + 1], tally[IMPULSE + 2]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, v, frame, at = points.force[p], contacts.velocity[p], contacts.frame[p], points.position[p]
        if f[2] <= 0.0:
            continue
        total += f[2]
        x, y, z = x + f[2] * at[0], y + f[2] * at[1], z + f[2] * at[2]
        slip += dt * math.sqrt(v[0] * v[0] + v[1] * v[1])
        work += dt * (f[0] * v[0] + f[1] * v[1] + f[2] * v[2])
        px += dt * (frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2])
        py += dt * (frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2])
        pz += dt * (frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2])
    tally[IMPULSE], tally[IMPULSE + 1], tally[IMPULSE + 2] = px, py, pz
    tally[PEAK] = max(tally[PEAK], total)
    tally[SLIP] += slip
    tally[WORK] += work
    share = 1.0 / total if total > 0.0 else math.nan
    tally[COP], tally[COP + 1], tally[COP + 2] = share * x, share * y, share * z


@inlined
def show_forces(points, contacts, feet, beside):
    """Write the contact forces of the points of feet (P, 3), and of all others together (3,), in the world frame."""
    for k in range(3):
        beside[k] = 0.0
        for p in range(feet.shape[0]):
            feet[p, k] = 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        f, frame = points.force[p], contacts.frame[p]
        for k in range(3):
            force = frame[0, k] * f[0] + frame[1, k] * f[1] + frame[2, k] * f[2]
            if p < feet.shape[0]:
                feet[p, k] = force
            else:
                beside[k] += force


@inlined
def mechanical_energy(tree, bodies):
    """Kinetic energy, armature included, plus that of the weight above z = 0, J. Needs ``cinert`` of single bodies."""
    energy = 0.0
    for b in range(1, tree.body_parentid.size):
        v, g, at = bodies.cvel[b], tree.gravity, bodies.xipos[b]
        h0, h1, h2, h3, h4, h5 = momentum(bodies.cinert[b], v[0], v[1], v[2], v[3], v[4], v[5])
        energy += 0.5 * (h0 * v[0] + h1 * v[1] + h2 * v[2] + h3 * v[3] + h4 * v[4] + h5 * v[5])
        energy -= bodies.body_mass[b] * (g[0] * at[0] + g[1] * at[1] + g[2] * at[2])
    for d in range(tree.dof_armature.size):
        energy += 0.5 * tree.dof_armature[d] * bodies.qvel[d] * bodies.qvel[d]
    return energy


@inlined
def tally_energy(tree, bodies, tally):
    tally[ENERGY] = mechanical_energy(tree, bodies)
