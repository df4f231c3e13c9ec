"""The kernels of worlds on a GPU, each compiled for one law, one ground and one controller."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled.gpu import Device, checked_cuda, is_simulated
from footfall.compiled.gpu_cache import kept_on_disk
from footfall.compiled.lanes import WARP
from footfall.compiled.lanes import block as by_block
from footfall.compiled.lanes import warp as by_lanes
from footfall.contact.base import CoupledLaw, PointLaw
from footfall.engine.derivatives.space import EXACT
from footfall.engine.other_bodies.points import OtherTape
from footfall.engine.step import idle_coupled, idle_point
from footfall.engine.tape import Tape
from footfall.engine.worlds.arrays import IDLE, WAITS, Given, WorldState, picker
from footfall.engine.worlds.derivative import Before, deny, differentiate_world, reason_against, stand_ins
from footfall.engine.worlds.every_body import STAND_INS, look_around, look_nowhere, one_world_on_every_body
from footfall.engine.worlds.every_pair import Block
from footfall.engine.worlds.step import Functions, Run, Track, law_step, motion_step, operator_step, point_step
from footfall.engine.worlds.tiles import Plot, lane_picker, law_picker
from footfall.engine.worlds.turns import (
    PARTS,
    goes_on,
    search_later,
    search_now,
    take_part,
    take_step,
    was_searched,
)
from footfall.solve.contact_problem import is_searched, search
from footfall.solve.dense import eliminate
from footfall.solve.gather import gather
from footfall.solve.problem import NewtonScratch
from footfall.solve.registers import eliminator

#: Least registers per lane, few enough that many warps hide each other's memory latency; and most.
REGISTERS, MOST_REGISTERS = 128, 255

#: Numba's module, once there is a GPU: global, for its simulator to replace.
cuda: Any = None


def find_cuda() -> Any:
    """Numba's CUDA with a GPU to use."""
    global cuda
    cuda = checked_cuda()
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
pick_state = picker(WorldState, world_last=True)
pick_tape = picker(Tape, world_last=True)
pick_other_tape = picker(OtherTape, world_last=True)
pick_before = picker(Before, world_last=True)


def limited(registers: int) -> dict[str, int]:
    """The compiler option that limits a kernel's registers."""
    return {} if is_simulated() else {"max_registers": registers}


def registers_for(lanes: int) -> int:
    """Registers per lane with which all ``lanes`` run at once, within the bounds above."""
    if is_simulated():
        return REGISTERS
    device = cuda.get_current_device()
    each = -(-lanes // (WARP * device.MULTIPROCESSOR_COUNT)) * WARP  # lanes of a multiprocessor
    return max(REGISTERS, min(MOST_REGISTERS, device.MAX_REGISTERS_PER_MULTIPROCESSOR // each))


def law_on_tiles(device: Device, adapter: Any, plot: Plot) -> Any:
    """A coupled law as a device function that finds its scratch arrays among the numbers of its lane.

    Passed one by one, they would make the tuple of a world's arrays so long that the compiler keeps it in memory.
    """
    law, pick = device.function(adapter), law_picker(plot)
    if pick is None:
        return law
    scratch_in = device.function(pick)

    @cuda.jit(device=True)
    def asked(contacts, dt, memory, force, mode, tiles, signals, values):
        return law(contacts, dt, memory, force, mode, scratch_in(tiles), signals, values)

    return asked


class Sights(NamedTuple):
    """What contacts between bodies are found in."""

    rows: Any  # Tiles, one for each block
    probes: Any  # Tiles, of all lanes of all blocks


def looking(space_of: Any, rows: Plot, probe: Plot, *, touch: bool) -> tuple[Any, Any, int]:
    """Two device functions: one that gives what a block finds contacts between bodies in, and one that finds them; and
    the number of worlds of a block.
    """
    simulated = is_simulated()
    width = 1 if simulated else WARP
    device = Device({} if simulated else by_block(cuda))
    sight_of, probe_of = device.function(lane_picker(rows)), device.function(lane_picker(probe))

    @cuda.jit(device=True)
    def block_of(spaces, sights, count):
        number = cuda.blockIdx.x
        sight, own = sight_of(sights.rows, number), probe_of(sights.probes, cuda.grid(1))
        return Block(spaces, space_of, number * width, sight, count, own)

    return block_of, device.function(look_around if touch else look_nowhere), width


@cache
def build_steps(
    law: Any,
    surface: Any,
    control: Any,
    plot: Plot,
    sights: tuple[Plot, Plot],
    registers: int,
    *,
    touch: bool,
    turns: bool,
) -> Any:
    """The kernel that takes steps, one lane of the first warp of a block per world; all lanes of a block find contacts
    between bodies, if any two may ``touch``. If the law searches, it takes one of ``turns``, see :mod:`.turns`.
    """
    own_step = point_step
    if law.coupled:
        own_step = operator_step if law.operator else motion_step
    device = Device(STAND_INS | {law_step: own_step, search: search_later, is_searched: was_searched})
    take = device.function(take_part if turns else take_step)
    world, going = device.function(one_world_on_every_body), device.function(goes_on)
    point = device.function(law.pointer() if issubclass(law, PointLaw) else idle_point)
    coupled = law_on_tiles(device, law.adapter() if issubclass(law, CoupledLaw) else idle_coupled, plot)
    ground, controller = device.function(surface), device.function(control)
    given_of, state_of, tape_of, others_of = map(device.function, (pick_given, pick_state, pick_tape, pick_other_tape))
    space_of = device.function(lane_picker(plot))
    block_of, look, width = looking(space_of, *sights, touch=touch)

    @cuda.jit(**limited(registers))
    def entry(arrays, plan, queue, sights, span, first, start):
        count = cuda.shared.array(2, np.int32)
        lane, chosen = cuda.blockIdx.x * width + cuda.threadIdx.x % width, arrays.chosen
        w = min(first + lane, chosen.size - 1)
        row = chosen[w]
        steps = cuda.threadIdx.x < width and first + lane < chosen.size and (row >= 0 or span.look == 0)
        functions, own = Functions(point, coupled, ground, controller), space_of(arrays.space, lane)
        given, state, tape_row = given_of(arrays.given, w), state_of(arrays.state, w), max(row, 0)
        track = Track(tape_of(arrays.tape, tape_row), others_of(arrays.other_tape, tape_row), row >= 0)
        one = world(arrays.robot, given, state, own, track.others)
        run = Run(one, given, state, track, plan, functions, span, own)
        block = block_of(arrays.space, sights, count)
        if steps and start == 1:
            own.taken[0], own.asked[0], own.answer[0] = 0, 0, IDLE
        for _ in range(1 if turns else span.steps + span.look):
            for part in range(PARTS):
                if steps:
                    take(run, part)
                if part == 0:
                    look(arrays.robot, block)
        if turns and steps and going(run):
            queue.number[2] = 1
            if own.answer[0] == WAITS:
                queue.member[cuda.atomic.add(queue.number, 0, 1)] = lane

    return kept_on_disk(entry)


@cache
def build_search(plot: Plot, rows: Plot, columns: int) -> Any:
    """The kernel in which warps do the searches that worlds wait for, see :mod:`.turns`; the matrix of Newton's step,
    with this many columns, lies in the memory that a block shares.
    """
    device = Device({} if is_simulated() else by_lanes(cuda) | {eliminate: eliminator(cuda)})
    now, state_of = device.function(search_now), device.function(pick_state)
    with_matrix = device.function(gather(NewtonScratch, {"own": NewtonScratch, "matrix": None}))
    space_of, law_of = device.function(lane_picker(plot)), device.function(law_picker(plot))
    workspace_of = device.function(lane_picker(rows))
    width = columns | 1  # odd, so that lanes read different banks

    @cuda.jit(**limited(REGISTERS))
    def entry(states, spaces, workspaces, queue, first):
        number, waiting = cuda.blockIdx.x, queue.number[0]
        matrix = cuda.shared.array((columns, width), np.float64)
        following = cuda.shared.array(1, np.int64)
        warp = workspace_of(workspaces, cuda.blockIdx.x)
        newton = with_matrix(warp.newton, matrix)
        while number < waiting:
            owner = queue.member[number]
            own = space_of(spaces, owner)
            now(state_of(states, first + owner), own, law_of(own.law).problem, warp.problem, newton)
            if cuda.threadIdx.x == 0:  # the next world goes to the first warp that is free
                following[0] = cuda.gridDim.x + cuda.atomic.add(queue.number, 1, 1)
            cuda.syncthreads()
            number = following[0]
            cuda.syncthreads()

    return kept_on_disk(entry)


@cache
def build_derivative(law: Any, kind: int, space: Plot, own: Plot) -> Any:
    """The kernel that differentiates steps that worlds have taken, one lane per world: ``space`` is the scratch space
    of steps, ``own`` that of derivatives. See :mod:`.derivative`.
    """
    device = Device(STAND_INS | stand_ins(kind))
    world, reason_of = device.function(one_world_on_every_body), device.function(reason_against)
    derive, refuse = device.function(differentiate_world), device.function(deny)
    point = device.function(law.pointer() if issubclass(law, PointLaw) else idle_point)
    given_of, state_of, before_of = map(device.function, (pick_given, pick_state, pick_before))
    space_of, own_of = device.function(lane_picker(space)), device.function(lane_picker(own))

    @cuda.jit(**limited(REGISTERS))
    def entry(steps, before, shared, spaces, found, why, lanes, first, begin):
        lane = cuda.grid(1)
        stepped, w = begin + lane, first + begin + lane
        if lane >= lanes[0] or stepped >= lanes[1] or w >= why.size:
            return
        given, state, space = given_of(steps.given, w), state_of(steps.state, w), space_of(steps.space, stepped)
        one, out = world(steps.robot, given, state, space, steps.other_tape), found[..., w]
        reason = reason_of(one, state, shared)
        why[w] = reason
        if reason == EXACT:
            derive(one, given, before_of(before, w), space, shared, own_of(spaces, lane), out, point)
        else:
            refuse(out)

    return kept_on_disk(entry)


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
