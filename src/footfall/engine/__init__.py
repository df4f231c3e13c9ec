"""One world in compiled code: the bridge to MuJoCo, contact points, the step.

Where to begin: ``step`` is the loop of time steps and ``events/integration`` the event-driven one; ``world`` lays out
what they read and write, ``law_step`` goes from the law to the acceleration. Besides them:

- contact points: ``kinematics`` for those of the feet, ``other_bodies/`` for all others (``points`` their arrays,
  ``near`` which of them touch), ``mobility`` for how forces on them accelerate them
- MuJoCo: ``bridge`` its functions and structures, ``stages`` of its step, ``recovery`` from its errors, ``replay`` of
  recorded states, ``clearance`` between bodies; ``constraints/`` are its rows of joints and loops, ``mujoco_law`` and
  ``soft_contacts`` its contacts
- recording: ``tape``
- many worlds: ``worlds/``, with dynamics of their own in ``dynamics/``
"""
