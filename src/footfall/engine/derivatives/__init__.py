"""Exact derivatives of a step, for :mod:`footfall.simulation.linearize`.

A step of length h takes coordinates q and velocities v to

    (M + h D) a = tau(q, v, u) - c(q, v) + J^T f + joint rows(q, v, a),    v' = v + h a,    q' = q + h v',          (1)

M being the inertia, D the damping that acts on the velocity at the end of the step, c the forces of motion and gravity,
and f those of the contact law. Differentiated with a and f held fixed, its residual has the derivatives of inverse
dynamics (``inverse_dynamics``: Carpentier and Mansard 2018, their recursion, in world axes), of motors, springs and
joint rows (``joints``). What the law adds depends on its kind:

- forces that are functions of the state (``point_laws``) add J^T df;
- forces that solve a contact problem on Coulomb's cone (``cone``) follow from the implicit function theorem on the
  points that press, stick and slide when the step is solved.

``transition`` puts these into one linear system in da, with the factors of the inertia, and integrates.
"""
