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
from footfall.compiled.gpu_cache import is_missing, kinds_of, launcher, prepare
from footfall.contact.base import CoupledLaw, Law
from footfall.engine.other_bodies.points import OtherTape, make_other_tape
from footfall.engine.step import DONE
from footfall.engine.tape import Tape, make_tape
from footfall.engine.worlds.arrays import REMEMBERED, Given, Shapes, State, bytes_of, room
from footfall.engine.worlds.card_kernels import (
    Arrays,
    build_apart,
    build_clearing,
    build_setter,
    build_solver,
    build_together,
    find_cuda,
    idle_control,
)
from footfall.engine.worlds.compile_aside import Wanted, compiled_aside
from footfall.engine.worlds.groups import NO_TURN, Company, Kernels, LyingKernels, empty_queues
from footfall.engine.worlds.lying_kernels import Rooms, build_lying, build_lying_solver, make_rooms, part_of
from footfall.engine.worlds.one_world import Robot
from footfall.engine.worlds.step import Plan, Span
from footfall.engine.worlds.tiles import Tiles, lay_out, zeros
from footfall.engine.worlds.together import find_near_forces, guess_forces, search_states, suggest_states
from footfall.errors import SimulationError
from footfall.solve.together.desk import desk_bytes
from footfall.solve.together.selection_desk import selection_bytes

#: Lanes of a block, and the most lanes that get scratch space.
BLOCK, LANES = 64, 65536
#: Bytes of memory that the lanes of a block share.
SHARED = 48 * 1024
#: Share of the free memory for worlds, and share of the rest for worlds that lie.
SHARE, ROOM_SHARE = 0.9, 0.25
#: Assumed free memory, bytes, in the simulator, which has no GPU.
NO_CARD = 1e8


class Tapes(NamedTuple):
    """Recordings of chosen worlds, on the device."""

    feet: Any  # Tape, the world last
    others: Any  # OtherTape, the world last
    chosen: Any  # (W,) row of each world, -1 if it is not recorded
    number: int


class Lying(NamedTuple):
    """Memory of worlds that lie, see :mod:`footfall.engine.worlds.lying`."""

    robot: Robot  # with places for all points of all bodies
    space: Shapes  # of a room


class Card:
    """Worlds in the memory of a GPU.

    ``robot`` has the points of all bodies, or only those of feet if worlds that lie have rooms of their own.
    """

    def __init__(
        self,
        robot: Robot,
        shapes: tuple[Shapes, Shapes],
        count: int,
        law: Law,
        surface: Any,
        *,
        single: bool,
        every_body: bool,
        lying: Lying | None = None,
    ) -> None:
        self.cuda, self.single, self.every_body = find_cuda(), single, every_body
        self.real = np.float32 if self.single else np.float64
        self.count, self.law, self.surface = count, law, surface
        self.lanes = min(count, LANES)
        points, feet = robot.soles.local.shape[0], robot.soles.body.shape[0]
        own = law.scratch(points, feet, lean=True) if isinstance(law, CoupledLaw) else None
        self.together, self.searches = isinstance(law, CoupledLaw) and law.defers(), hasattr(own, "desk")
        needed = [desk_bytes(points, feet)] * self.together + [selection_bytes(points, feet)] * self.searches
        if max(needed, default=0) > SHARED:
            raise SimulationError(
                f"{points} points on {feet} feet do not fit the memory that lanes of a GPU share: use device='cpu'"
            )
        self._check_memory(shapes, own)
        self.robot = Robot(*(self._constants(part) for part in robot))
        self.of_feet = shapes[0]["push"][0]
        self.others = shapes[0]["mode"][0] - self.of_feet
        self.lying = lying._replace(robot=Robot(*(self._constants(part) for part in lying.robot))) if lying else None
        self.state = State(**self._zeros(shapes[0], count))
        self.plot = lay_out(shapes[1], own)
        space = zeros(self.plot, self.lanes, self.real, simulated=is_simulated())
        self.space = Tiles(*map(self.cuda.to_device, space))
        self.rooms: dict[tuple[int, int], Rooms] = {}  # for worlds that lie, by first lane and lanes of their group
        self.given: Any = None
        self.handed: Given | None = None  # the arrays of the host that it came from
        # The start of each array of the state, as given and on the device, and the function that sets worlds to it.
        self.starts: dict[str, tuple[Any, Any, Any]] = {}
        self.uploaded: Any = None  # controls that came from the host last
        self.take_up: Any = None  # what sets all controls to these
        self.prepared: list[Any] = []  # kernels
        self.last: Any = None  # what the last call was launched for, and what launched it
        self.everybody = self.cuda.to_device(np.ones(count, dtype=bool))
        self.mask = self.cuda.to_device(np.zeros(count, dtype=bool))  # worlds that are set to their start
        self.setter = build_setter()

    def _bytes_of(self, scratch: Any) -> int:
        """Bytes per lane."""
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
        return type(values)(*map(self._constant, values))

    def _constant(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.cuda.to_device(self._cast(value))
        return self.real(value) if isinstance(value, float) else value

    def _cast(self, array: np.ndarray) -> np.ndarray:
        kind = self.real if array.dtype.kind == "f" else array.dtype
        return np.ascontiguousarray(array, dtype=kind)

    def _zeros(self, shapes: Shapes, count: int) -> dict[str, Any]:
        return {
            name: self.cuda.to_device(array)
            for name, array in room(shapes, count, real=self.real, world_last=True).items()
        }

    def give(self, given: Given) -> None:
        """Set the inputs of the worlds (world first); arrays that are on the device already stay there."""
        there = [None] * len(given) if self.handed is None else self.handed
        self.given = Given(
            *(
                self.given[i] if array is there[i] else self.cuda.to_device(self._cast(np.moveaxis(array, 0, -1)))
                for i, array in enumerate(given)
            )
        )
        self.handed = given

    def array(self, name: str) -> Any:
        """An array of the state with the world as its first index, on the device, live: for CuPy, PyTorch and others.

        It has ``__cuda_array_interface__``; ``copy_to_host()`` gives NumPy's.
        """
        return self._world_first(getattr(self.state, name))

    def _world_first(self, array: Any) -> Any:
        if not hasattr(array, "gpu_data"):  # the simulator's arrays are NumPy's
            return np.moveaxis(array._ary, -1, 0)
        return self._view(array, (array.shape[-1], *array.shape[:-1]), (array.strides[-1], *array.strides[:-1]))

    def _upload(self, controls: np.ndarray) -> None:
        """Set the controls to (1 or W, nu) from the host; transposed on the device, since on a CPU that takes as long
        as a step.
        """
        if is_simulated():
            self._setter(self.state.ctrl, self.cuda.to_device(np.ascontiguousarray(controls.T)), self.everybody)()
            return
        if self.uploaded is None or self.uploaded.shape != controls.shape:
            self.uploaded = self.cuda.to_device(controls)
            source = self._view(self.uploaded, self.uploaded.shape[::-1], self.uploaded.strides[::-1])
            self.take_up = self._setter(self.state.ctrl, source, self.everybody)
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

    def unloaded(self) -> dict[str, np.ndarray]:
        """What a world remembers before any contact, (1, ...) each."""
        arrays = {name: getattr(self.state, name) for name in REMEMBERED}
        return {name: np.zeros((1, *array.shape[:-1]), dtype=array.dtype) for name, array in arrays.items()}

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
                kept = self.starts[name] = given, there, self._setter(array, there, self.mask)
            kept[2]()

    def _setter(self, array: Any, source: Any, mask: Any) -> Callable[[], None]:
        """A function that sets the worlds of a mask in an array of the state, without Numba's dispatcher."""
        arguments = array.reshape(array.size // self.count, self.count), source, mask
        prepare(self.setter, arguments)
        return launcher(self.setter, (-(-self.count // BLOCK), BLOCK), arguments)

    def set_controls(self, ctrl: Any, count: int, width: int) -> None:
        """Set the controls, (nu,) or (W, nu), from NumPy or from the device."""
        if hasattr(ctrl, "__cuda_array_interface__"):
            given = self.cuda.as_cuda_array(ctrl)
        else:
            given = np.asarray(ctrl, dtype=self.real)
        if given.shape not in ((width,), (count, width)):
            raise SimulationError(f"ctrl has shape {given.shape}, but it must be ({width},) or ({count}, {width})")
        if isinstance(given, np.ndarray):
            self._upload(np.ascontiguousarray(given.reshape(-1, width)))
        else:
            source = self._view(given, given.shape[::-1], given.strides[::-1])
            self._setter(self.state.ctrl, source, self.everybody)()

    def make_tape(self, model: mujoco.MjModel, recorded: Sequence[int], samples: int, signals: int) -> Tapes:
        """Room for the recordings of these worlds."""
        worlds, samples = max(1, len(recorded)), samples if recorded else 1

        def room_for(tape: Any) -> Any:
            rooms = (np.zeros((*array.shape, worlds), dtype=array.dtype) for array in tape)
            return type(tape)(*(self.cuda.to_device(self._cast(array)) for array in rooms))

        feet = room_for(make_tape(model, samples, self.of_feet, max(1, signals)))
        rows = np.full(self.count, -1)
        rows[list(recorded)] = np.arange(len(recorded))
        others = room_for(make_other_tape(self.others, samples))
        return Tapes(feet, others, self.cuda.to_device(rows), len(recorded))

    def recordings(self, tapes: Tapes) -> Iterator[tuple[Tape, OtherTape | None]]:
        """The recordings of these worlds; if only feet touch the ground, of their points alone."""
        feet, others = ([array.copy_to_host() for array in tape] for tape in (tapes.feet, tapes.others))
        for row in range(tapes.number):
            beside = OtherTape(*(array[..., row] for array in others)) if self.every_body else None
            yield Tape(*(array[..., row] for array in feet)), beside

    def advance(self, plan: Plan, controller: Any, steps: int, tapes: Tapes) -> None:
        """Take ``steps`` steps with all worlds that have not ended; returns when the GPU is done."""
        launch = self._launch(plan, controller, tapes)
        launch(Span(steps, 0, 0))
        if tapes.number:
            kept = [array.copy_to_host() for array in self.state]
            launch(Span(0, 1, steps))
            going = kept[State._fields.index("outcome")][0] == DONE
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
            kind: Any = type(self.law)  # whose options are numbers, not code
            real: Any = self.real
            own = plan._replace(dt=real(plan.dt), margin=real(plan.margin), fall=real(plan.fall))
            arrays = Arrays(self.robot, given, self.state, self.space, feet, tapes.others, tapes.chosen)
            make = self._together if self.together else self._apart
            last = self.last = plan, control, given, feet, make(kind, control, arrays, own)
        return last[4]

    def _prepare(self, entry: Any, arguments: tuple[Any, ...]) -> None:
        if entry not in self.prepared:
            prepare(entry, arguments)
            self.prepared.append(entry)

    def _apart(self, law: Any, control: Any, arrays: Arrays, plan: Plan) -> Callable[[Span], None]:
        """A function that takes the steps of a span, one lane per world."""
        every, single = self.every_body, self.single
        entry = build_apart(law, self.surface, control, self.plot, single=single, every_body=every)
        self._prepare(entry, (arrays, plan, Span(1, 0, 0)))
        return launcher(entry, (-(-self.lanes // BLOCK), BLOCK), (arrays, plan))

    def _together(self, law: Any, control: Any, arrays: Arrays, plan: Plan) -> Callable[[Span], None]:
        """The same in kernels that take turns, see :mod:`.together`."""
        assert isinstance(self.law, CoupledLaw)
        points, feet = self.robot.soles.local.shape[0], self.robot.soles.body.shape[0]
        bodies = "none" if self.lying is None else "curved" if self.robot.rest.curved == 1 else "others"
        usual = self.law.is_usual()
        step = build_together(law, self.surface, control, self.plot, bodies, usual)
        parts = (guess_forces, suggest_states, search_states) if self.searches else (guess_forces, find_near_forces)
        stepped, solved = (arrays, plan), (arrays.robot, arrays.state, arrays.space)
        queues, span = empty_queues(self.cuda, 1), Span(1, 0, 0)
        aside = [(build_solver, (part, self.plot, points, feet, usual), (*solved, queues, NO_TURN)) for part in parts]
        if self.lying:
            aside += self._wanted_by_lying(law, control, arrays, plan)
        kernels = [build(*given) for build, given, _ in aside]
        wanted = []
        for kernel, (build, given, arguments) in zip(kernels, aside, strict=True):
            if not is_simulated() and is_missing(kernel, kinds := kinds_of(kernel, arguments)):
                wanted.append(Wanted(build, given, kinds))
        with compiled_aside(wanted):
            self._prepare(step, (*stepped, queues, span, NO_TURN))
        for kernel, (_, _, arguments) in zip(kernels, aside, strict=True):
            self._prepare(kernel, arguments)
        self._prepare(build_clearing(), (queues, 0))
        solvers, lie_down = kernels[: len(parts)], kernels[len(parts) :]
        lying = self._lying_kernels(lie_down, arrays, plan) if lie_down else None
        own = Kernels(build_clearing(), step, solvers, stepped, solved, lying)
        company = Company(self.cuda, own, self.lanes, BLOCK)

        def launch(span: Span) -> None:
            for first in range(0, self.count, self.lanes):
                company.take_turns(span, first)

        return launch

    def _wanted_by_lying(self, law: Any, control: Any, arrays: Arrays, plan: Plan) -> list[Any]:
        """The kernels of worlds that lie: the builder of each, its arguments, and arguments of the kernel's types."""
        assert self.lying and isinstance(self.law, CoupledLaw)
        points, bodies = self.lying.robot.soles.local.shape[0], self.lying.robot.soles.body.shape[0]
        plot = self.room_plot = lay_out(self.lying.space, self.law.scratch_beside(points, bodies))
        rooms, queues = make_rooms(plot, points, bodies, 1, 0.0), empty_queues(self.cuda, 1)
        stepped = arrays._replace(robot=self.lying.robot), rooms.space, plan, queues, Span(1, 0, 0), NO_TURN
        solved = self.lying.robot, arrays.state, arrays.space, rooms.space, rooms.desks, queues, NO_TURN
        return [
            (build_lying, (law, self.surface, control, self.plot, plot, self.law.is_usual()), stepped),
            (build_lying_solver, (self.plot, plot, points, bodies), solved),
        ]

    def _lying_kernels(self, kernels: Sequence[Any], arrays: Arrays, plan: Plan) -> LyingKernels:
        """The same kernels, compiled, with the arguments of their launches."""
        assert self.lying
        robot, plot = self.lying.robot, self.room_plot
        points, bodies = robot.soles.local.shape[0], robot.soles.body.shape[0]
        free = NO_CARD if is_simulated() else self.cuda.current_context().get_memory_info()[0]

        def make_room(first: int, lanes: int) -> Rooms:
            if lanes < self.lanes and (0, self.lanes) in self.rooms:
                return part_of(self.rooms[0, self.lanes], first, lanes, self.lanes)
            if (first, lanes) not in self.rooms:
                most = ROOM_SHARE * free * lanes / self.lanes
                self.rooms[first, lanes] = make_rooms(plot, points, bodies, lanes, most)
            return self.rooms[first, lanes]

        stepped = arrays._replace(robot=robot), plan
        return LyingKernels(kernels[0], kernels[1], stepped, (robot, arrays.state, arrays.space), make_room)
