"""All laws, and what the physics tests expect of each: strict by default, every exception with its reason beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import footfall as ff

GRAVITY = 9.81  # m/s2
DT = 1e-3  # s

every_law = pytest.mark.parametrize("law", ff.laws())


@dataclass(frozen=True)
class Expected:
    """What a law is held to at ``dt`` = 1 ms, unless a reason stands in :data:`EXCEPTIONS`."""

    #: Options with which the law is Coulomb's, where its defaults are not meant to be.
    options: tuple[tuple[str, object], ...] = ()
    #: s, how long a point may give way before it must hold. A law that holds by force alone needs no time.
    settling: float = 0.0
    #: m in 5 s, of a brick that friction holds on a ramp, beyond the creep the law states.
    drift: float = 1e-6
    #: relative, of the acceleration of a brick that slides down a ramp.
    sliding: float = 1e-3
    #: relative, of the way a thrown brick slides: Euler's steps of 1 ms alone shorten it by g mu dt / v = 0.15 %.
    stopping: float = 5e-3
    #: degrees, between the throw and the way.
    direction: float = 0.1
    #: Whether its cone has facets, whose shape the two bounds above are.
    facets: bool = False
    #: Whether static friction may be larger than dynamic.
    two_frictions: bool = True
    #: relative, of the sum of contact forces under a robot that stands.
    weight: float = 1e-4
    #: J per J, by which mechanical energy may rise in an impact at dt = 0.1 ms: the integrator's error.
    energy: float = 1e-3
    #: share of samples of a fall whose forces the law may call unsolved.
    unsolved_in_falls: float = 0.0
    #: the same while the robot lies on its thighs with joints at their limits.
    unsolved_lying: float = 0.0


#: Laws that see all points and MuJoCo's constraints (limits, other bodies on the ground) are solved in turn; where
#: friction jumps they may find no agreement within their rounds, and then the status says so.
_IN_TURN = {"unsolved_in_falls": 0.002, "unsolved_lying": 0.003}

EXCEPTIONS = {
    # Springs stretch by the millimetre they are made to sink in, times tan(20 degrees), before they hold.
    "spring-damper": Expected(settling=0.5),
    # Its sliding friction has a viscous part, which is left out here. Adherence is a weak spring and a strong damper.
    "distributed": Expected(options=(("mu_ts", 0.0),), settling=0.5),
    # It slips while it sinks in, then creeps as creep() says; one friction coefficient.
    "hunt-crossley": Expected(settling=0.5, drift=1e-5, two_frictions=False),
    "linearizing-penalty": Expected(**_IN_TURN),
    "time-stepping": Expected(**_IN_TURN),
    "constraint-selection": Expected(**_IN_TURN),
    "acceleration-complementarity": Expected(**_IN_TURN),
    # Soft friction creeps at a rate MuJoCo does not state, 1.8 mm/s here. The default friction pyramid lies inside the
    # cone: between its axes friction is smaller by up to sqrt(2), and does not oppose the motion. One coefficient.
    "mujoco": Expected(
        facets=True, drift=2e-2, sliding=3e-2, stopping=math.sqrt(2.0) - 1.0, direction=14.0, two_frictions=False
    ),
}


def expected(law: str) -> Expected:
    """What is expected of a law; of one that nobody excused, everything."""
    return EXCEPTIONS.get(law, Expected())


def coulombs(law: str) -> ff.contact.Law:
    """A law with Coulomb's friction, as its defaults are unless the table says otherwise."""
    return ff.law(law, **dict(expected(law).options))


@cache
def rest_depth(law: ff.contact.Law, robot: ff.Robot) -> float:
    """Depth (m) at which a robot comes to rest on level ground: the deepest of its points."""
    rec = ff.Simulation(robot, law=law, dt=DT).run(3.0, record_dt=3.0)
    return float(-rec.gap[-1].min())


def log(law: str, **numbers: float) -> None:
    """Print measured numbers, for `pytest -s` and for reports."""
    print(f"\n    {law!s:20s}", *(f"{name} {value:.3g}" for name, value in numbers.items()), end="")


def mechanical_energy(rec: ff.Recording) -> np.ndarray:
    """(T,) J, kinetic and potential, the potential of gravity zero where the recording starts."""
    energy = ff.measure.energy(rec).mechanical
    return energy - ff.measure.energy(rec).potential[0]
