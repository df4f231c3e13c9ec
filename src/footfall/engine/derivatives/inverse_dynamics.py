"""Derivatives of inverse dynamics by one recursion over the tree (Carpentier and Mansard 2018, section IV).

Spatial vectors are in world axes about the tree's centre of mass, the rotation first, as MuJoCo's. A dof k with the
axis s moves all bodies b beyond it: with v and a the velocity and acceleration before the dof, and x the cross product
of motions,

    dv_b/dq = s x (v_b - v),      da_b/dq = s x (a_b - a) + s' x (v_b - v),      dv_b/dv_k = s,      s' = v x s.

The force that a body's motion takes is ``f = I a + v x* I v``, so that its derivative by q is

    s x* f + I (a x s + v x s') + B s',        B m = v x* I m - I (v x m) + m x* (I v),

and sums over subtrees are sums of f, I and B: each pair of dofs on a branch takes a few scalar products. Dofs that turn
at once, the three of a ball, have the same v and a before them. A force of fixed direction on a body, of a contact or a
push, changes its torque as its point moves: by P s.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.derivatives.space import Space, Taken
from footfall.engine.dynamics.inertia import carried, momentum
from footfall.kinds import Float, Int, Matrix, Vector
from footfall.robot.model import BALL, FREE


@inlined
def add_cross(out: Vector, share: Float, m: Vector, s: Vector) -> None:
    """Add ``share`` times the cross product of motions m x s."""
    found = carried(s, m[0], m[1], m[2], m[3], m[4], m[5])
    for c in range(6):
        out[c] += share * found[c]


@inlined
def add_cross_force(out: Vector, share: Float, m: Vector, f: Vector) -> None:
    """Add ``share`` times the rate of a spatial force carried along by a motion, m x* f."""
    out[0] += share * (m[1] * f[2] - m[2] * f[1] + m[4] * f[5] - m[5] * f[4])
    out[1] += share * (m[2] * f[0] - m[0] * f[2] + m[5] * f[3] - m[3] * f[5])
    out[2] += share * (m[0] * f[1] - m[1] * f[0] + m[3] * f[4] - m[4] * f[3])
    out[3] += share * (m[1] * f[5] - m[2] * f[4])
    out[4] += share * (m[2] * f[3] - m[0] * f[5])
    out[5] += share * (m[0] * f[4] - m[1] * f[3])


@inlined
def weigh(inertia: Vector, m: Vector, out: Vector) -> None:
    """An inertia (10,) times a motion."""
    out[0], out[1], out[2], out[3], out[4], out[5] = momentum(inertia, m[0], m[1], m[2], m[3], m[4], m[5])


@inlined
def product(x: Vector, y: Vector) -> Float:
    """The scalar product of six numbers."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@inlined
def pass_joint(taken: Taken, space: Space, first: Int, last: Int, v: Matrix, a: Vector) -> None:
    """Store the motions before and after dofs that act at once, and advance ``v`` and ``a`` over these dofs.

    Rows of ``v`` are the velocities at the beginning and at the end of the step.
    """
    for d in range(first, last):
        for c in range(6):
            space.before[d, c], space.before_end[d, c], space.pulled[d, c] = v[0, c], v[1, c], a[c]
    for d in range(first, last):
        s, speed, more = taken.cdof[d], taken.qvel[d], taken.qacc[d]
        for c in range(6):
            v[0, c] += s[c] * speed
            v[1, c] += s[c] * (speed + taken.dt * more)
            a[c] += s[c] * more + taken.cdof_dot[d, c] * speed
    for d in range(first, last):
        for c in range(6):
            space.after[d, c] = v[0, c]


@inlined
def sum_body(taken: Taken, space: Space, b: Int) -> None:
    """f, I and B of one body, I and B as matrices."""
    inertia, v, unit, out = taken.cinert[b], taken.cvel[b], space.unit, space.weighed
    weigh(inertia, space.acceleration[b], space.load[b])
    weigh(inertia, v, out)
    add_cross_force(space.load[b], 1.0, v, out)
    for c in range(6):
        for e in range(6):
            unit[e] = 1.0 if e == c else 0.0
            space.turn[e] = 0.0
        weigh(inertia, v, out)
        add_cross_force(space.turn, 1.0, unit, out)
        weigh(inertia, unit, out)
        add_cross_force(space.turn, 1.0, v, out)
        for e in range(6):
            space.inertia[b, e, c], space.moment[e] = out[e], 0.0
        add_cross(space.moment, 1.0, v, unit)
        weigh(inertia, space.moment, out)
        for e in range(6):
            space.rate[b, e, c] = space.turn[e] - out[e]


@inlined
def find_motions(taken: Taken, space: Space) -> None:
    """Velocities and accelerations of all bodies and before all dofs, and of each body f, I and B."""
    tree, v, a = taken.tree, space.speeds, space.pull
    for c in range(6):
        space.velocity_end[0, c], space.acceleration[0, c] = 0.0, 0.0
    for c in range(3):
        space.acceleration[0, 3 + c] = -tree.gravity[c]
    j, d = 0, 0
    for b in range(1, tree.body_parentid.size):
        parent = tree.body_parentid[b]
        for c in range(6):
            v[0, c], v[1, c] = taken.cvel[parent, c], space.velocity_end[parent, c]
            a[c] = space.acceleration[parent, c]
        for _ in range(tree.body_jntnum[b]):
            kind = tree.jnt_type[j]
            j += 1
            if kind == FREE:
                pass_joint(taken, space, d, d + 3, v, a)
                d += 3
            count = 3 if kind in (FREE, BALL) else 1
            pass_joint(taken, space, d, d + count, v, a)
            d += count
        for c in range(6):
            space.velocity_end[b, c], space.acceleration[b, c], space.outer[b, c] = v[1, c], a[c], 0.0
            for e in range(6):
                space.moving[b, c, e] = 0.0
        sum_body(taken, space, b)


@inlined
def push_point(space: Space, b: Int, centre: Vector, at: Vector, force: Vector) -> None:
    """Add a force of fixed direction, N, on a body at ``at`` (3,), m, which moves with the body's point ``centre``.

    Both positions are relative to the tree's centre of mass.
    """
    w, moving = space.outer[b], space.moving[b]
    for c in range(3):
        i, j = (c + 1) % 3, (c + 2) % 3
        w[c] += at[i] * force[j] - at[j] * force[i]
        w[3 + c] += force[c]
        # The torque of force at a point that moves by s: (linear + angular x centre) x force.
        moving[c, 3 + i] += force[j]
        moving[c, 3 + j] -= force[i]
        for e in range(3):
            moving[c, e] += centre[c] * force[e]
            moving[c, c] -= centre[e] * force[e]


@inlined
def dof_vectors(taken: Taken, space: Space) -> None:
    """Write of each dof its effect on the motions beyond it, and the responses of forces beyond it and before it."""
    for j in range(taken.qvel.size):
        b, s, rate, vectors = taken.tree.dof_bodyid[j], taken.cdof[j], taken.cdof_dot[j], space.vectors[j]
        bent, lagged, by_motion, by_rate, by_place = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
        above, above_v = vectors[5], vectors[6]
        for c in range(6):
            for i in range(7):
                vectors[i, c] = 0.0
            lagged[c] = rate[c]
        add_cross(bent, 1.0, space.pulled[j], s)
        add_cross(bent, 1.0, space.before[j], rate)
        add_cross(lagged, 1.0, space.after[j], s)
        for r in range(6):
            for c in range(6):
                inertia, turning, moving = space.inertia[b, r, c], space.rate[b, r, c], space.moving[b, r, c]
                by_motion[r] += inertia * s[c]
                by_rate[c] += turning * s[r]
                by_place[c] -= moving * s[r]
                above[r] += inertia * bent[c] + turning * rate[c] - moving * s[c]
                above_v[r] += inertia * lagged[c] + turning * s[c]
        add_cross_force(by_place, -1.0, s, space.outer[b])
        add_cross_force(above, 1.0, s, space.load[b])


@inlined
def subtract_pair(taken: Taken, space: Space, j: Int, k: Int) -> None:
    """Subtract the derivatives of the force in dof j by dof k, which is before it or acts at once."""
    of, by, line = space.vectors[j], space.vectors[k], space.right[j]
    line[k] -= product(of[2], by[0]) + product(of[3], taken.cdof_dot[k]) + product(of[4], taken.cdof[k])
    line[taken.qvel.size + k] -= product(of[2], by[1]) + product(of[3], taken.cdof[k])


@inlined
def subtract_inverse_dynamics(taken: Taken, space: Space) -> None:
    """Subtract the derivatives of ``M a + c - J^T f`` by q, v and masses from their columns of ``right``."""
    parents, nv = taken.tree.body_parentid, taken.qvel.size
    for b in range(1, parents.size):
        column, k = taken.by.mass[b], taken.last_dof[b] if taken.by.mass[b] >= 0 else -1
        while k >= 0:  # f of a body is in proportion to its mass
            space.right[k, column] -= product(taken.cdof[k], space.load[b]) / taken.by.body_mass[b]
            k = taken.dof_parentid[k]
    for b in range(parents.size - 1, 0, -1):
        p = parents[b]
        for c in range(6 if p > 0 else 0):
            space.load[p, c] += space.load[b, c]
            space.outer[p, c] += space.outer[b, c]
            for e in range(6):
                space.inertia[p, c, e] += space.inertia[b, c, e]
                space.rate[p, c, e] += space.rate[b, c, e]
                space.moving[p, c, e] += space.moving[b, c, e]
    dof_vectors(taken, space)
    for j in range(nv):
        for k in range(taken.group[j, 0], taken.group[j, 1]):
            subtract_pair(taken, space, j, k)
        k = taken.dof_parentid[taken.group[j, 0]]
        while k >= 0:
            subtract_pair(taken, space, j, k)
            space.right[k, j] -= product(taken.cdof[k], space.vectors[j, 5])
            space.right[k, nv + j] -= product(taken.cdof[k], space.vectors[j, 6])
            k = taken.dof_parentid[k]
