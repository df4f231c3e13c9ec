"""The walk of a planar biped with least torque (Bravo 2021, section 4.2).

The unknowns are the angles of a touch-down, the rates at both ends of a step, and its duration: the cubics (41)-(43)
follow from them, the legs change places (13), and the plastic impact (20)-(22) leads from the rates at the end to those
at the start. CasADi and Ipopt minimise the integral of the squared torques (40).
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.errors import GaitError
from footfall.gait.constraints import GaitConstraints
from footfall.gait.initial_guess import first_guess
from footfall.gait.legs import find_legs
from footfall.gait.polynomial import PolynomialGait, cubics, swapped
from footfall.gait.step_check import examine
from footfall.gait.step_model import StepModel
from footfall.gait.symbolic import casadi
from footfall.robot import Robot
from footfall.robot.motors import torque_limits

#: Changes when the same problem would be solved otherwise, so that gaits kept before are not taken for its solution.
METHOD = "cubics, plastic impact, 41 samples, 1"
SAMPLES = 41  # of a step, where the constraints are made; odd, for Simpson's rule
#: Step lengths to start from, relative to the height of the base: the problem has several local minima.
STARTS = (0.3, 0.45, 0.6)
ITERATIONS = 500
DURATION = (0.15, 1.5)  # s, of a step
SHORTEST = 0.05  # m, of a step
WIDEST = 2.0  # heights of the base that a step is never longer than
#: Of the weight: the ground force is never asked to be less.
LIGHTEST = 0.1
#: m and rad, asked for beyond the constraints in the samples, so that they are met between them as well.
EXTRA = 1e-3

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Optimum:
    """The best walk found, and the guess the search for it began with."""

    gait: PolynomialGait
    guess: PolynomialGait


def optimise(robot: Robot, constraints: GaitConstraints, progress: Progress | None = None) -> Optimum:
    """Find the walk of least torque that meets the constraints; ``progress`` is called with messages."""
    report = progress or (lambda sentence: None)
    began = clock.perf_counter()
    legs, height = find_legs(robot), float(robot.home[1])
    fastest = WIDEST * height / DURATION[0]
    if constraints.speed > fastest:
        raise GaitError(
            f"{robot.name} cannot walk at {constraints.speed:g} m/s: steps last {DURATION[0]:g} s at least, and legs "
            f"of {height:.2g} m reach {WIDEST * height:.2g} m, which is {fastest:.2g} m/s"
        )
    problem = _Problem(robot, constraints)
    found: list[tuple[float, PolynomialGait, PolynomialGait]] = []
    starts = STARTS if constraints.step_length is None else (constraints.step_length / height,)
    failures = []
    for part in starts:
        guess = first_guess(robot, legs, constraints.speed, part * height)
        report(f"from steps of {guess.step_length:.3f} m, J = {examine(robot, guess).cost:.5g} N2 m2 s")
        try:
            cost, gait = problem.solve(guess, report)
        except RuntimeError:
            failures.append(problem.opti.return_status().replace("_", " ").lower())
            report(f"nothing found from there: {failures[-1]}")
            continue
        found.append((cost, gait, guess))
    if not found:
        raise GaitError(
            f"no walk of {robot.name} at {constraints.speed:g} m/s meets the constraints (Ipopt: {failures[0]}): "
            "ask for another speed, less clearance, or a harder landing"
        )
    cost, gait, guess = min(found, key=lambda one: one[0])
    report(f"J = {cost:.5g} N2 m2 s, after {clock.perf_counter() - began:.1f} s")
    return Optimum(gait, guess)


class _Problem:
    """The nonlinear programme, built once and solved from several starts."""

    def __init__(self, robot: Robot, constraints: GaitConstraints) -> None:
        ca = casadi()
        self.robot, self.constraints, self.legs = robot, constraints, find_legs(robot)
        self.model = StepModel(robot, self.legs)
        n, nv = 2 * self.legs.size, robot.model.nv
        opti = self.opti = ca.Opti()
        self.q0, self.v0, self.vT = opti.variable(n), opti.variable(n), opti.variable(n)
        self.T, self.after, self.impulse = opti.variable(), opti.variable(nv), opti.variable(3)
        self.length = constraints.speed * self.T
        a0, a1, a2, a3 = cubics(self.q0, swapped(self.q0), self.v0, self.vT, self.T)
        self.phase = np.linspace(0.0, 1.0, SAMPLES)
        times = [self.T * s for s in self.phase]
        q = ca.horzcat(*(a0 + t * (a1 + t * (a2 + t * a3)) for t in times))
        v = ca.horzcat(*(a1 + t * (2 * a2 + t * 3 * a3) for t in times))
        a = ca.horzcat(*(2 * a2 + 6 * t * a3 for t in times))
        torque, forward, upward, lever, heights, place, rate, qpos, qvel = self.model.instant.map(SAMPLES)(q, v, a)
        weights = np.ones(SAMPLES)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        self.cost = self.T * ca.mtimes(ca.sum1(torque**2), weights / (3.0 * (SAMPLES - 1)))
        opti.minimize(self.cost / robot.weight)
        self._joints(q, torque)
        self._ground(forward, upward, lever)
        self._swing(heights, place[:, -1])
        self._touch_down(rate[:, -1], qpos[:, -1], qvel[:, -1])
        options = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS}
        # Expanded into scalars, expressions take seconds to derive, and iterations a third of their time.
        several = constraints.step_length is None
        opti.solver("ipopt", {"print_time": False, "expand": several}, options)

    def _joints(self, q: Any, torque: Any) -> None:
        """Joints and motors within their limits."""
        model, margin = self.robot.model, self.constraints.joint_margin + EXTRA
        limits = torque_limits(self.robot)
        for i, name in enumerate(self.legs.joints[0] + self.legs.joints[1]):
            joint = model.joint(name).id
            if model.jnt_limited[joint]:
                low, high = model.jnt_range[joint]
                self.opti.subject_to(self.opti.bounded(low + margin, q[i, :], high - margin))
            if np.isfinite(limits[i]):
                self.opti.subject_to(self.opti.bounded(-1.0, torque[i, :] / limits[i], 1.0))

    def _ground(self, forward: Any, upward: Any, lever: Any) -> None:
        """The stance foot is pushed, does not slip (8)-(9) and does not tip (45)."""
        mu, weight = self.constraints.friction, self.robot.weight
        heel, toe = self.constraints.sole(self.legs, EXTRA)
        for one in (
            upward - LIGHTEST * weight,
            mu * upward - forward,
            mu * upward + forward,
            toe * upward - lever,
            lever - heel * upward,
        ):
            self.opti.subject_to(one / weight >= 0)

    def _swing(self, heights: Any, end: Any) -> None:
        """The swing foot clears the ground and comes down flat a step ahead (12)."""
        opti, constraints = self.opti, self.constraints
        for i in range(1, SAMPLES - 1):
            opti.subject_to(heights[:, i] >= constraints.least_height(self.phase[i], EXTRA))
        opti.subject_to(end[0] == self.length)
        opti.subject_to(end[1:] == 0)
        opti.subject_to(opti.bounded(DURATION[0], self.T, DURATION[1]))
        opti.subject_to(self.length >= SHORTEST)
        if constraints.step_length is not None:
            opti.subject_to(self.length == constraints.step_length)

    def _touch_down(self, rate: Any, qpos: Any, qvel: Any) -> None:
        """Rates go on from step to step, through an impact or without one."""
        opti, constraints = self.opti, self.constraints
        opti.subject_to(self.v0 == swapped(self.after[3:]))
        if constraints.landing_speed == 0.0:
            opti.subject_to(rate == 0)
            opti.subject_to(self.after == qvel)
            opti.subject_to(self.impulse == 0)
            return
        inertia, landing, leaving = self.model.impact(qpos)
        opti.subject_to(inertia @ (self.after - qvel) == landing.T @ self.impulse)  # (22)
        opti.subject_to(landing @ self.after == 0)  # (20), no restitution, and no slip
        along, up, turn = self.impulse[0], self.impulse[1], self.impulse[2]
        heel, toe = constraints.sole(self.legs)
        mu = constraints.friction
        # A moment about y that lies ahead of the middle is negative.
        for one in (up, mu * up - along, mu * up + along, toe * up + turn, -heel * up - turn):
            opti.subject_to(one >= 0)
        opti.subject_to(leaving @ self.after >= 0)
        opti.subject_to(opti.bounded(-constraints.landing_speed, rate[1], 0))

    def solve(self, guess: PolynomialGait, report: Progress) -> tuple[float, PolynomialGait]:
        """The nearest optimum and its cost; ``RuntimeError`` if Ipopt finds none."""
        opti = self.opti
        start, end = guess.at(0.0), guess.at(guess.step_duration)
        step = examine(self.robot, guess, 3)
        for unknown, value in (
            (self.q0, start[0]),
            (self.v0, start[1]),
            (self.vT, end[1]),
            (self.T, guess.step_duration),
            (self.after, step.impact.velocity),
            (self.impulse, np.zeros(3)),
        ):
            opti.set_initial(unknown, value)

        def every_ten(iteration: int) -> None:
            if iteration % 10 == 0:
                report(f"iteration {iteration}: J = {float(opti.debug.value(self.cost)):.5g} N2 m2 s")

        opti.callback(every_ten)
        found = opti.solve()
        q0, v0, vT, T = (np.asarray(found.value(one)) for one in (self.q0, self.v0, self.vT, self.T))
        coefficients = np.array(cubics(q0, swapped(q0), v0, vT, float(T)))
        gait = PolynomialGait(
            self.robot.name, self.legs.joints, coefficients, float(T), float(found.value(self.length))
        )
        return float(found.value(self.cost)), gait
