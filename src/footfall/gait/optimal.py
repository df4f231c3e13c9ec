"""The walk of a planar biped with least torque (Bravo 2021, section 4.2).

The unknowns are the angles of a touch-down, the rates at both ends of a step, and its duration: the cubics (41)-(43)
follow from them, the legs change roles (13), and the plastic impact (20)-(22) maps the rates at the end of a step to
those at the start of the next. CasADi and Ipopt minimise the integral of the squared torques (40).

The dynamics are CasADi expressions built from the robot's MuJoCo model: bodies on hinges and slides, whose velocities
and accelerations CasADi derives from their positions. Zeros of the model drop out, so that a planar robot has planar
expressions.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import GaitError, optional_package
from footfall.gait.polynomial import Legs, PolynomialGait, cubics, find_legs, swapped
from footfall.gait.step_check import GaitConstraints, examine
from footfall.robot import Robot
from footfall.robot.model import HINGE, SLIDE
from footfall.robot.motors import torque_limits
from footfall.robot.rotations import matrix_of
from footfall.standing import jacobian_at


def casadi() -> Any:
    """The package CasADi, or an error that says how to install it."""
    return optional_package("casadi", "optimising a gait")


class Body(NamedTuple):
    """A body as expressions in the world frame."""

    rotation: Any  # (3, 3) of its frame
    origin: Any  # (3,) m
    spin: Any  # (3,) rad/s

    def point(self, local: np.ndarray) -> Any:
        """World position of a point of the body, m."""
        return self.origin + self.rotation @ local


def bodies(robot: Robot, q: Any, v: Any) -> list[Body]:
    """All bodies of a robot at coordinates ``q`` and rates ``v`` (nv each)."""
    ca, model = casadi(), robot.model
    found = [Body(ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3))]
    for b in range(1, model.nbody):
        parent = found[model.body_parentid[b]]
        rotation = parent.rotation @ _constant_rotation(model.body_quat[b])
        origin, spin = parent.point(model.body_pos[b]), parent.spin
        for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            kind, k = model.jnt_type[j], int(model.jnt_dofadr[j])
            axis = rotation @ ca.SX(ca.DM(model.jnt_axis[j]))
            value = q[k] - float(model.qpos0[model.jnt_qposadr[j]])
            if kind == SLIDE:
                origin = origin + axis * value
            elif kind == HINGE and not model.jnt_pos[j].any():
                spin = spin + axis * v[k]
                rotation = rotation @ _rotation(model.jnt_axis[j], value)
            else:
                raise GaitError(
                    f"joint '{model.joint(j).name}' of {robot.name}: a gait is optimised for robots of slides, and of "
                    "hinges at their bodies' origins"
                )
        found.append(Body(rotation, origin, spin))
    return found


def inverse_dynamics(robot: Robot) -> Any:
    """The function (q, v, a) -> A(q) a + H(q, v), the generalised forces (nv) of a motion: Bravo 2021 (1)."""
    ca, model = casadi(), robot.model
    q, v, a = (ca.SX.sym(name, model.nv) for name in "qva")
    state, change = ca.vertcat(q, v), ca.vertcat(v, a)
    moving = [(b, body) for b, body in enumerate(bodies(robot, q, v)) if model.body_mass[b] > 0.0]
    spin = ca.horzcat(*(body.spin for _, body in moving))
    velocity = ca.jtimes(ca.horzcat(*(body.point(model.body_ipos[b]) for b, body in moving)), q, v)
    turning, acceleration = (ca.jtimes(one, state, change) for one in (spin, velocity))
    moments = []
    for k, (b, body) in enumerate(moving):
        frame = body.rotation @ _constant_rotation(model.body_iquat[b])
        inertia = frame @ ca.diag(ca.SX(ca.DM(model.body_inertia[b]))) @ frame.T
        moments.append(inertia @ turning[:, k] + ca.cross(body.spin, inertia @ body.spin))
    push = (acceleration - model.opt.gravity) @ ca.diag(model.body_mass[[b for b, _ in moving]])
    # Inertial forces and moments of all bodies, multiplied by the transposed Jacobians of their velocities.
    force = ca.jtimes(ca.vec(velocity), v, ca.vec(push), True)
    force += ca.jtimes(ca.vec(spin), v, ca.vec(ca.horzcat(*moments)), True)
    force = ca.cse(force + model.dof_armature * a + model.dof_damping * v)
    return ca.Function("inverse_dynamics", [q, v, a], [force])


def _constant_rotation(quaternion: np.ndarray) -> Any:
    matrix = matrix_of(quaternion)
    matrix[np.abs(matrix) < 1e-15] = 0.0
    ca = casadi()
    return ca.sparsify(ca.SX(ca.DM(matrix)))


def _rotation(axis: np.ndarray, angle: Any) -> Any:
    """Rodrigues' formula."""
    ca = casadi()
    k = ca.sparsify(ca.SX(ca.DM([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])))
    return ca.SX.eye(3) + ca.sin(angle) * k + (1 - ca.cos(angle)) * (k @ k)


class StepModel:
    """Functions of the joints of a planar biped with its stance foot held flat (Bravo 2021, section 4.1).

    Holding the foot (11) makes the base a function of the joints, q = q(q_a). Its derivative is M of (35); the torques
    are M^T (A q'' + H), (37), and the rows of the base are the ground's force and moment. Joints come as stance leg,
    swing leg; the stance foot is the robot's first, its middle at the origin.

    ``instant(q, v, a)`` returns torques (2 n), horizontal and vertical ground force (N), the moment of the vertical
    force about the middle of the sole (zero moment point times force, N m), heights of the swing foot's heel and toe
    (m), place of its middle (x, z, pitch), the rate of that, coordinates (nv) and velocities (nv) of the robot.
    ``impact(q)`` returns, of the whole robot, inertia, Jacobian of the swing foot (x, z, pitch), and that of the stance
    foot's heel and toe heights.
    """

    def __init__(self, robot: Robot, legs: Legs) -> None:
        ca = casadi()
        n = 2 * legs.size
        self.robot, self.legs = robot, legs
        self.dynamics = inverse_dynamics(robot)
        joints, rates, accelerations = (ca.SX.sym(name, n) for name in ("q", "v", "a"))
        pitch = -ca.sum1(joints[: legs.size])  # the stance foot is flat, its middle at the origin
        middle = self._foot(0, ca.vertcat(0, 0, pitch, joints))[1]
        q = ca.vertcat(-middle[0], -middle[1], pitch, joints)  # Bravo 2021, eq. 11
        v = ca.jtimes(q, joints, rates)
        a = ca.jtimes(v, ca.vertcat(joints, rates), ca.vertcat(rates, accelerations))
        needed = self.dynamics(q, v, a)  # Bravo 2021, eq. 1
        torque = ca.jacobian(q, joints).T @ needed  # Bravo 2021, eq. 37
        forward, upward, moment = needed[0], needed[1], needed[2]
        # The generalised force of the base's pitch is the moment of the ground force about the base's origin.
        lever = q[0] * upward - q[1] * forward - moment  # Bravo 2021, eq. 45: p_x f_z
        heights, place = self._foot(1, q)
        self.instant = ca.Function(
            "instant",
            [joints, rates, accelerations],
            [torque, forward, upward, lever, heights, place, ca.jtimes(place, joints, rates), q, v],
        )
        q, v, a = (ca.SX.sym(name, robot.model.nv) for name in "qva")
        inertia = ca.jacobian(self.dynamics(q, v, a), a)
        landing, leaving = ca.jacobian(self._foot(1, q)[1], q), ca.jacobian(self._foot(0, q)[0], q)
        self.impact = ca.Function("impact", [q], [inertia, landing, leaving])

    def _foot(self, foot: int, q: Any) -> tuple[Any, Any]:
        """Heights of heel and toe, and (x, z, pitch) of the sole's middle."""
        ca = casadi()
        body = bodies(self.robot, q, ca.SX.zeros(self.robot.model.nv))[self.legs.body[foot]]
        points = [body.point(p) for p in self.legs.ends[foot]]
        middle = sum(points) / len(points)
        first = 3 + foot * self.legs.size
        pitch = q[2] + ca.sum1(q[first : first + self.legs.size])
        return ca.vertcat(*(p[2] for p in points)), ca.vertcat(middle[0], middle[2], pitch)


BEND = 0.5  # rad, of the swing knee in the middle of its cubic
CROUCH = 0.97  # height of the hips, as a share of that at which a leg has its length in the home pose


def first_guess(robot: Robot, legs: Legs, speed: float, length: float) -> PolynomialGait:
    """Steps of ``length`` (m) at ``speed`` (m/s), trunk upright, feet flat and at rest at both ends of a step."""
    least_squares = optional_package("scipy.optimize").least_squares

    model = robot.model
    data = mujoco.MjData(model)
    reach = float(robot.home[1])
    height = CROUCH * np.sqrt(max(reach**2 - (0.5 * length) ** 2, (0.5 * reach) ** 2))
    at = np.array([[0.5 * length, 0.0, 0.0], [-0.5 * length, 0.0, 0.0]])  # stance foot ahead, as at touch-down

    def places(joints: np.ndarray) -> np.ndarray:
        data.qpos[:] = [0.0, height, 0.0, *joints]
        mujoco.mj_kinematics(model, data)
        found = []
        for foot in range(2):
            ends = data.xpos[legs.body[foot]] + legs.ends[foot] @ data.xmat[legs.body[foot]].reshape(3, 3).T
            pitch = joints[foot * legs.size : (foot + 1) * legs.size].sum()
            found.append([ends[:, 0].mean(), ends[:, 2].mean(), pitch])
        return np.array(found)

    solution = least_squares(lambda joints: (places(joints) - at).ravel(), robot.home[3:], xtol=1e-14, gtol=1e-14)
    if np.abs(solution.fun).max() > 1e-6:
        raise GaitError(f"{robot.name} cannot stand with its feet {length:.3g} m apart: ask for shorter steps")
    q0 = solution.x
    places(q0)
    mujoco.mj_comPos(model, data)
    v0 = np.zeros(2 * legs.size)
    for foot in range(2):
        jacobian = jacobian_at(data, legs.body[foot], data.xpos[legs.body[foot]])[[0, 2, 4]]  # x, z, pitch
        own = slice(foot * legs.size, (foot + 1) * legs.size)
        v0[own] = np.linalg.solve(jacobian[:, 3:][:, own], -speed * jacobian[:, 0])
    duration = length / speed
    vT = swapped(v0)
    # End rates of +-4 b / T move the middle of a cubic by b; hip and ankle have minus half the knee's: the foot stays
    # flat.
    bulge = 4.0 * BEND / duration * np.array([0.0, 0.0, 0.0, -0.5, 1.0, -0.5])
    coefficients = np.array(cubics(q0, swapped(q0), v0 + bulge, vT - bulge, duration))
    return PolynomialGait(robot.name, legs.joints, coefficients, duration, length)


#: Part of the hash of a problem; to be changed with the method, which invalidates cached gaits.
METHOD = "cubics, plastic impact, 41 samples, 1"
SAMPLES = 41  # instants of a step with constraints; odd, for Simpson's rule
#: Step lengths of the initial guesses, relative to the height of the base: the problem has several local minima.
STARTS = (0.3, 0.45, 0.6)
ITERATIONS = 500
DURATION = (0.5, 5.0)  # bounds on a step's duration, in sqrt(h/g) for the height h of the base
SHORTEST = 0.05  # lower bound on the length of a step, in heights of the base
WIDEST = 2.0  # upper bound on the length of a step, in heights of the base
#: Lower bound on the vertical ground force, as a share of the weight.
LIGHTEST = 0.1
#: Margin, m and rad, on constraints at the samples, so that they are met between samples as well.
EXTRA = 1e-3

Progress = Callable[[str], None]


def optimise(
    robot: Robot, constraints: GaitConstraints, progress: Progress | None = None
) -> tuple[PolynomialGait, PolynomialGait]:
    """The walk of least torque that meets the constraints, and the initial guess that led to it.

    ``progress`` is called with messages.
    """
    report = progress or (lambda sentence: None)
    began = clock.perf_counter()
    legs, height = find_legs(robot), float(robot.home[1])
    quickest = DURATION[0] * _unit(robot)
    fastest = WIDEST * height / quickest
    if constraints.speed > fastest:
        raise GaitError(
            f"{robot.name} cannot walk at {constraints.speed:g} m/s: steps last {quickest:.2g} s at least, and legs "
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
    return gait, guess


def _unit(robot: Robot) -> float:
    """s, sqrt(h/g) of the height h of the base."""
    return math.sqrt(float(robot.home[1]) * robot.mass / robot.weight)


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
        # Expansion into scalars takes seconds and makes iterations three times as fast: it pays for several solutions.
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
        """The normal force is positive, and the stance foot neither slips (8)-(9) nor tips (45)."""
        mu, weight = self.constraints.friction, self.robot.weight
        heel, toe = self.constraints.sole(self.legs, EXTRA)
        for one in (
            upward - LIGHTEST * weight,
            mu * upward - forward,  # Bravo 2021, eq. 8-9
            mu * upward + forward,
            toe * upward - lever,  # Bravo 2021, eq. 45
            lever - heel * upward,
        ):
            self.opti.subject_to(one / weight >= 0)

    def _swing(self, heights: Any, end: Any) -> None:
        """The swing foot clears the ground and lands flat, a step ahead (12)."""
        opti, constraints = self.opti, self.constraints
        for i in range(1, SAMPLES - 1):
            opti.subject_to(heights[:, i] >= constraints.least_height(self.phase[i], EXTRA))
        opti.subject_to(end[0] == self.length)  # Bravo 2021, eq. 12
        opti.subject_to(end[1:] == 0)
        unit = _unit(self.robot)
        opti.subject_to(opti.bounded(DURATION[0] * unit, self.T, DURATION[1] * unit))
        opti.subject_to(self.length >= SHORTEST * float(self.robot.home[1]))
        if constraints.step_length is not None:
            opti.subject_to(self.length == constraints.step_length)

    def _touch_down(self, rate: Any, qpos: Any, qvel: Any) -> None:
        """Rates are periodic from step to step, through the impact if there is one."""
        opti, constraints = self.opti, self.constraints
        opti.subject_to(self.v0 == swapped(self.after[3:]))
        if constraints.landing_speed == 0.0:
            opti.subject_to(rate == 0)
            opti.subject_to(self.after == qvel)
            opti.subject_to(self.impulse == 0)
            return
        inertia, landing, leaving = self.model.impact(qpos)
        opti.subject_to(inertia @ (self.after - qvel) == landing.T @ self.impulse)  # Bravo 2021, eq. 22
        opti.subject_to(landing @ self.after == 0)  # Bravo 2021, eq. 20, no restitution, and no slip
        along, up, turn = self.impulse[0], self.impulse[1], self.impulse[2]
        heel, toe = constraints.sole(self.legs)
        mu = constraints.friction
        # An upward impulse ahead of the middle has a negative moment about y.
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
