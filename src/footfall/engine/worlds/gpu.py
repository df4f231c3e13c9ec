"""Many worlds on a GPU: one lane per world, the same kernels, compiled for one law, one ground and one controller.

If there are more worlds than lanes, each lane takes several worlds in turn, so that only lanes need scratch space. The
world is the last index of every array of the state, and the scratch space lies in tiles (:mod:`.tiles`), so that
neighbouring lanes read neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled.gpu import is_simulated
from footfall.compiled.gpu_cache import launcher, prepare
from footfall.compiled.gpu_tiles import TILE
from footfall.compiled.lanes import WARP
from footfall.contact.base import CoupledLaw, Law
from footfall.engine.other_bodies.convex import Probe
from footfall.engine.other_bodies.points import OtherTape, make_other_tape
from footfall.engine.step import DONE, idle_control
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds.arrays import Given, Shapes, WorldState, bytes_of, room
from footfall.engine.worlds.every_pair import sight
from footfall.engine.worlds.gpu_kernels import (
    REGISTERS,
    Arrays,
    Sights,
    build_search,
    build_setter,
    build_steps,
    find_cuda,
    registers_for,
)
from footfall.engine.worlds.one_world import Robot
from footfall.engine.worlds.step import Plan, Span
from footfall.engine.worlds.tiles import Plot, Tiles, lay_out, lay_out_tuple, zeros
from footfall.engine.worlds.turns import Queue, workspace
from footfall.errors import SimulationError
from footfall.kinds import zeros as zeros_of
from footfall.solve.problem import NewtonScratch, Size, newton_scratch

#: Lanes of a block, and the most lanes with scratch space.
BLOCK, LANES = 64, 65536
#: Largest share of the free memory for worlds.
SHARE = 0.9
#: Steps between two checks for Ctrl-C.
SPAN = 2000
#: Warps of a multiprocessor that search at once, each with its own scratch: as many as its registers allow.
WARPS = 16
#: Most warps of a block that find contacts between the bodies of its worlds.
MOST_WARPS = 8
#: An empty queue.
NOTHING = np.zeros(3, dtype=np.int64)


def without_newton(scratch: Any) -> Any:
    """A law's scratch arrays without those of Newton's method, which belong to warps."""
    if isinstance(scratch, NewtonScratch):
        return newton_scratch(Size(0, 0, 0))
    if isinstance(scratch, tuple):
        return type(scratch)(*map(without_newton, scratch))
    return scratch


class Tapes(NamedTuple):
    """Recordings of chosen worlds, on the device."""

    feet: Any  # Tape, the world last
    others: Any  # OtherTape, the world last
    chosen: Any  # (W,) row of each world, -1 if it is not recorded
    number: int


class Gpu:
    """Worlds in the memory of a GPU; ``robot`` has the points of all its bodies."""

    def __init__(
        self, robot: Robot, shapes: tuple[Shapes, Shapes], pairs: Any, count: int, law: Law, surface: Any
    ) -> None:
        self.cuda, self.count, self.law, self.surface = find_cuda(), count, law, surface
        self.lanes = min(count, LANES)
        size = Size(shapes[0]["mode"][0], shapes[1]["near"][0] - 1, robot.soles.chain.shape[1])
        own = without_newton(law.scratch(size)) if isinstance(law, CoupledLaw) else None
        self.size, self.searches = size, hasattr(own, "problem")
        touching = robot.rest.pairs
        self.touch, self.sight = len(touching.meetings.first) > 0, sight(touching)
        self.registers = registers_for(self.lanes) if self.searches else REGISTERS
        self.grid = self._grid()
        self.plot = lay_out(shapes[1], own, pairs)
        # What contacts between bodies are found in, by each block and by each lane.
        self.sights = lay_out_tuple(self.sight, 1), lay_out_tuple(zeros_of(Probe, {}), TILE)
        self._check_memory(bytes_of(shapes[0]))
        self.robot = self.constant(robot)
        self.of_feet = shapes[0]["push"][0]
        self.others = shapes[0]["mode"][0] - self.of_feet
        state = room(shapes[0], count, world_last=True)
        self.state: Any = WorldState(**{name: self.cuda.to_device(array) for name, array in state.items()})
        self.space = self.tiles(self.plot, self.lanes)
        (of_block, of_lane), (blocks, lanes) = self.sights, self.grid
        self.seen = Sights(self.tiles(of_block, blocks), self.tiles(of_lane, blocks * lanes))
        self.given: Any = None
        self.handed: Given | None = None  # the host's arrays of ``given``
        # The start of each array of the state, as given and on the device, and the function that sets worlds to it.
        self.starts: dict[str, tuple[Any, Any, Any]] = {}
        self.first_kept: dict[str, np.ndarray] = {}  # nothing but the state, which begins with zeros
        self.uploaded: Any = None  # the last controls from the host
        self.take_up: Any = None  # function that sets all controls to these
        self.last: Any = None  # arguments of the last launch, and its function
        self.everybody = self.cuda.to_device(np.ones(count, dtype=bool))
        self.mask = self.cuda.to_device(np.zeros(count, dtype=bool))  # worlds that are set to their start
        self.setter = build_setter()

    def tiles(self, plot: Plot, lanes: int) -> Tiles:
        """Room on the device for this many lanes, warps or blocks."""
        return Tiles(*map(self.cuda.to_device, zeros(plot, lanes)))

    def _grid(self) -> tuple[int, int]:
        """The number of blocks of a warp's worlds, and of the lanes of each: where bodies may touch, of as many warps
        as all blocks have registers for at once.
        """
        if is_simulated():
            return self.lanes, 1
        blocks = -(-self.lanes // WARP)
        if not self.touch:
            return blocks, WARP
        device = self.cuda.get_current_device()
        there = -(-blocks // device.MULTIPROCESSOR_COUNT)  # blocks of a multiprocessor
        fit = device.MAX_REGISTERS_PER_MULTIPROCESSOR // (there * WARP * (-(-self.registers // 8) * 8))
        return blocks, WARP * max(1, min(fit, MOST_WARPS))

    def _check_memory(self, world: int) -> None:
        """Refuse more worlds, of so many bytes each, than fit, and say how many do."""
        of_block, of_lane = (8 * sum(plot.numbers) for plot in self.sights)
        lane = 8 * sum(self.plot.numbers) + of_block // TILE + -(-self.grid[1] // TILE) * of_lane
        free, need = self.free_memory(), self.count * world + self.lanes * lane
        if need > SHARE * free:
            most = int(SHARE * free / (world + lane))
            if most > LANES:
                most = int((SHARE * free - LANES * lane) / world)
            raise SimulationError(
                f"{self.count} worlds need {need / 1e9:.3g} GB of the GPU's memory, of which {free / 1e9:.3g} GB are "
                f"free: {most} worlds fit"
            )

    def free_memory(self) -> float:
        """Of the GPU, bytes."""
        try:
            free, _ = self.cuda.current_context().get_memory_info()
        except AttributeError:  # the simulator has no GPU
            return np.inf
        return float(free)

    def constant(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return type(value)(*map(self.constant, value))
        return self.cuda.to_device(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value

    def give(self, given: Given) -> None:
        """Set the inputs of the worlds (world first); arrays that are on the device already stay there."""
        there = [None] * len(given) if self.handed is None else self.handed
        self.given = Given(
            *(
                self.given[i] if array is there[i] else self.constant(np.moveaxis(array, 0, -1))
                for i, array in enumerate(given)
            )
        )
        self.handed = given

    def array(self, name: str) -> Any:
        """An array of the state with the world as its first index, on the device, live: for CuPy, PyTorch and others.

        It has ``__cuda_array_interface__``; ``copy_to_host()`` gives NumPy's.
        """
        return self.world_first(getattr(self.state, name))

    def world_first(self, array: Any) -> Any:
        if not hasattr(array, "gpu_data"):  # the simulator's arrays are NumPy's
            return np.moveaxis(array._ary, -1, 0)
        return self._view(array, (array.shape[-1], *array.shape[:-1]), (array.strides[-1], *array.strides[:-1]))

    def _upload(self, controls: np.ndarray) -> None:
        """Set the controls to (1 or W, nu) from the host; transposed on the device, since on a CPU that takes as long
        as a step.
        """
        if is_simulated():
            self.setter_of(self.state.ctrl, self.cuda.to_device(np.ascontiguousarray(controls.T)), self.everybody)()
            return
        if self.uploaded is None or self.uploaded.shape != controls.shape:
            self.uploaded = self.cuda.to_device(controls)
            source = self._view(self.uploaded, self.uploaded.shape[::-1], self.uploaded.strides[::-1])
            self.take_up = self.setter_of(self.state.ctrl, source, self.everybody)
        else:  # allocation is slow
            self.uploaded.copy_to_device(controls)
        self.take_up()

    @staticmethod
    def _view(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        from numba.cuda.cudadrv.devicearray import DeviceNDArray

        return DeviceNDArray(shape=shape, strides=strides, dtype=array.dtype, gpu_data=array.gpu_data)

    def host(self, name: str) -> np.ndarray:
        """A copy of an array of the state, the world first."""
        return np.moveaxis(getattr(self.state, name).copy_to_host(), -1, 0)

    def first(self, name: str) -> np.ndarray:
        """A copy of the first number of each world (W,) in an array of the state."""
        return np.asarray(getattr(self.state, name)[0].copy_to_host())

    def reset(self, which: np.ndarray, start: dict[str, np.ndarray]) -> None:
        """Set the worlds of ``which`` (W,) to their start."""
        self.mask.copy_to_device(which)
        for name, array in self.state._asdict().items():
            given = start.get(name)
            kept = self.starts.get(name)
            if kept is None or kept[0] is not given:
                if given is None:
                    source = np.zeros((array.size // self.count, 1), dtype=array.dtype)
                else:
                    source = np.ascontiguousarray(given.reshape(len(given), -1).T, dtype=array.dtype)
                there = self.cuda.to_device(source)
                kept = self.starts[name] = given, there, self.setter_of(array, there, self.mask)
            kept[2]()

    def setter_of(self, array: Any, source: Any, mask: Any) -> Callable[[], None]:
        """A function that sets the worlds of a mask in an array, the world last, without Numba's dispatcher."""
        *_, worlds = array.shape
        arguments = array.reshape(array.size // worlds, worlds), source, mask
        prepare(self.setter, arguments)
        return launcher(self.setter, (-(-worlds // BLOCK), BLOCK), arguments)

    def set_controls(self, ctrl: Any) -> None:
        """Set the controls, (nu,) or (W, nu), from NumPy or from the device."""
        if hasattr(ctrl, "__cuda_array_interface__"):
            given = self.cuda.as_cuda_array(ctrl)
            source = self._view(given, given.shape[::-1], given.strides[::-1])
            self.setter_of(self.state.ctrl, source, self.everybody)()
        else:
            self._upload(np.ascontiguousarray(ctrl.reshape(-1, len(self.state.ctrl))))

    def make_tape(self, model: mujoco.MjModel, recorded: Sequence[int], samples: int, signals: int) -> Tapes:
        """Room for the recordings of these worlds."""
        worlds, samples = max(1, len(recorded)), samples if recorded else 1

        def room_for(tape: Any) -> Any:
            rooms = (np.zeros((*array.shape, worlds), dtype=array.dtype) for array in tape)
            return type(tape)(*map(self.cuda.to_device, rooms))

        feet = room_for(make_tape(model, samples, self.of_feet, max(1, signals)))
        rows = np.full(self.count, -1)
        rows[list(recorded)] = np.arange(len(recorded))
        others = room_for(make_other_tape(self.others, samples))
        return Tapes(feet, others, self.cuda.to_device(rows), len(recorded))

    def recordings(self, tapes: Tapes) -> Iterator[tuple[Tape, OtherTape | None]]:
        """The recordings of these worlds; if only feet touch the ground, of their points alone."""
        feet, others = ([array.copy_to_host() for array in tape] for tape in (tapes.feet, tapes.others))
        for row in range(tapes.number):
            beside = OtherTape(*(array[..., row] for array in others)) if self.others else None
            yield Tape(*(array[..., row] for array in feet)), beside

    def advance(self, plan: Plan, controller: Any, steps: int, tapes: Tapes) -> None:
        """Take ``steps`` steps with all worlds that have not ended; returns when the GPU is done."""
        launch = self._launch(plan, controller, tapes)
        for done in range(0, steps, SPAN):
            launch(Span(min(SPAN, steps - done), 0, done))
            self.cuda.synchronize()
        if tapes.number:
            kept = [array.copy_to_host() for array in self.state]
            launch(Span(0, 1, steps))
            going = kept[WorldState._fields.index("end")][0] == DONE
            for array, before in zip(self.state, kept, strict=True):
                after = array.copy_to_host()
                after[..., going] = before[..., going]
                array.copy_to_device(after)
        self.cuda.synchronize()

    def _launch(self, plan: Plan, controller: Any, tapes: Tapes) -> Callable[[Span], None]:
        """A function that takes the steps of a span; made again only if anything but the span differs from the last
        call.
        """
        control = idle_control if controller is None else controller.pointer()
        given, feet = self.given, tapes.feet
        last = self.last
        if last is None or last[:2] != (plan, control) or last[2] is not given or last[3] is not feet:
            arrays = Arrays(self.robot, given, self.state, self.space, feet, tapes.others, tapes.chosen)
            step = self.stepper(plan, control, arrays)

            def launch(span: Span) -> None:
                for first in range(0, self.count, self.lanes):
                    step(span, first)

            last = self.last = plan, control, given, feet, launch
        return last[4]

    def stepper(self, plan: Plan, control: Any, arrays: Arrays) -> Callable[[Span, int], None]:
        """A function that takes the steps of a span with as many worlds as there are lanes, from a first one on."""
        law: Any = type(self.law)  # whose options are numbers, not code
        given = law, self.surface, control, self.plot, self.sights, self.registers
        step = build_steps(*given, touch=self.touch, turns=self.searches)
        queue = Queue(*(self.cuda.to_device(np.zeros(n, dtype=np.int64)) for n in (self.lanes, 3)))
        prepare(step, (arrays, plan, queue, self.seen, Span(1, 0, 0), 0, 1))
        take = launcher(step, self.grid, (arrays, plan, queue, self.seen))
        if not self.searches:
            return lambda span, first: take(span, first, 1)
        find_all = self._searcher(arrays, queue)

        def launch(span: Span, first: int) -> None:
            turns, going = 0, True
            while going:  # at least one turn more than steps; worlds whose law is called again need more
                queue.number.copy_to_device(NOTHING)
                take(span, first, int(turns == 0))
                find_all(first)
                turns += 1
                going = turns <= span.steps or bool(queue.number.copy_to_host()[2])

        return launch

    def _searcher(self, arrays: Arrays, queue: Queue) -> Callable[[int], None]:
        """A function that does the searches of a queue, see :mod:`.turns`."""
        of_warp = lay_out_tuple(workspace(self.size), 1)
        find = build_search(self.plot, of_warp, self.size.columns)
        warps = 1
        if not is_simulated():
            warps = min(self.lanes, WARPS * self.cuda.get_current_device().MULTIPROCESSOR_COUNT)
        searched = arrays.state, arrays.space, self.tiles(of_warp, warps), queue
        prepare(find, (*searched, 0))
        return launcher(find, (warps, 1 if is_simulated() else WARP), searched)
