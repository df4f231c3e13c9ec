"""Constraint selection for feet that are polygons (Moraud 2008).

A foot has no contact, or one vertex, one edge or its whole face is clamped, each static or sliding (Table I). Clamped
vertices are held exactly; the *state* is searched until no rule of valid contact is broken
(:mod:`footfall.solve.selection.search`), starting from the state of the step before, which most steps keep. The paper's
sliding friction acts at one place of a foot, where it cannot brake a foot that spins on the spot. Here all points are
solved for on Coulomb's exact cone, vertex by vertex, as long as a foot slides.

The rules are the paper's, whose thresholds hold a vertex that lands up to ``d`` above or below the ground. The rules of
``landing`` apply to the end of the step instead, so that touch-down is a plastic impact exactly on the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from numba import types

from footfall.arguments import public
from footfall.compiled import cold, inlined
from footfall.contact.base import CoupledLaw, check
from footfall.contact.setting import Setting
from footfall.contact.time_stepping import free_velocities
from footfall.given_numbers import NotNegative
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Vector
from footfall.solve.contact_problem import solve_contacts
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts, coulomb
from footfall.solve.problem import MODE, Problem, ProblemScratch, Size, begin_problem, problem_scratch
from footfall.solve.selection.forces import (
    FACE,
    LOAD,
    MEMORY_SIZE,
    NONE,
    STILL,
    clamped,
    state_of,
    vertex,
)
from footfall.solve.selection.search import (
    FRICTION,
    PLACES,
    PRESSURE,
    PULL,
    is_clean,
    predict,
    read_rank,
    search,
    slides,
)
from footfall.solve.selection.soles import Stabilisation, Workspace, look, make_workspace

#: Time constant of Baumgarte's stabilisation in steps, unless ``beta`` is given.
STEPS = 20.0
#: m/s, largest velocity of Baumgarte's correction.
FASTEST = 0.1
#: Number of signals before those of feet; reasons why points were clamped one by one.
SIGNALS, UNEVEN, NOT_FOUND, SLIPS = 4, 1.0, 2.0, 3.0


class Parameters(NamedTuple):
    paper: float  # whether the rules are the paper's
    d: float  # m
    a_t: float  # m/s2
    v_t: float  # m/s
    cop_rule: float
    pull: float  # N
    one_step: float
    warm: float
    keep: float  # share of its velocity that a clamped vertex keeps in a step
    rate: float  # 1/s
    level: float  # 1/s
    feet: float  # number of feet
    points: float  # number of points of soles, which are the first points


class Scratch(NamedTuple):
    problem: ProblemScratch  # for points that are clamped or free one by one
    work: Workspace


@inlined
def write(contacts: Contacts, work: Workspace, memory: Matrix, force: Matrix, mode: Ints) -> None:
    """Write forces and modes of the states in ``work.code``; vertices that become static are anchored in place."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = 0.0, 0.0, 0.0
        mode[p] = OPEN
    for b in range(contacts.near.size - 1):
        code = work.code[b]
        for j in range(clamped(code, work.begin[b + 1] - work.begin[b])):
            p = vertex(work, b, code, j)
            f = work.push[p]
            if work.pressure[b, 0] >= 0.0:
                force[p, 2] = f[2]
                force[p, 0], force[p, 1], _ = coulomb(f[0], f[1], contacts.static_friction[p] * abs(f[2]))
            mode[p] = STICK
            if memory[p, MODE] != STICK:
                for k in range(3):
                    contacts.anchor[p, k] = contacts.position[p, k]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        memory[p, MODE], memory[p, LOAD] = mode[p], force[p, 2]


@cold(types.none)
def note_flaws(contacts: Contacts, work: Workspace, memory: Matrix) -> None:
    """Mark vertices of predicted states that should become free, for the prediction of the next step."""
    for b in range(contacts.near.size - 1):
        code = work.code[b]
        for j in range(clamped(code, work.begin[b + 1] - work.begin[b])):
            p = vertex(work, b, code, j)
            if work.flaw[p] in (PULL, PRESSURE):
                memory[p, LOAD] = -1.0


@cold(types.int64)
def point_by_point(problem: Problem, feet: Int, reason: Float, signals: Vector) -> Int:
    """Clamp or free every contact point on its own: where the ground or a sole is uneven, a foot slides, or the search
    failed.

    Adds its iterations to the signal of states tried. Returns the law's status.
    """
    contacts, memory, mode = problem.contacts, problem.memory, problem.mode
    free_velocities(problem, 0.0)
    status, tried, _ = solve_contacts(problem)
    signals[0], signals[1], signals[3] = signals[0] + tried, status, reason
    for b in range(contacts.near.size - 1):
        count, sliding = 0, 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            count += 1 if mode[p] != OPEN else 0
            sliding = 1.0 if mode[p] == SLIDE else sliding
            memory[p, LOAD] = problem.force[p, 2]
            for k in range(3):
                contacts.anchor[p, k] = contacts.position[p, k]
        if b < feet:
            signals[SIGNALS + b], signals[SIGNALS + feet + b] = min(count, FACE), sliding
    return status


@inlined
def slipped(contacts: Contacts, memory: Matrix) -> Bool:
    """Whether a near point slid in the last step."""
    for i in range(contacts.number[0]):
        if memory[contacts.points[i], MODE] == SLIDE:
            return True
    return False


@inlined
def beside_soles(contacts: Contacts, points: Int) -> Bool:
    """Whether a point other than those of soles, the first ``points``, is near the ground."""
    for i in range(contacts.number[0]):
        if contacts.points[i] >= points:
            return True
    return False


def constraint_selection(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Scratch,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """The states of all feet, searched or predicted, and their forces: a coupled kernel."""
    feet, work, rules = int(parameters.feet), scratch.work, parameters
    problem = begin_problem(contacts, dt, STILL, memory, force, mode, scratch)
    beside = beside_soles(contacts, int(rules.points))
    stabilisation = Stabilisation(rules.keep, rules.rate, FASTEST, rules.level)
    before = signals[3] if contacts.number[1] > 0 else 0.0  # of an earlier call in this step
    signals[0], signals[1], signals[2], signals[3] = 0.0, 0.0, 0.0, 0.0
    if before > 0.0:
        return point_by_point(problem, feet, before, signals)
    if beside or not look(contacts, dt, stabilisation, memory, work):
        return point_by_point(problem, feet, UNEVEN, signals)
    if slipped(contacts, memory):
        return point_by_point(problem, feet, SLIPS, signals)
    one_step = rules.one_step == 1.0
    if one_step:
        rank, tried, reason = predict(contacts, dt, memory, work, rules), 1, 0
    else:
        for b in range(contacts.near.size - 1):
            work.code[b] = state_of(memory[:, MODE], work, b) if rules.warm == 1.0 else NONE
        rank, tried, reason = search(contacts, dt, work, rules)
    signals[0], signals[2] = tried, reason
    if slides(work):
        signals[2] = FRICTION
        return point_by_point(problem, feet, SLIPS, signals)
    if not one_step and rules.cop_rule == 1.0 and not is_clean(rank):
        return point_by_point(problem, feet, NOT_FOUND, signals)
    write(contacts, work, memory, force, mode)
    if one_step:
        note_flaws(contacts, work, memory)
    signals[1], _ = read_rank(rank)
    for b in range(feet):
        signals[SIGNALS + b], signals[SIGNALS + feet + b] = work.code[b] & 3, 0.0
    return 0 if one_step or is_clean(rank) else 1


@public
@dataclass(frozen=True, kw_only=True)
class ConstraintSelection(CoupledLaw):
    """Clamps vertices, edges or faces of the feet such that the rules of valid contact hold.

    ``rules`` is ``"paper"``: vertices less than ``d`` above the ground are clamped unless they separate, by the
    thresholds ``a_t`` and ``v_t``, and come down to it at Baumgarte's rate; or ``"landing"``: a free vertex that would
    end the step inside the ground is clamped, and lands exactly on it. ``mode`` is ``"exact"``, which searches until no
    rule is broken, or ``"one-step"``, which predicts the state at a fixed cost. With ``cop_rule`` a rotation is
    released when the centre of pressure reaches the edge of what is clamped. Without it, a rotation is released when a
    vertex would pull, with the load spread over the sole as an affine function, by more than ``pull`` (N). A ``pull``
    above zero is the paper's thresholded model, in which the ground pulls that much and the centre of pressure leaves
    the sole. ``warm=False`` starts every search without the last state; it serves to measure what the warm start saves.
    ``alpha`` and ``beta`` (1/s) are Baumgarte's gains, ``a = -2 alpha v - beta^2 x``; if left out, a velocity ends
    within the step, and a position error falls to 1/e in 20 steps.

    A foot's polygon is the convex outline of its contact points that are near the ground; points inside carry nothing.

    Limitations: the law needs a flat sole, and under it ground that is a plane (level, a slope, one tread). Elsewhere,
    where bodies other than feet touch the ground, while a foot slides, and in the rare step in which the search finds
    no state, every contact point is clamped or free on its own, as in law time-stepping. Forces are spread over a sole
    as if it were parallel to the ground: in the step in which a tilted sole lands they are off by its tilt.

    Attributes:
        rules: what a free vertex is judged by.
        d: m, depth from which a vertex must be clamped, and height from which it is free; 1 mm if left out.
        a_t: m/s2, upward acceleration beyond which a vertex leaves; 0.1 if left out.
        v_t: m/s, downward speed below which a vertex may leave; 0.1 if left out.
        mode: search until no rule is broken, or predict at a fixed cost.
        cop_rule: a rotation is released when the centre of pressure reaches the edge.
        pull: N, force with which a vertex may pull where cop_rule is off.
        warm: searches begin with the last state.
        alpha: 1/s, Baumgarte's gain of velocities; left out, they end within a step.
        beta: 1/s, Baumgarte's gain of positions; left out, errors fall to 1/e in 20 steps.
    """

    rules: Literal["paper", "landing"] = "paper"
    d: NotNegative | None = None
    a_t: NotNegative | None = None
    v_t: NotNegative | None = None
    mode: Literal["exact", "one-step"] = "exact"
    cop_rule: bool = True
    pull: NotNegative = 0.0
    warm: bool = True
    alpha: NotNegative | None = None
    beta: NotNegative | None = None

    name = "constraint-selection"
    citation = "Moraud, Hale and Cheng 2008"
    memory_size = MEMORY_SIZE
    margin = 0.01  # m, farther than a foot falls in a step of 1 ms
    fastest = 10.0  # m/s, after a fall from 5 m
    signals = MappingProxyType(
        {
            "candidates": "states tried",
            "violations": "rules broken",
            "rule": "for which the states changed: 0 none, 1 friction, 2 centre of pressure, 3 geometry, 4 pull, "
            "5 kinematics, 6 fewest constraints",
            "points": "1 to 3 if points were clamped one by one: ground or sole uneven, no state found, a foot slides",
        }
    )
    foot_signals = MappingProxyType({"state": "0 none, 1 vertex, 2 edge, 3 face", "sliding": "0 static, 1 sliding"})
    kernel = staticmethod(constraint_selection)

    def __post_init__(self) -> None:
        for option in ("d", "a_t", "v_t"):
            value = getattr(self, option)
            fits = value is None or self.rules == "paper"
            check(fits, self.name, option, value, "left out unless rules is 'paper', which alone has thresholds")
        fits = self.pull == 0.0 or (not self.cop_rule and self.mode == "exact")
        check(fits, self.name, "pull", self.pull, "0 unless cop_rule is False and mode 'exact'")

    by_design = MappingProxyType(
        {
            "gap times force": "vertices up to d above the ground are clamped, and pushed",
            "penetration": "a vertex that passes d within a step sinks in, and comes out at Baumgarte's rate",
            **dict.fromkeys(
                ("normal energy", "friction energy", "contact energy"),
                "Baumgarte's rate returns a clamped vertex to the ground and to where it stuck, whatever the load",
            ),
        }
    )

    @property
    def reach(self) -> float:
        return 0.0 if self.rules == "landing" else 1e-3 if self.d is None else self.d

    def scratch(self, size: Size) -> Scratch:
        return Scratch(problem_scratch(size), make_workspace(size.points, size.bodies, PLACES))

    def resolve(self, setting: Setting) -> Parameters:
        dt = setting.dt
        rate = 1.0 / (STEPS * dt) if self.beta is None else min(dt * self.beta**2, 1.0 / dt)
        return Parameters(
            paper=float(self.rules == "paper"),
            d=self.reach,
            a_t=0.1 if self.a_t is None else self.a_t,
            v_t=0.1 if self.v_t is None else self.v_t,
            cop_rule=float(self.cop_rule),
            pull=self.pull,
            warm=float(self.warm),
            one_step=float(self.mode == "one-step"),
            keep=0.0 if self.alpha is None else math.exp(-2.0 * self.alpha * dt),
            rate=rate,
            level=rate if self.rules == "paper" else 1.0 / dt,
            feet=float(len(setting.robot.feet)),
            points=float(setting.robot.point_count),
        )
