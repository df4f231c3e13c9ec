"""The kernels of worlds on a GPU that lie, see :mod:`.lying`: one takes steps up to the law, the other solves."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import generated
from footfall.compiled.gpu import Device, is_simulated
from footfall.compiled.gpu_cache import kept_on_disk
from footfall.compiled.gpu_tiles import array_at
from footfall.engine.worlds.card_kernels import (
    LEAN,
    LEAN_IF_USUAL,
    STEP_REGISTERS,
    find_cuda,
    idle_point,
    law_on_tiles,
    limited,
    pick_given,
    pick_other_tape,
    pick_state,
    pick_tape,
)
from footfall.engine.worlds.every_body import one_world_on_every_body
from footfall.engine.worlds.joints import correct_states, correct_states_alone
from footfall.engine.worlds.lying import LYING_DOWN, in_room, take_over
from footfall.engine.worlds.queues import LIE, LIE_SOLVE, give_slot, join
from footfall.engine.worlds.step import Functions, Track
from footfall.engine.worlds.tiles import Plot, Tiles, law_picker, tile_picker, zeros
from footfall.engine.worlds.together import (
    ANSWER,
    IDLE,
    ROOM,
    STANDS,
    begin_step,
    end_step,
    solve_lying,
    still_going,
    waits,
)
from footfall.solve.contact_lean import LYING
from footfall.solve.together.algebra import eliminate_together
from footfall.solve.together.desk import largest_unused, largest_unused_by_lanes, wait, wait_for_warp
from footfall.solve.together.guess import solve_reduced
from footfall.solve.together.large import (
    LARGE_WHOLE,
    LargeDesk,
    eliminate_many,
    large_shapes,
    solve_reduced_of_many,
)

#: Most warps that solve problems of a group's worlds that lie, and fewest of them and of rooms.
WARPS, FEWEST = 1024, 1
#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


class Desks(NamedTuple):
    """Desks of warps, in the GPU's global memory; the desk is the first index."""

    reals: Any  # (desks, n)
    wholes: Any  # (desks, m)


def desk_numbers(points: int, bodies: int) -> Desks:
    """Sizes of a desk, by kind of number."""
    sizes = {name: math.prod(shape) for name, shape in large_shapes(points, bodies).items()}
    whole = sum(sizes[name] for name in LARGE_WHOLE)
    return Desks(sum(sizes.values()) - whole, whole)


def desk_picker(points: int, bodies: int) -> Any:
    """A function of the device ``(Desks, number) -> LargeDesk``."""
    known: dict[str, Any] = {"LargeDesk": LargeDesk}
    arrays, used, shapes = [], {"reals": 0, "wholes": 0}, large_shapes(points, bodies)
    for name in LargeDesk._fields:
        pool = "wholes" if name in LARGE_WHOLE else "reals"
        known[f"{name}_in"] = array_at(used[pool], shapes[name], simulated=is_simulated(), tile=1)
        arrays.append(f"{name}_in({pool})")
        used[pool] += math.prod(shapes[name])
    lines = "".join(f"    {pool} = desks.{pool}[number]\n" for pool in Desks._fields)
    source = f"def pick_desk(desks, number):\n{lines}    return LargeDesk({', '.join(arrays)})\n"
    home: Any = large_shapes
    return generated(source, "pick_desk", known, home)


@cache
def build_lying(law: Any, surface: Any, control: Any, plot: Plot, room_plot: Plot, usual: bool) -> Any:
    """The kernel that ends and begins steps of worlds that lie, a lane for each."""
    global cuda
    cuda = find_cuda()
    device = Device(replaced=(LEAN_IF_USUAL if usual else LEAN) | LYING_DOWN | {correct_states: correct_states_alone})
    begin, end, goes_on = (device.function(one) for one in (begin_step, end_step, still_going))
    is_waiting, line_up, give = (device.function(one) for one in (waits, join, give_slot))
    world, coupled = device.function(one_world_on_every_body), law_on_tiles(device, law.adapter(), room_plot)
    point, ground, controller = device.function(idle_point), device.function(surface), device.function(control)
    given_of, state_of = device.function(pick_given), device.function(pick_state)
    tape_of, others_of = device.function(pick_tape), device.function(pick_other_tape)
    space_of = device.function(tile_picker(plot, simulated=is_simulated()))
    room_of, inside = device.function(tile_picker(room_plot, simulated=is_simulated())), device.function(in_room)
    bring = device.function(take_over)

    @cuda.jit(**limited(STEP_REGISTERS))
    def entry(arrays, rooms, plan, queues, span, turn):
        place = cuda.grid(1)
        if place >= queues.number[LIE]:
            return
        lane = queues.member[LIE, place]
        w, own = turn.first + lane, space_of(arrays.space, lane)
        progress = own.progress
        new = progress[ANSWER] == LYING
        if is_waiting(progress) and not new:  # Newton goes on
            line_up(queues, LIE_SOLVE, lane)
            return
        row = arrays.chosen[w]
        tape_row = max(row, 0)
        functions = Functions(point, coupled, ground, controller)
        state, given = state_of(arrays.state, w), given_of(arrays.given, w)
        track = Track(tape_of(arrays.tape, tape_row), others_of(arrays.other_tape, tape_row), row >= 0)
        room = inside(room_of(rooms, progress[ROOM] - 1), own)
        feet = arrays.robot.rest.feet
        if new:
            progress[ANSWER] = IDLE
            bring(feet, room, own)
        one = world(arrays.robot, given, state, room, track.others)
        end(one, state, progress, track, plan, span)
        begin(one, given, state, progress, track, plan, functions, span)
        stays = goes_on(state, progress, span)
        if stays and progress[ANSWER] == LYING:  # it stands: the other kernel takes its step
            progress[ANSWER], progress[STANDS], stays = IDLE, 1, False
            bring(feet, own, room)
        elif stays and is_waiting(progress):
            line_up(queues, LIE_SOLVE, lane)
        if not stays:
            give(queues, progress[ROOM])
            progress[ROOM] = 0

    return kept_on_disk(entry)


@cache
def build_lying_solver(plot: Plot, room_plot: Plot, points: int, bodies: int) -> Any:
    """The kernel in which a warp finds the contact forces of a world that lies."""
    global cuda
    cuda = find_cuda()
    simulated = is_simulated()
    stand_ins: dict[Any, Any] = {eliminate_together: eliminate_many, solve_reduced: solve_reduced_of_many}
    if not simulated:
        stand_ins |= {wait: wait_for_warp, largest_unused: largest_unused_by_lanes}
    device = Device(replaced=LEAN | stand_ins)
    solve, desk_of = device.function(solve_lying), device.function(desk_picker(points, bodies))
    law_of = device.function(law_picker(room_plot, simulated=simulated))
    state_of, space_of = device.function(pick_state), device.function(tile_picker(plot, simulated=simulated))
    room_of, inside = device.function(tile_picker(room_plot, simulated=simulated)), device.function(in_room)

    @cuda.jit(**limited(STEP_REGISTERS))
    def entry(robot, state, space, rooms, desks, queues, turn):
        lane, number, waiting = cuda.threadIdx.x, cuda.blockIdx.x, queues.number[LIE_SOLVE]
        if number >= waiting:
            return
        desk = desk_of(desks, number)
        while number < waiting:
            owner = queues.member[LIE_SOLVE, number]
            own = space_of(space, owner)
            room = inside(room_of(rooms, own.progress[ROOM] - 1), own)
            answer = solve(lane, robot, state_of(state, turn.first + owner), room, law_of(room.law), turn, desk)
            if lane == 0:
                own.progress[ANSWER] = answer
            number += cuda.gridDim.x
            cuda.syncthreads()  # before the desk is used again

    return kept_on_disk(entry)


class Rooms(NamedTuple):
    """Memory of the worlds of a group that lie."""

    space: Any  # Tiles, a lane's share for each room
    desks: Any  # Desks
    number: int  # of rooms
    warps: int  # one for each desk


def room_bytes(plot: Plot) -> int:
    """Memory of one room."""
    return 8 * sum(plot.numbers)


def desk_bytes(points: int, bodies: int) -> int:
    """Memory of one desk."""
    return 8 * sum(desk_numbers(points, bodies))


def make_rooms(plot: Plot, points: int, bodies: int, lanes: int, most: float) -> Rooms:
    """Rooms and desks for a group of this many lanes, in at most ``most`` bytes of the GPU, or the fewest
    there may be.
    """
    device = find_cuda()
    warps = max(FEWEST, min(lanes, WARPS, int(0.25 * most / desk_bytes(points, bodies))))
    number = max(FEWEST, min(lanes, int(0.75 * most / room_bytes(plot))))
    space = zeros(plot, number, np.float64, simulated=is_simulated())
    kinds = Desks(np.float64, np.int64)
    desks = (np.zeros((warps, n), kind) for n, kind in zip(desk_numbers(points, bodies), kinds, strict=True))
    return Rooms(Tiles(*map(device.to_device, space)), Desks(*map(device.to_device, desks)), number, warps)


def part_of(rooms: Rooms, first: int, lanes: int, whole: int) -> Rooms:
    """The share of a group in these rooms: of its ``lanes`` from the ``first`` on, of ``whole`` lanes."""
    tiles, _, tile = rooms.space.reals.shape

    def share(of: int) -> slice:
        return slice(of * first // whole, of * (first + lanes) // whole)

    own, warps = share(tiles), share(rooms.warps)
    space, desks = (array[own] for array in rooms.space), (array[warps] for array in rooms.desks)
    number = min(rooms.number, own.stop * tile) - own.start * tile
    return Rooms(Tiles(*space), Desks(*desks), number, warps.stop - warps.start)
