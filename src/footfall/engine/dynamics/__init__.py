"""Rigid-body dynamics of a kinematic tree in plain kernels, for GPU threads and CPU cores.

Quantities and names are MuJoCo's (``cdof``, ``cvel``, ``qLD``, spatial vectors about the tree's centre of mass with the
rotation first), so that the kernels of :mod:`footfall.engine` work on either. Order of a step:

    kinematics -> bias -> composite_inertia -> joint_inertia -> factor -> joint and contact forces -> solve -> integrate

``bias`` comes before ``composite_inertia``, which overwrites the bodies' inertias by those of their subtrees.
"""
