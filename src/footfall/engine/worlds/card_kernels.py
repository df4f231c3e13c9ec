"""The kernels of worlds on a GPU, each compiled for one law, one ground and one controller."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import generated
from footfall.compiled.gpu import Device, checked_cuda, is_simulated
from footfall.compiled.gpu_cache import kept_on_disk
from footfall.compiled.gpu_tiles import array_at
from footfall.contact.base import CoupledLaw, PointLaw
from footfall.contact.constraint_selection import find_at_once, find_states, write_prediction
from footfall.contact.linearizing_penalty import saturated
from footfall.contact.time_stepping import restore_friction
from footfall.engine.mobility import half_solve, mobility
from footfall.engine.other_bodies.points import OtherTape
from footfall.engine.tape import Tape
from footfall.engine.worlds import queues as queues_module
from footfall.engine.worlds.arrays import Given, State, picker
from footfall.engine.worlds.every_body import STAND_INS as EVERY_BODY
from footfall.engine.worlds.every_body import advance_on_every_body
from footfall.engine.worlds.feet_alone import STAND_INS as FEET_ALONE
from footfall.engine.worlds.feet_alone import advance_on_feet
from footfall.engine.worlds.joints import correct_states, correct_states_alone
from footfall.engine.worlds.lean_mobility import lean_half_solve, lean_mobility
from footfall.engine.worlds.lying import STANDING, WITHOUT_ELLIPSOIDS, one_world_that_stands
from footfall.engine.worlds.one_world import one_world_on_feet
from footfall.engine.worlds.queues import NONE, line_up, next_place, next_place_of_warp
from footfall.engine.worlds.selection import put_off, try_standing
from footfall.engine.worlds.step import Functions, Track, law_step, motion_step, operator_step, point_step
from footfall.engine.worlds.tiles import Plot, law_picker, tile_picker
from footfall.engine.worlds.together import (
    ANSWER,
    ROOM,
    begin_step,
    end_step,
    guess_forces,
    join_those_that_lie,
    search_states,
    start_call,
    still_going,
    waits,
)
from footfall.solve.contact_lean import DEFERRED, LYING, defer
from footfall.solve.contact_problem import solve_from_guess
from footfall.solve.faceted import solve_with_facets
from footfall.solve.selection.prediction import nearest
from footfall.solve.selection.sliding import damper
from footfall.solve.together import desk as desk_module
from footfall.solve.together.algebra import eliminate_together
from footfall.solve.together.desk import (
    OF_GUESSES,
    OF_NEWTON,
    WHOLE,
    Desk,
    desk_shapes,
    largest_row,
    largest_row_by_lanes,
    told_any_lane,
    told_lowest_of_lanes,
    wait,
    wait_for_warp,
)
from footfall.solve.together.registers import eliminator, fits, rows_eliminator
from footfall.solve.together.rows import eliminate_rows
from footfall.solve.together.selection import any_lane, lowest_of_lanes
from footfall.solve.together.selection_desk import SELECTION_WHOLE, SelectionDesk, selection_shapes
from footfall.solve.together.states import kept_damper

#: Registers of a lane that takes steps, of one that solves contact problems, and of one that searches states: few
#: enough for many warps to hide each other's memory latency.
STEP_REGISTERS, SOLVER_REGISTERS, SEARCH_REGISTERS = 128, 96, 128

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


def find_cuda() -> Any:
    """Numba's CUDA with a GPU to use."""
    global cuda
    cuda = desk_module.cuda = queues_module.cuda = checked_cuda()
    return cuda


class Arrays(NamedTuple):
    """All arrays that the worlds of a GPU read and write, the world last."""

    robot: Any
    given: Any
    state: Any
    space: Any  # Tiles
    tape: Any
    other_tape: Any  # of points not on feet
    chosen: Any  # (W,) row of the tape of each world, -1 if it is not recorded


pick_given = picker(Given, world_last=True)
pick_state = picker(State, world_last=True)
pick_tape = picker(Tape, world_last=True)
pick_other_tape = picker(OtherTape, world_last=True)


def limited(registers: int) -> dict[str, int]:
    """The compiler option that limits a kernel's registers."""
    return {} if is_simulated() else {"max_registers": registers}


def idle_point(depth, depth_rate, slip, slip_velocity, memory, static, dynamic, values):
    return 0.0, 0.0, 0.0, 0


def idle_coupled(contacts, dt, memory, force, mode, scratch, signals, values):
    return 0


def idle_control(time, qpos, qvel, ctrl, gains):
    return 0


def no_facets(problem, facets):
    return 1, 0


def leave_friction(contacts, kept):
    """Leave the friction of impacts in place until the problem is solved; the next step begins with that of
    the ground.
    """
    return


#: Replacements on a GPU: of large solvers that are seldom called and would take minutes to compile and most of the
#: memory, and of functions that wait too often for memory (``lean_mobility`` gives a tenth of the speed, measured under
#: time-stepping with 65,536 worlds).
LEAN = {
    solve_from_guess: defer,
    solve_with_facets: no_facets,
    find_states: try_standing,
    find_at_once: put_off,
    restore_friction: leave_friction,
    mobility: lean_mobility,
    half_solve: lean_half_solve,
}


def not_saturated(problem):
    return


def no_nearest(contacts, memory, desk, b, rules):
    return 0


def no_prediction(problem, desk, signals, rules, rank):
    return


#: More replacements for laws that are usual, see :meth:`footfall.contact.base.CoupledLaw.is_usual`.
LEAN_IF_USUAL = LEAN | {saturated: not_saturated, nearest: no_nearest, write_prediction: no_prediction}


def law_on_tiles(device: Device, adapter: Any, plot: Plot) -> Any:
    """A coupled law as a device function that finds its scratch arrays among the numbers of its lane.

    Passed one by one, they would make the tuple of a world's arrays so long that the compiler keeps it in memory.
    """
    law, pick = device.function(adapter), law_picker(plot, simulated=is_simulated())
    if pick is None:
        return law
    scratch_in = device.function(pick)

    @cuda.jit(device=True)
    def asked(contacts, dt, memory, force, mode, tiles, signals, values):
        return law(contacts, dt, memory, force, mode, scratch_in(tiles), signals, values)

    return asked


@cache
def build_together(law: Any, surface: Any, control: Any, plot: Plot, bodies: str, usual: bool) -> Any:
    """The kernel that ends and begins steps under laws that solve a contact problem; see :mod:`.together`. ``bodies``
    says which bodies other than feet may touch the ground: ``"none"``, ``"others"``, or ``"curved"`` if some are
    ellipsoids. If any may, the kernel takes the steps of worlds that stand, see :mod:`.lying`.
    """
    by_warps = {} if is_simulated() else {next_place: next_place_of_warp}
    stand_ins = STANDING if bodies == "curved" else STANDING | WITHOUT_ELLIPSOIDS
    if bodies == "none":
        stand_ins = FEET_ALONE | {one_world_that_stands: one_world_on_feet}
    device = Device(
        replaced=stand_ins | (LEAN_IF_USUAL if usual else LEAN) | {correct_states: correct_states_alone} | by_warps
    )
    start, begin, end = (device.function(one) for one in (start_call, begin_step, end_step))
    goes_on, is_waiting = device.function(still_going), device.function(waits)
    wait_in_line, lie_down = device.function(line_up), device.function(join_those_that_lie)
    world, coupled = device.function(one_world_that_stands), law_on_tiles(device, law.adapter(), plot)
    point, ground, controller = device.function(idle_point), device.function(surface), device.function(control)
    given_of, state_of = device.function(pick_given), device.function(pick_state)
    tape_of, others_of = device.function(pick_tape), device.function(pick_other_tape)
    space_of = device.function(tile_picker(plot, simulated=is_simulated()))

    @cuda.jit(**limited(STEP_REGISTERS))
    def entry(arrays, plan, queues, span, turn):
        lane, chosen = turn.lane + cuda.grid(1), arrays.chosen
        w = turn.first + lane
        if w >= chosen.size:
            return
        row = chosen[w]
        if row < 0 and span.look == 1:
            return
        functions = Functions(point, coupled, ground, controller)
        state, own, given = state_of(arrays.state, w), space_of(arrays.space, lane), given_of(arrays.given, w)
        tape_row = max(row, 0)
        track = Track(tape_of(arrays.tape, tape_row), others_of(arrays.other_tape, tape_row), row >= 0)
        if turn.start == 1:
            start(own.progress)
        if not goes_on(state, own.progress, span):
            return
        if not is_waiting(own.progress) and own.progress[ROOM] == 0:
            one = world(arrays.robot, given, state, own, track.others)
            end(one, state, own.progress, track, plan, span)
            begin(one, given, state, own.progress, track, plan, functions, span)
            if not goes_on(state, own.progress, span):
                return
        queues.going[0] = 1
        if own.progress[ROOM] > 0 or own.progress[ANSWER] == LYING:
            lie_down(queues, own.progress, lane)
        elif is_waiting(own.progress):
            wait_in_line(queues, own.progress[ANSWER], lane, NONE)

    return kept_on_disk(entry)


@cache
def build_solver(part: Any, plot: Plot, points: int, feet: int, usual: bool) -> Any:
    """The kernel in which a warp does one part of solving the contact problem of its world; see :mod:`.together`."""
    simulated = is_simulated()
    by_lanes: dict[Any, Any] = {}
    if not simulated:
        by_lanes = {wait: wait_for_warp, largest_row: largest_row_by_lanes}
        by_lanes |= {lowest_of_lanes: told_lowest_of_lanes, any_lane: told_any_lane}
        if fits(n := 6 * feet):
            by_lanes |= {eliminate_together: eliminator(cuda, n), eliminate_rows: rows_eliminator(cuda, n)}
    device = Device(replaced=(LEAN_IF_USUAL if usual else LEAN) | by_lanes | {damper: kept_damper})
    solve, wait_in_line = device.function(part), device.function(line_up)
    if part is search_states:
        maker = desk_maker(SelectionDesk, selection_shapes(points, feet), SELECTION_WHOLE)
        registers = SEARCH_REGISTERS
    else:
        unused = OF_NEWTON if part is guess_forces else OF_GUESSES
        maker = desk_maker(Desk, desk_shapes(points, feet) | dict.fromkeys(unused, (0,)), WHOLE)
        registers = SOLVER_REGISTERS
    make_desk = device.function(maker)
    law_of = device.function(law_picker(plot, simulated=simulated))
    state_of, space_of = device.function(pick_state), device.function(tile_picker(plot, simulated=is_simulated()))

    @cuda.jit(**limited(registers))
    def entry(robot, state, space, queues, turn):
        lane, number, waiting = cuda.threadIdx.x, cuda.blockIdx.x, queues.number[turn.queue]
        if number >= waiting:
            return
        desk, following = make_desk(), cuda.shared.array(1, np.int64)
        while number < waiting:
            owner = queues.member[turn.queue, number]
            own = space_of(space, owner)
            answer = solve(lane, robot, state_of(state, turn.first + owner), own, law_of(own.law), turn, desk)
            if lane == 0:
                own.progress[ANSWER] = answer
                if answer >= DEFERRED:
                    wait_in_line(queues, answer, owner, turn.queue)
            if lane == 0:  # a warp whose world takes long takes no other
                following[0] = cuda.gridDim.x + cuda.atomic.add(queues.taken, turn.queue, 1)
            cuda.syncthreads()  # before the desk is used again
            number = following[0]

    return kept_on_disk(entry)


def desk_maker(kind: Any, shapes: dict[str, tuple[int, ...]], whole: tuple[str, ...]) -> Any:
    """A device function that makes a desk of this kind in shared memory.

    Its arrays are at constant distances from the first; otherwise a tenth of all instructions would compute addresses.
    """
    known = {"Desk": kind, "cuda": cuda, "int64": np.int64, "float64": np.float64}
    arrays, used = [], {"float64": 0, "int64": 0}
    for name in kind._fields:
        real = "int64" if name in whole else "float64"
        known[f"{name}_in"] = array_at(used[real], shapes[name], simulated=is_simulated(), tile=1)
        arrays.append(f"{name}_in(all_{real})")
        used[real] += math.prod(shapes[name])
    # On lines of their own: so the simulator tells them apart.
    lines = "".join(f"    all_{real} = cuda.shared.array({count}, {real})\n" for real, count in used.items())
    source = f"def make_desk():\n{lines}    return Desk({', '.join(arrays)})\n"
    home: Any = desk_shapes
    return generated(source, "make_desk", known, home)


@cache
def build_apart(law: Any, surface: Any, control: Any, plot: Plot, *, single: bool, every_body: bool) -> Any:
    """The kernel for all other laws, one lane per world; ``every_body`` may touch the ground, or only feet."""
    own_step = point_step
    if law.coupled:
        own_step = operator_step if law.operator else motion_step
    stand_ins, advance_one = (EVERY_BODY, advance_on_every_body) if every_body else (FEET_ALONE, advance_on_feet)
    device = Device(single=single, replaced=stand_ins | LEAN | {law_step: own_step})
    advance = device.function(advance_one)
    point = device.function(law.pointer() if issubclass(law, PointLaw) else idle_point)
    coupled = law_on_tiles(device, law.adapter() if issubclass(law, CoupledLaw) else idle_coupled, plot)
    ground, controller = device.function(surface), device.function(control)
    given_of, state_of = device.function(pick_given), device.function(pick_state)
    tape_of, others_of = device.function(pick_tape), device.function(pick_other_tape)
    space_of = device.function(tile_picker(plot, simulated=is_simulated()))

    @cuda.jit(**limited(STEP_REGISTERS))
    def entry(arrays, plan, span):
        lane, lanes, chosen = cuda.grid(1), cuda.gridsize(1), arrays.chosen
        if lane >= chosen.size:
            return
        functions = Functions(point, coupled, ground, controller)
        own = space_of(arrays.space, lane)
        for w in range(lane, chosen.size, lanes):
            row = chosen[w]
            if row < 0 and span.look == 1:
                continue
            tape_row = max(row, 0)
            track = Track(tape_of(arrays.tape, tape_row), others_of(arrays.other_tape, tape_row), row >= 0)
            given, state = given_of(arrays.given, w), state_of(arrays.state, w)
            advance(arrays.robot, given, state, own, track, plan, functions, span)

    return kept_on_disk(entry)


@cache
def build_clearing() -> Any:
    @cuda.jit
    def clear(queues, start):
        """Empty all lists; at the ``start`` of a call no world has lain."""
        for which in range(queues.number.size):
            queues.number[which], queues.taken[which] = 0, 0
        queues.going[0] = 0
        if start == 1:
            queues.going[1] = 0

    return kept_on_disk(clear)


@cache
def build_setter() -> Any:
    @cuda.jit
    def set_rows(target, source, which):
        """Write ``source`` (n, 1 or W) to the worlds of ``which`` (W,) in ``target`` (n, W)."""
        w = cuda.grid(1)
        if w < target.shape[1] and which[w]:
            for i in range(target.shape[0]):
                target[i, w] = source[i, min(w, source.shape[1] - 1)]

    return set_rows
