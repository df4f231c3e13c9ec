"""One run in the browser while it is computed, and the requests of its page, kept until the loop takes them."""

from __future__ import annotations

import math
import threading
import time as clock
import webbrowser
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, replace
from html import escape
from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.control import Policy, chosen_controller
from footfall.errors import FootfallError, did_you_mean
from footfall.given_numbers import Bounds, is_whole
from footfall.live.frame import at_rest, frame, is_down, panels
from footfall.measure import fall
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot.model import moving_bodies
from footfall.show.report import render_live
from footfall.show.viewer import PageServer
from footfall.simulation import Simulation
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task, push_list

#: Most pictures that one command steps.
MOST_STEPS = 10_000
#: Simulated seconds per second, least and most.
SPEEDS = (0.001, 1000.0)


class Drag(NamedTuple):
    """An external force on a body, N in the world frame."""

    body: str
    force: tuple[float, float, float]


class Change(NamedTuple):
    """A change to a run: another law, friction or walking speed, from the present state or from that at ``time``."""

    law: Law | None = None
    friction: float | None = None
    walking_speed: float | None = None  # m/s, from the start on
    time: float | None = None  # s, to go back to; None is now


class Requests:
    """Requests of the page; the page's threads write, the loop reads."""

    def __init__(self, bodies: list[str], speed: float | None) -> None:
        self.bodies = bodies
        self.speed, self.paused, self.steps = speed, False, 0
        self.drag: Drag | None = None
        self.shove: tuple[Drag, float] | None = None  # a push, and for how long, s
        self.asked: list[float] = []  # of a policy
        self.change: Change | None = None
        self.changed = threading.Event()

    def command(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take a command of the page; an error says what is wrong with it."""
        known = {
            "pause": self._pause,
            "step": self._step,
            "speed": self._speed,
            "push": self._push,
            "shove": self._shove,
            "law": self._law,
            "ask": self._ask,
            "friction": lambda value: self._set(friction=_number("friction", value, 0.0, 10.0)),
            "walk": lambda value: self._set(walking_speed=_number("walking speed", value, -10.0, 10.0), time=0.0),
            "restart": lambda value: self._set(time=_number("restart", value, 0.0, math.inf)),
        }
        for name, value in asked.items():
            if name not in known:
                raise FootfallError(f"no command is called '{name}': {did_you_mean(name, known)}")
            known[name](value)
        self.changed.set()
        return {}

    def _set(self, **what: Any) -> None:
        self.change = (self.change or Change())._replace(**what)

    def _pause(self, on: Any) -> None:
        self.paused, self.steps = bool(on), 0

    def _step(self, count: Any) -> None:
        if not (is_whole(count, 1) and count <= MOST_STEPS):
            raise FootfallError(f"step = {count!r} but it must be a whole number of pictures from 1 to {MOST_STEPS}")
        self.paused, self.steps = True, int(count)

    def _speed(self, value: Any) -> None:
        self.speed = _number("speed", value, *SPEEDS)

    def _pull(self, asked: Any) -> Drag:
        x, y, z = (float(value) for value in asked["force"])
        if asked["body"] not in self.bodies:
            raise FootfallError(f"no body is called '{asked['body']}': {did_you_mean(str(asked['body']), self.bodies)}")
        if not all(map(math.isfinite, (x, y, z))):
            raise FootfallError(f"the push ({x:g}, {y:g}, {z:g}) N must be three finite numbers")
        return Drag(asked["body"], (x, y, z))

    def _push(self, asked: Any) -> None:
        self.drag = None if asked is None else self._pull(asked)

    def _shove(self, asked: Any) -> None:
        self.shove = self._pull(asked), _number("duration", asked["duration"], 0.0, 10.0)

    def _ask(self, values: Any) -> None:
        numbers = [float(value) for value in values]
        if len(numbers) != len(self.asked) or not all(map(math.isfinite, numbers)):
            raise FootfallError(f"ask = {values!r} but it must be {len(self.asked)} finite numbers")
        self.asked = numbers

    def _law(self, asked: Any) -> None:
        given = {name: value for name, value in asked.get("options", {}).items() if value is not None}
        self._set(law=make_law(str(asked["name"]), **given))


def _number(name: str, value: Any, least: float, most: float) -> float:
    number = float(value)
    if not least <= number <= most:
        raise FootfallError(f"{name} = {number:g} but it must be between {least:g} and {most:g}")
    return number


def options_of(law: Law) -> list[dict[str, Any]]:
    """The numeric options of a law, which the page can change; None where they are derived."""
    found = []
    for field in fields(law):
        value = getattr(law, field.name)
        if (value is None or isinstance(value, int | float)) and not isinstance(value, bool):
            found.append({"name": field.name, "value": value})
    return found


#: Frames per second sent to the browser.
PACE = 40.0
#: Interval at which a paused run checks for requests, s.
CHECK_INTERVAL = 0.2
#: Simulated time between stored states, to which a run can go back, s, and their number.
KEPT_EVERY, MOST_KEPT = 0.25, 2400


@public
class LiveView:
    """A simulation in the browser while it runs.

    Example:
        >>> sim = Simulation("spatial-biped")                           # doctest: +SKIP
        >>> with LiveView(sim) as live:                                 # doctest: +SKIP
        ...     rec = live.run(10.0, controller="posture")

    ``speed`` is simulated seconds per second; None runs as fast as possible. On the page the run can be paused,
    stepped, slowed down, and pushed by dragging a body; the recording holds the pushes, so that a plain run repeats it.
    Reset, another law or friction start another run (``recordings``), from the state then or from an earlier one. A
    policy has a slider for each number that it is asked for. With ``pause_unwatched`` the run waits while no page shows
    it.
    """

    def __init__(
        self,
        simulation: Simulation,
        *,
        port: int = 8080,
        speed: Annotated[float, Bounds(*SPEEDS)] | None = 1.0,
        open_browser: bool = False,
        pause_unwatched: bool = False,
    ) -> None:
        self.simulation, self.pause_unwatched = simulation, pause_unwatched
        self.rest = at_rest(simulation, simulation.place())
        model = simulation.robot.model
        moving = [model.body(int(b)).name for b in np.flatnonzero(moving_bodies(model))]
        self.requests = Requests(moving, speed)
        self.recordings: list[Recording] = []
        self._run: Run | None = None
        self._bounds: dict[str, list[float]] = {}  # of what a policy may be asked for
        self._states: deque[State] = deque(maxlen=MOST_KEPT)
        self._fallen = ""
        live = {
            "live": {
                "laws": list(all_laws()),
                "law": _named(simulation),
                "bodies": moving,
                "root": simulation.robot.root,
                "forward": [float(x) for x in simulation.robot.forward[:2]],
                "weight": simulation.robot.weight,
                "friction": simulation.ground.dynamic_friction,
            },
            "panels": panels(self.rest),
        }
        title = f"{simulation.robot.name}, live"
        page = render_live(self.rest, title, '<div class="laws" id="laws"></div>', live)
        self.server = PageServer(page, port, self._take)
        self.address = self.server.address
        print(f"footfall: the live view is at {self.address}", flush=True)
        if open_browser:
            webbrowser.open(self.address)

    def run(self, duration: float, *, stay: bool = False, **options: Any) -> Recording:
        """Run the simulation as ``Simulation.run`` does, with its options, and show it meanwhile; with ``stay`` also
        wait after its end for the page to restart it, until Ctrl-C.
        """
        progress = options.pop("progress", None)
        task = Task(**{"controller": "default"} | options)
        task = task._replace(
            pushes=push_list(task.pushes), controller=chosen_controller(task.controller, self.simulation.robot)
        )
        if isinstance(task.controller, Policy) and not callable(task.controller.command):
            task = task._replace(controller=self._steered(task.controller))
        if hasattr(task.controller, "scaled"):  # a walk, with a number for its speed
            walk: Any = task.controller
            task = task._replace(controller=walk.scaled(self.simulation.robot))
        speed = getattr(task.controller, "speed", None)
        self.server.send({"walk": None if speed is None else float(speed)}, kind="walk")
        self._tell("note", f"making {self.simulation.law.name} ready; its first start compiles")
        run = _Pushable(self.simulation, duration, task)
        while True:
            self._run = run.run
            self._show(run, progress)
            change, self.requests.change = self.requests.change, None
            if change is None:
                self.recordings.append(run.run.finish(progress))
                failure = self.recordings[-1].failure
                end = failure.message if failure else f"the run ended at {duration:g} s"
                self._tell("ended", end, kind="end")
                if not stay:
                    self._run = None
                    return self.recordings[-1]
                change = self._wait_for_change()
            else:
                self.recordings.append(run.run.recording())
            run, task = self._changed(change, run, duration, task)

    def _take(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take a command of a page; all pages, and those opened later, show what a policy is asked for now."""
        answer = self.requests.command(asked)
        if "ask" in asked and self._bounds:
            self._show_command()
        return answer

    def _show_command(self) -> None:
        self.server.send({"command": {**self._bounds, "value": self.requests.asked}}, kind="command")

    def _tell(self, what: str, sentence: str, *, kind: str = "note") -> None:
        self.server.send({what: sentence}, kind=kind)

    def _wait_for_change(self) -> Change:
        """What the page asks for after the end of a run."""
        while self.requests.change is None:
            self.requests.changed.wait(CHECK_INTERVAL)
            self.requests.changed.clear()
        change, self.requests.change = self.requests.change, None
        return change

    def _changed(self, change: Change, before: _Pushable, duration: float, task: Task) -> tuple[_Pushable, Task]:
        """The run that goes on with a change, and what it is to do; what cannot be is told on the page."""
        old = self.simulation
        try:
            if change.walking_speed is not None and hasattr(task.controller, "speed"):
                walk: Any = task.controller
                task = task._replace(controller=replace(walk, speed=change.walking_speed))
            ground, law = old.ground, change.law or old.law
            if change.friction is not None:
                ground = replace(ground, static_friction=change.friction, dynamic_friction=change.friction)
            if ground is not old.ground or law is not old.law:
                self.simulation = Simulation(
                    old.robot, ground=ground, law=law, dt=old.dt, body_contacts=old.body_contacts
                )
            run = self._restarted(change, before, duration, task)
        except FootfallError as error:
            self._tell("error", str(error), kind="")
            self.simulation = old
            run = self._restarted(Change(time=change.time), before, duration, task)
        told = {"law": _named(self.simulation), "friction": self.simulation.ground.dynamic_friction}
        self.server.send(told, kind="law")
        return run, task

    def _restarted(self, change: Change, before: _Pushable, duration: float, task: Task) -> _Pushable:
        """The run from the start, from a state that was kept, or from where the run before is."""
        sim, time = self.simulation, before.run.step * before.dt
        if change.time is not None:
            while self._states and self._states[-1].time > change.time + 0.5 * sim.dt:
                self._states.pop()
            time = self._states[-1].time if self._states else 0.0
            self._fallen = ""
            self.server.send({"restart": time}, kind="restart")
            for kind in ("end", "fell"):
                self.server.kept.pop(kind, None)
        self._tell("note", f"making {sim.law.name} ready; its first start compiles")
        if time == 0.0:
            return _Pushable(sim, duration, task)
        state = self._states[-1] if change.time is not None else before.run.state()
        left = max(0.0, duration - time)
        if state.law == str(sim.law):
            return _Pushable(sim, left, task._replace(qpos=None, qvel=None, start=state))
        if change.time is not None:
            before = _Pushable(before.run.simulation, 0.0, task._replace(qpos=None, qvel=None, start=state))
        data = before.run.data
        after = _Pushable(sim, left, task._replace(qpos=data.qpos.copy(), qvel=data.qvel.copy(), start=None))
        after.continue_from(before.run)
        return after

    def _steered(self, policy: Policy) -> Policy:
        """The policy, asked for what the sliders of the page say."""
        known = policy.fit(self.simulation.robot).contract.command
        given = () if callable(policy.command) else policy.command
        self.requests.asked = [float(one) for one in given or known.default]
        if len(known.low) == len(known.high) == len(self.requests.asked) > 0:
            self._bounds = {"low": list(known.low), "high": list(known.high)}
            self._show_command()
        return replace(policy, command=lambda time: self.requests.asked)

    def recording(self) -> Recording | None:
        """The last recording, also of an interrupted run."""
        if self._run is not None:
            return self._run.recording()
        return self.recordings[-1] if self.recordings else None

    def _show(self, run: _Pushable, progress: Any) -> None:
        """Run to the end, or until a change is asked for."""
        asked, dt = self.requests, self.simulation.dt
        last = clock.perf_counter()
        if asked.paused:
            self.server.send({"ready": True}, kind="ready")
        while asked.change is None:
            unwatched = self.pause_unwatched and not self.server.listeners
            if unwatched or (asked.paused and not asked.steps):
                asked.changed.wait(CHECK_INTERVAL)
                asked.changed.clear()
                last = clock.perf_counter()
                continue
            self._keep(run.run)
            speed = asked.speed
            steps = max(1, round((speed or 1.0) / PACE / dt))
            drag = asked.drag if self.server.listeners else None  # no page, no hand
            if asked.shove is not None:
                drag, seconds = asked.shove
                steps = min(steps, max(1, round(seconds / dt)))
                left = seconds - steps * dt
                asked.shove = (drag, left) if left > 0.5 * dt else None
            going = run.advance(steps, drag)
            asked.steps = max(0, asked.steps - 1)
            self._send(run)
            if progress is not None:
                progress(run.run.step * dt)
            if not going:
                return
            now = clock.perf_counter()
            if speed is None:
                continue
            # Time lost to a slow law is not made up for.
            wait = max(0.0, last + steps * dt / speed - now)
            clock.sleep(wait)
            last = now + wait

    def _keep(self, run: Run) -> None:
        """Keep the state to go back to, now and then."""
        if not self._states or run.step * run.simulation.dt >= self._states[-1].time + KEPT_EVERY:
            self._states.append(run.state())

    def _send(self, run: _Pushable) -> None:
        tape, row = run.run.tape, run.row()
        event = frame(self.rest, run.run, row, run.acting)
        self.server.send({"time": float(tape.time[row]), "speed": self.requests.speed, **event}, kind="frame")
        if not self._fallen and is_down(self.rest, tape.qpos[row]):
            found = fall(run.run.recording())
            if found is not None:
                self._fallen = str(found)
                self._tell("fell", self._fallen, kind="fell")

    def stop(self) -> None:
        """End the view."""
        self.server.stop()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Pushable:
    """A run with room for one more push, which is set for each batch of steps."""

    def __init__(self, simulation: Setup, duration: float, task: Task) -> None:
        pushes = push_list(task.pushes)
        root = simulation.robot.model.body(1).name
        self.run = Run(simulation, duration, task._replace(pushes=(*pushes, Push(root, duration=0.0))))
        self.run.pushes = pushes
        self.dt = simulation.dt
        self.acting: Push | None = None

    def advance(self, steps: int, drag: Drag | None) -> bool:
        """Take some steps under a push; whether there are more to take."""
        run, first = self.run, self.run.step
        rows = run.conditions.pushes
        rows.start[-1], rows.stop[-1] = first, first if drag is None else first + steps
        if drag is not None:
            rows.body[-1] = run.model.body(drag.body).id
            rows.wrench[-1] = [*drag.force, 0.0, 0.0, 0.0]
        going = run.advance(steps)
        self.acting = None
        taken = run.step - first
        if drag is not None and taken:
            self.acting = Push(drag.body, drag.force, start=first * self.dt, duration=taken * self.dt)
            self._note(self.acting)
        return going

    def _note(self, push: Push) -> None:
        """Keep a push for the recording, extending the last one where it has not changed."""
        before = self.run.pushes[-1] if self.run.pushes else None
        same = before is not None and (before.body, before.force, before.torque) == (push.body, push.force, push.torque)
        if before is not None and same and before.steps(self.dt)[1] == push.steps(self.dt)[0]:
            push = Push(push.body, push.force, start=before.start, duration=before.duration + push.duration)
            self.run.pushes = self.run.pushes[:-1]
        self.run.pushes = (*self.run.pushes, push)

    def row(self) -> int:
        """The last row that was recorded."""
        return max(0, int(self.run.outcome.samples[0]) - 1)

    def continue_from(self, before: Run) -> None:
        """Go on at the time of another run and with its controls and the memory of its controller."""
        run = self.run
        run.data.time, run.step = before.data.time, before.step
        run.total += before.step
        run.data.act[:], run.data.ctrl[:] = before.data.act, before.data.ctrl
        mine, theirs = run.controls.inside, before.controls.inside
        if mine is not None and theirs is not None:
            for (_, array), (_, other) in zip(mine.arrays(), theirs.arrays(), strict=True):
                array[...] = other


def _named(simulation: Simulation) -> dict[str, Any]:
    """The law of a simulation as the page shows it: name, options, the parameters in use, and its source."""
    law = simulation.law
    values: Any = None if law.native else law.resolve(simulation.setting)
    used = values._asdict() if hasattr(values, "_asdict") else {}
    numbers = {k: float(v) for k, v in used.items() if isinstance(v, int | float) and np.isfinite(v)}
    return {
        "name": law.name,
        "options": options_of(law),
        "used": ", ".join(f"{name} = {value:.4g}" for name, value in numbers.items()),
        "citation": escape(law.citation),
    }
