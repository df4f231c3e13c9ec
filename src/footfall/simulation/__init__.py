"""Robot, ground, law and controller put together, and run.

The path of ``Simulation(...).run(...)`` goes from file to file: ``setup`` checks robot, ground, law and step, and
compiles MuJoCo's model; ``task`` checks the arguments of the run; ``workspace`` allocates all arrays, or reuses those
of an earlier run; ``controls`` prepares the controller; ``run`` drives the compiled loop; ``outcome`` makes the
recording. ``World`` in ``simulation`` is a run that the user steps, with ``state`` to return to. ``worlds`` are many at
once: ``worlds_given`` are their inputs, ``worlds_engine`` computes them. ``first_start`` and ``warm`` compile the loop
before its first step.
"""

from footfall.simulation.simulation import Simulation

__all__ = ["Simulation"]
