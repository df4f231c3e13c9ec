"""One world in compiled code: the bridge to MuJoCo, contact points, the step.

Where to begin: ``step`` is the loop of time steps and ``events/integration`` that from event to event; ``world`` lays
out what they read and write, ``law_step`` goes from the law to the acceleration. Beside them:

- contact points: ``kinematics`` of those of the feet, ``other_bodies/`` all others, ``mobility`` how forces on them
  accelerate them
- MuJoCo: ``bridge`` its functions and structures, ``stages`` of its step, ``recovery`` from its errors, ``replay`` of
  recorded states, ``clearance`` between bodies; ``constraints/`` are its rows of joints and loops, ``mujoco_law/`` its
  contacts
- what comes of a run: ``tape``
- many worlds: ``worlds/``, with dynamics of their own in ``dynamics/``
"""
