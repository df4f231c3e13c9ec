"""Many worlds on a GPU: one lane per world, the same kernels, compiled for one law, one ground and one controller.

Lanes take worlds in turn where there are more worlds than lanes, so that the space of a step is needed for the lanes
only. The world is the last index of every array, so that neighbouring lanes read neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled.gpu import Device, checked_cuda
from footfall.compiled.gpu_cache import kept_on_disk, prepare
from footfall.contact.base import CoupledLaw, Law, PointLaw
from footfall.engine.step import DONE
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds import together
from footfall.engine.worlds.arrays import Form, Given, Shapes, Space, State, bytes_of, form_of, picker, room
from footfall.engine.worlds.feet_alone import STAND_INS, advance_on_feet
from footfall.engine.worlds.one_world import Robot
from footfall.engine.worlds.step import Functions, Plan, Span, law_step, motion_step, operator_step, point_step
from footfall.engine.worlds.together import advance_together
from footfall.errors import SimulationError
from footfall.solve import newton_together
from footfall.solve.contact_guess import turn_against, turn_by_secant
from footfall.solve.contact_lean import solve_or_defer
from footfall.solve.contact_problem import solve_from_guess
from footfall.solve.faceted import solve_with_facets
from footfall.solve.newton_together import Desk, desk_unknowns

#: Lanes of a block, and the most lanes that are given space.
BLOCK, LANES = 64, 65536
#: Share of the free memory that worlds may take.
SHARE = 0.9

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


def find_cuda() -> Any:
    """Numba's CUDA with a GPU to use."""
    global cuda
    cuda = together.cuda = newton_together.cuda = checked_cuda()
    return cuda


pick_given = picker(Given, world_last=True)
pick_state = picker(State, world_last=True)
pick_tape = picker(Tape, world_last=True)


def pick_space(form: Form) -> Any:
    """The kernel that gives a lane its space."""
    return picker(form.kind, world_last=True, inner=form.inner)


def idle_point(depth, depth_rate, slip, slip_velocity, memory, static, dynamic, values):
    return 0.0, 0.0, 0.0, 0


def idle_coupled(contacts, dt, memory, force, mode, scratch, signals, values):
    return 0


def idle_control(time, qpos, qvel, ctrl, gains):
    return 0


def no_facets(problem, facets):
    return 1, 0


#: What stands in for others: for big solvers that are seldom reached and would take minutes to compile and most of the
#: memory, and for what takes many turns.
LEAN = {solve_from_guess: solve_or_defer, solve_with_facets: no_facets, turn_against: turn_by_secant}


def build(functions: tuple[Any, Any, Any], space: Space, *, single: bool, points: int, feet: int) -> tuple[Any, int]:
    """The kernel that steps worlds under a class of laws, over one kind of ground, with one controller (``functions``),
    and the lanes of its blocks.
    """
    form = form_of(space)
    if hasattr(space.law, "problem"):
        return build_together(*functions, form, desk_unknowns(points, feet)), newton_together.LANES
    return build_apart(*functions, form, single=single), BLOCK


@cache
def build_together(law: Any, surface: Any, control: Any, form: Form, unknowns: int) -> Any:
    """The kernel for laws that solve a contact problem, of at most so many unknowns; see :mod:`.together`."""
    device = Device(replaced=STAND_INS | LEAN)
    advance, coupled = device.function(advance_together), device.function(law.adapter())
    point, ground, controller = device.function(idle_point), device.function(surface), device.function(control)
    given_of, state_of = device.function(pick_given), device.function(pick_state)
    space_of, tape_of = device.function(pick_space(form)), device.function(pick_tape)
    real, whole, wide = np.float64, np.int64, unknowns + 1
    lanes_of_block = newton_together.LANES

    @cuda.jit
    def entry(robot, given, state, space, tape, chosen, plan, span):
        vector = cuda.shared.array((13, unknowns), real)
        desk = Desk(
            cuda.shared.array((unknowns, wide), real),
            cuda.shared.array((unknowns, unknowns), real),
            vector[0],
            vector[1],
            vector[2],
            vector[3],
            vector[4],
            vector[5],
            vector[6],
            vector[7],
            vector[8],
            vector[9],
            vector[10],
            vector[11],
            vector[12],
        )
        flags = cuda.shared.array(lanes_of_block, whole)
        lane, owner, lanes = cuda.threadIdx.x, cuda.grid(1), cuda.gridsize(1)
        functions = Functions(point, coupled, ground, controller)
        has_space = owner < space.number.shape[1]
        own = space_of(space, min(owner, space.number.shape[1] - 1))
        for begin in range(owner - lane, chosen.size, lanes):
            w = min(begin + lane, chosen.size - 1)
            row = chosen[w]
            takes_part = has_space and begin + lane < chosen.size and not (row < 0 and span.look == 1)
            advance(
                lane,
                owner,
                space.law.problem.floats,
                robot,
                given_of(given, w),
                state_of(state, w),
                own,
                tape_of(tape, max(row, 0)),
                row >= 0,
                takes_part,
                plan,
                functions,
                span,
                desk,
                flags,
            )

    return kept_on_disk(entry)


@cache
def build_apart(law: Any, surface: Any, control: Any, form: Form, *, single: bool) -> Any:
    """The kernel for the others: a lane for each world, on its own."""
    own_step = point_step
    if law.coupled:
        own_step = operator_step if law.operator else motion_step
    device = Device(single=single, replaced=STAND_INS | LEAN | {law_step: own_step})
    advance = device.function(advance_on_feet)
    point = device.function(law.pointer() if issubclass(law, PointLaw) else idle_point)
    coupled = device.function(law.adapter() if issubclass(law, CoupledLaw) else idle_coupled)
    ground, controller = device.function(surface), device.function(control)
    given_of, state_of = device.function(pick_given), device.function(pick_state)
    space_of, tape_of = device.function(pick_space(form)), device.function(pick_tape)

    @cuda.jit
    def entry(robot, given, state, space, tape, chosen, plan, span):
        lane, lanes = cuda.grid(1), cuda.gridsize(1)
        if lane >= space.number.shape[1]:
            return
        functions = Functions(point, coupled, ground, controller)
        own = space_of(space, lane)
        for w in range(lane, chosen.size, lanes):
            row = chosen[w]
            if row < 0 and span.look == 1:
                continue
            tape_row = tape_of(tape, max(row, 0))
            advance(robot, given_of(given, w), state_of(state, w), own, tape_row, row >= 0, plan, functions, span)

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


class Tapes(NamedTuple):
    """Recordings of chosen worlds, on the device."""

    feet: Any  # Tape, the world last
    chosen: Any  # (W,) row of each world, -1 if it is not recorded
    number: int


class Card:
    """Worlds in the memory of a GPU."""

    def __init__(
        self,
        robot: Robot,
        shapes: tuple[Shapes, Shapes],
        count: int,
        law: Law,
        surface: Any,
        *,
        single: bool,
    ) -> None:
        self.cuda, self.single = find_cuda(), single
        self.real = np.float32 if self.single else np.float64
        self.count, self.law, self.surface = count, law, surface
        self.lanes = min(count, LANES)
        points, feet = robot.soles.local.shape[0], robot.soles.body.shape[0]
        own = law.scratch(points, feet, lean=True) if isinstance(law, CoupledLaw) else None
        self._check_memory(shapes, own)
        self.robot = Robot(*(self._constants(part) for part in robot))
        self.state = State(**self._zeros(shapes[0], count))
        self.space = Space(**self._zeros(shapes[1], self.lanes), law=self._lanes_of(own))
        self.given: Any = None
        self.prepared: list[Any] = []  # kernels
        self.everybody = self.cuda.to_device(np.ones(count, dtype=bool))
        self.setter = build_setter()

    def _lanes_of(self, scratch: Any) -> Any:
        """The arrays that a law computes in, for all lanes; one that nobody reads if it needs none."""
        if isinstance(scratch, tuple):
            return type(scratch)(*map(self._lanes_of, scratch))
        shape, kind = ((1,), np.int64) if scratch is None else (scratch.shape, self._cast(scratch).dtype)
        return self.cuda.to_device(np.zeros((*shape, self.lanes), dtype=kind))

    def _bytes_of(self, scratch: Any) -> int:
        """Memory of one lane's share of them."""
        if isinstance(scratch, tuple):
            return sum(map(self._bytes_of, scratch))
        return 0 if scratch is None else self._cast(scratch).nbytes

    def _check_memory(self, shapes: tuple[Shapes, Shapes], scratch: Any) -> None:
        """Refuse more worlds than fit, and say how many do."""
        try:
            free, _ = self.cuda.current_context().get_memory_info()
        except AttributeError:  # the simulator has no card
            return
        world, lane = bytes_of(shapes[0], self.real), bytes_of(shapes[1], self.real) + self._bytes_of(scratch)
        need = self.count * world + self.lanes * lane
        if need > SHARE * free:
            most = int(SHARE * free / (world + lane))
            if most > LANES:
                most = int((SHARE * free - LANES * lane) / world)
            raise SimulationError(
                f"{self.count} worlds need {need / 1e9:.3g} GB of the GPU's memory, of which {free / 1e9:.3g} GB are "
                f"free: {most} worlds fit"
            )

    def _constants(self, values: Any) -> Any:
        return type(values)(*(self.cuda.to_device(self._cast(value)) for value in values))

    def _cast(self, array: np.ndarray) -> np.ndarray:
        kind = self.real if array.dtype.kind == "f" else array.dtype
        return np.ascontiguousarray(array, dtype=kind)

    def _zeros(self, shapes: Shapes, count: int) -> dict[str, Any]:
        return {
            name: self.cuda.to_device(array)
            for name, array in room(shapes, count, real=self.real, world_last=True).items()
        }

    def give(self, given: Given) -> None:
        """Set what the worlds are given (the world first)."""
        self.given = Given(*(self.cuda.to_device(self._cast(np.moveaxis(array, 0, -1))) for array in given))

    def array(self, name: str) -> Any:
        """An array of the state with the world as its first index, on the device, live: for CuPy, PyTorch and others.

        It has ``__cuda_array_interface__``; ``copy_to_host()`` gives NumPy's.
        """
        return self._world_first(getattr(self.state, name))

    def _world_first(self, array: Any) -> Any:
        if not hasattr(array, "gpu_data"):  # the simulator's arrays are NumPy's
            return np.moveaxis(array._ary, -1, 0)
        return self._view(array, (array.shape[-1], *array.shape[:-1]), (array.strides[-1], *array.strides[:-1]))

    @staticmethod
    def _view(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        from numba.cuda.cudadrv.devicearray import DeviceNDArray

        return DeviceNDArray(shape=shape, strides=strides, dtype=array.dtype, gpu_data=array.gpu_data)

    def host(self, name: str) -> np.ndarray:
        """A copy of an array of the state, the world first."""
        return np.moveaxis(getattr(self.state, name).copy_to_host(), -1, 0)

    def reset(self, which: np.ndarray, start: dict[str, np.ndarray]) -> None:
        """Set the worlds of ``which`` (W,) to their start."""
        mask = self.cuda.to_device(which)
        for name, array in self.state._asdict().items():
            source = np.zeros((array.shape[0] * int(np.prod(array.shape[1:-1])), 1), dtype=array.dtype)
            if name in start:
                source = np.ascontiguousarray(start[name].T, dtype=array.dtype)
            self._set(array, self.cuda.to_device(source), mask)

    def _set(self, array: Any, source: Any, mask: Any) -> None:
        flat = array.reshape(array.size // self.count, self.count)
        self.setter[-(-self.count // BLOCK), BLOCK](flat, source, mask)

    def set_controls(self, ctrl: Any, count: int, width: int) -> None:
        """Set the controls, (nu,) or (W, nu), from NumPy or from the device."""
        if hasattr(ctrl, "__cuda_array_interface__"):
            given = self.cuda.as_cuda_array(ctrl)
            source = self._view(given, given.shape[::-1], given.strides[::-1])
        else:
            given = np.asarray(ctrl, dtype=self.real)
            source = self.cuda.to_device(np.ascontiguousarray(given.reshape(-1, width).T))
        if given.shape not in ((width,), (count, width)):
            raise SimulationError(f"ctrl has shape {given.shape}, but it must be ({width},) or ({count}, {width})")
        self._set(self.state.ctrl, source, self.everybody)

    def make_tape(self, model: mujoco.MjModel, recorded: Sequence[int], samples: int, signals: int) -> Tapes:
        """Room for the recordings of these worlds."""
        one = make_tape(model, samples if recorded else 1, len(self.robot.soles.local), max(1, signals))
        rooms = (np.zeros((*array.shape, max(1, len(recorded))), dtype=array.dtype) for array in one)
        rows = np.full(self.count, -1)
        rows[list(recorded)] = np.arange(len(recorded))
        tape = Tape(*(self.cuda.to_device(self._cast(array)) for array in rooms))
        return Tapes(tape, self.cuda.to_device(rows), len(recorded))

    def recordings(self, tapes: Tapes) -> Iterator[tuple[Tape, None]]:
        """What was recorded of each of these worlds; of points beside the feet there is nothing."""
        whole = [array.copy_to_host() for array in tapes.feet]
        for row in range(tapes.number):
            yield Tape(*(array[..., row] for array in whole)), None

    def advance(self, plan: Plan, controller: Any, steps: int, tapes: Tapes) -> None:
        """Take ``steps`` steps with all worlds that have not ended; comes back when the GPU is done."""
        control = idle_control if controller is None else controller.pointer()
        kind: Any = type(self.law)  # whose options are numbers, not code
        points, feet = self.robot.soles.local.shape[0], self.robot.soles.body.shape[0]
        functions = kind, self.surface, control
        entry, block = build(functions, self.space, single=self.single, points=points, feet=feet)
        real: Any = self.real
        own = plan._replace(dt=real(plan.dt), margin=real(plan.margin), fall=real(plan.fall))
        arrays = (self.robot, self.given, self.state, self.space, tapes.feet, tapes.chosen, own)
        if entry not in self.prepared:
            prepare(entry, (*arrays, Span(steps, 0, 0)))
            self.prepared.append(entry)
        launch = entry[-(-self.lanes // block), block]
        launch(*arrays, Span(steps, 0, 0))
        if tapes.number:
            kept = [array.copy_to_host() for array in self.state]
            launch(*arrays, Span(0, 1, steps))
            going = kept[State._fields.index("outcome")][0] == DONE
            for array, before in zip(self.state, kept, strict=True):
                after = array.copy_to_host()
                after[..., going] = before[..., going]
                array.copy_to_device(after)
        self.cuda.synchronize()
