"""Robot, ground, law and controller put together, and run.

The path of ``Simulation(...).run(...)`` goes from file to file: ``setup`` checks robot, ground, law and step, and
compiles MuJoCo's model; ``task`` checks what the run is asked for; ``workspace`` allocates all arrays, or takes those
of an earlier run; ``controls`` makes the controller ready; ``run`` drives the compiled loop; ``outcome`` makes the
recording. ``world`` is a run that the user steps, with ``state`` to return to. ``worlds`` are many at once:
``worlds_given`` are their inputs, ``worlds_engine`` computes them. ``first_start`` and ``warm`` compile the loop before
its first step.
"""

from footfall.simulation.simulation import Simulation

__all__ = ["Simulation"]
