"""Balance by contact-force optimisation: Ott, Roa and Hirzinger 2011.

A wrench at the centre of mass brings it back to its place and the trunk back to its orientation, (19)-(22). A quadratic
program distributes it over the contact points (``footfall.control.contact_forces``), and the transposed contact
Jacobian in coordinates of the centre of mass turns the forces into joint torques, (12)-(15). No force is measured and
no inverse dynamics is computed. The paper assumes that all contact points touch. Here, unless ``hold_limbs`` is False,
a foot in the air gets no load and is led back, and joints that move no contact point keep their pose
(``footfall.control.balance.unloaded``).

Forces are those of the ground on the robot, so that (15) reads ``tau = -J_c^T f``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from footfall.control.balance.loops import Loops
from footfall.control.balance.reference import Reference, Wanted
from footfall.control.balance.state import Balancer, Gains, watched
from footfall.control.balance.steps import (
    ELSEWHERE,
    INFEASIBLE,
    KINDS,
    SATURATED,
    UNREACHABLE,
    UNSOLVED,
    balance_controls,
    balance_tick,
    balance_torques,
    see_balance,
)
from footfall.control.balance.unloaded import none_unloaded, unloaded
from footfall.control.base import State
from footfall.control.body.com_coordinates import tree_of
from footfall.control.body.size import Size, size_of
from footfall.control.contact_forces import force_problem
from footfall.control.contact_places import Contact, ContactPlaces, compiled_places
from footfall.control.episode_log import CALM, KIND, LAST, MORE, START, WORST, LoggedWarnings, empty_log
from footfall.control.inside import Inside, signals_in
from footfall.control.options import check_numbers
from footfall.control.senses import no_senses
from footfall.engine.bridge import make_clock
from footfall.errors import ControllerError, did_you_mean
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.robot.motors import drives

#: Most episodes of warnings that are kept.
ROOM = 1024


#: The robot of the paper as ``torque-biped`` assumes it, its gains and the least force per point.
PAPER = Size(mass=50.0, inertia=6.68, height=0.6554, gravity=np.array([0.0, 0.0, -9.81]), points=8)
PAPER_GAINS = {"kh": 900.0, "kv": 3000.0, "kr": 100.0, "dr": 50.0}
PAPER_FLOOR = 4.0  # N


@dataclass(frozen=True)
class Balance:
    """Keep the centre of mass and the trunk where they are, or on a reference, by the forces at the contact points.

    Default gains scale the paper's with mass, inertia and the frequency sqrt(g/h) of the standing robot; for a robot of
    its size (50 kg, centre of mass at 0.66 m) they are the paper's, except the horizontal damping, which is larger
    here. The default ``floor`` is the same share of the weight per contact point as in the paper. Servos get the target
    that produces the wanted torque; loops and springs between trunk and feet carry their part.

        push = ff.Push("trunk", force=(0, 70, 0), start=0.5, duration=0.05)
        rec = ff.Simulation("torque-biped").run(2.0, controller=Balance(), pushes=push)

    Records ``commanded_force`` (one row per contact point, those of the feet first), ``desired_wrench``,
    ``missed_wrench``, ``com_error``, ``qp_time`` and ``qp_solved``. Warnings: ``infeasible`` where the contacts cannot
    give the wrench (the nearest they can give is used), ``saturated`` where a motor cannot give its torque,
    ``unreachable`` where the robot cannot stand at its reference or does not get there, ``fallen``, after which the
    motors are off.

    Attributes:
        kh: N/m, horizontal stiffness, 1.2 m g/h.
        kv: N/m, vertical stiffness, 4.0 m g/h.
        damping_h: damping ratio of the horizontal motion; 0.8 in the paper, with which pushes topple sooner.
        damping_v: damping ratio of the vertical motion.
        kr: N m/rad, stiffness of the trunk's orientation, 1.0 I g/h.
        dr: N m s/rad, its damping, 1.9 I sqrt(g/h).
        alpha1: weight of the force, eq. (18).
        alpha2: weight of the torque.
        alpha3: weight of the contact forces' norm.
        floor: N, least normal force at every point, 0.065 of the weight / points.
        sides: of the friction pyramid.
        friction: coefficient that limits the forces, the ground's dynamic one if left out.
        trunk: body whose orientation is kept, the root if left out.
        com: function of time (s): wanted displacement of the centre of mass from its place at the start, (3,) m, world
            frame.
        orientation: function of time (s): wanted rotation vector of the trunk from its orientation at the start, (3,)
            rad, world frame.
        contacts: contact points besides those of the feet, such as a hand on a rail.
        hold_limbs: lead feet in the air back, keep arms and waist in their pose; not in the paper, which is False.
    """

    kh: float | None = None
    kv: float | None = None
    damping_h: float = 1.15
    damping_v: float = 0.2
    kr: float | None = None
    dr: float | None = None
    alpha1: float = 1.0
    alpha2: float = 1e-3
    alpha3: float = 1e-6
    floor: float | None = None
    sides: int = 4
    friction: float | None = None
    trunk: str | None = None
    com: Callable[[float], Any] | None = None
    orientation: Callable[[float], Any] | None = None
    contacts: Sequence[Contact] = ()
    hold_limbs: bool = True

    def __post_init__(self) -> None:
        check_numbers("balance", self, not_negative=("kh", "kv", "damping_h", "damping_v", "kr", "dr"))

    def __str__(self) -> str:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = [f"{name}={value}" for name, value in values.items() if value != getattr(Balance, name)]
        return f"balance({', '.join(changed)})" if changed else "balance"

    def start(self, robot: Robot, ground: Ground, dt: float) -> Balancing | LedBalancing:
        balancing = Balancing(self, robot, ground, dt)
        if self.com is None and self.orientation is None and not balancing.loops.needed:
            return balancing
        return LedBalancing(balancing, Reference(self.com, self.orientation, dt))


class Balancing(Inside):
    """A running balance controller of one robot, inside the compiled loop."""

    def __init__(self, options: Balance, robot: Robot, ground: Ground, dt: float) -> None:
        model = robot.model
        if not model.nu:
            raise ControllerError(f"balance: {robot.name} has no motors")
        driving = drives(robot, "balance")
        places = ContactPlaces(robot, ground, options.contacts)
        tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), places.body)
        size = size_of(robot, places.count)
        floor = least_force(size) if options.floor is None else options.floor
        friction = places.friction(ground.dynamic_friction if options.friction is None else options.friction)
        weights = (options.alpha1, options.alpha2, options.alpha3)
        problem, question = (
            force_problem(places.count, friction, sides=options.sides, minimum=floor, weights=weights) for _ in range(2)
        )
        own = gains(options, size)
        self.loops = Loops(robot, np.logical_or.reduce(tree.moves))
        self._motors = [model.actuator(i).name for i in range(model.nu)]
        self._limit = driving.limit
        shapes = {
            "commanded_force": ((places.count, 3), "N"),
            "desired_wrench": ((6,), "N, N m"),
            "missed_wrench": ((6,), "N, N m"),
            "com_error": ((3,), "m"),
            "qp_time": ((), "us"),
            "qp_solved": ((), ""),
        }
        self.memory = Balancer(
            senses=no_senses(),
            signals=np.zeros(sum(math.prod(shape) for shape, _ in shapes.values())),
            tree=tree,
            trunk=_trunk(robot, options.trunk, tree.root),
            gains=own,
            drives=driving,
            contacts=compiled_places(places, ground),
            wanted=Wanted(np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros(3)),
            problem=problem,
            question=question,
            watched=watched(),
            unloaded=(
                unloaded(robot, tree, driving, math.sqrt(size.rate), size.height, dt)
                if options.hold_limbs
                else none_unloaded()
            ),
            log=empty_log(KINDS, ROOM),
            clock=make_clock(),
            jacobian=np.zeros((3, model.nv)),
            velocity=np.zeros(3),
            torque=np.zeros(model.nv),
            motor_torque=np.zeros(model.nu),
            error=np.zeros(3),
            wrench=np.zeros(6),
            still=np.concatenate([own.weight, np.zeros(3)]),
        )
        super().__init__(balance_tick, self.memory)
        self.signals = signals_in(self.memory.signals, shapes)
        self.warnings = LoggedWarnings(self.memory.log, self._describe)

    def _describe(self, row: np.ndarray, before: np.ndarray) -> tuple[str, str]:
        """Kind and sentence of an episode, with the last one of those ``before`` a fall as its cause."""
        kind = int(row[KIND])
        first, *rest = row[MORE:].tolist()
        if kind == UNSOLVED:
            return "unsolved", "the solver gave no contact forces, those before are kept"
        if kind == INFEASIBLE:
            return (
                "infeasible",
                f"the contacts cannot give the desired wrench: {first:.3g} N and {rest[0]:.3g} N m short",
            )
        if kind == SATURATED:
            motor = int(first)
            asked, has = f"{rest[0]:.3g} N m", f"{self._limit[motor]:.3g} N m"
            return "saturated", f"motor '{self._motors[motor]}' is asked for {asked} and has {has}"
        if kind == UNREACHABLE and first == ELSEWHERE:
            return "unreachable", f"the centre of mass rests {1e3 * rest[0]:.3g} mm from its reference"
        if kind == UNREACHABLE:
            where = ", ".join(f"{x:.3g}" for x in rest[:3])
            short = f"{rest[3]:.3g} N and {rest[4]:.3g} N m short"
            return "unreachable", f"the robot cannot stand still with its centre of mass at ({where}) m: {short}"
        names = {INFEASIBLE: "infeasible", UNREACHABLE: "unreachable"}
        causes = [one for one in before if int(one[KIND]) in names]
        # the first of those that lasted until the fall
        causes = [one for one in causes if row[START] - one[LAST] <= CALM] or causes[-1:]
        cause = f"; {names[int(causes[0][KIND])]} since {causes[0][START]:.4g} s" if causes else ""
        return "fallen", f"the centre of mass is {row[WORST]:.3g} m high, motors off{cause}"


class LedBalancing:
    """The same with a reference that is a Python function, or with loops and springs in the legs."""

    def __init__(self, inner: Balancing, reference: Reference) -> None:
        self._inner, self._reference = inner, reference
        self.signals, self.warnings = inner.signals, inner.warnings
        self._begun = False

    def __call__(self, time: float, state: State) -> np.ndarray:
        memory, place = self._inner.memory, self._inner.see(state)
        see_balance(place, time)
        if not self._begun:
            self._reference.begin(memory.wanted.com, memory.wanted.orientation)
            self._begun = True
        if not memory.watched.fallen[0]:
            for now, goal in zip(memory.wanted, self._reference.at(time), strict=True):
                now[:] = goal
            balance_torques(place)
            self._inner.loops.carry(state.data, memory.torque)
        ctrl = np.zeros(len(memory.motor_torque))
        balance_controls(place, time, ctrl)
        return ctrl


def _trunk(robot: Robot, name: str | None, root: int) -> int:
    """The body whose orientation is kept."""
    if name is None:
        return root
    names = [robot.model.body(i).name for i in range(1, robot.model.nbody)]
    if name not in names:
        raise ControllerError(f"balance: no body of {robot.name} is called '{name}': {did_you_mean(name, names)}")
    return int(robot.model.body(name).id)


def gains(options: Balance, size: Size) -> Gains:
    """The gains for a robot of this size: those given, or the paper's scaled by inertia and frequency."""
    mass, inertia = size.mass / PAPER.mass, size.inertia / PAPER.inertia
    rate = size.rate / PAPER.rate
    scales = {"kh": mass * rate, "kv": mass * rate, "kr": inertia * rate, "dr": inertia * math.sqrt(rate)}
    given = {name: getattr(options, name) for name in scales}
    kh, kv, kr, dr = (
        PAPER_GAINS[name] * scale if given[name] is None else given[name] for name, scale in scales.items()
    )
    stiffness = np.array([kh, kh, kv], dtype=float)
    ratio = np.array([options.damping_h, options.damping_h, options.damping_v])
    damping = 2.0 * ratio * np.sqrt(size.mass * stiffness)
    return Gains(-size.mass * size.gravity, stiffness, damping, float(kr), float(dr))


def least_force(size: Size) -> float:
    """Least force (N) on every point: the share of the weight that it is in the paper."""
    return PAPER_FLOOR * _weight(size) / _weight(PAPER) * PAPER.points / size.points


def _weight(size: Size) -> float:
    return size.mass * float(np.linalg.norm(size.gravity))
