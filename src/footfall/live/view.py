"""One run in the browser while it is computed, and the requests of its page, kept until the loop takes them."""

from __future__ import annotations

import math
import threading
import time as clock
import webbrowser
from collections.abc import Mapping
from dataclasses import fields, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.control import Balance, Policy, Posture
from footfall.errors import FootfallError, did_you_mean
from footfall.given_numbers import is_whole
from footfall.live.frame import at_rest, frame, panels
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot.model import moving_bodies
from footfall.show.frames import body_meshes
from footfall.show.report import render_live
from footfall.show.viewer import PageServer
from footfall.simulation import Simulation
from footfall.simulation.run import Run
from footfall.simulation.task import Task, push_list

#: Most pictures that one command steps.
MOST_STEPS = 10_000


class Drag(NamedTuple):
    """An external force on a body, N in the world frame."""

    body: str
    force: tuple[float, float, float]


class Requests:
    """Requests of the page; the page's threads write, the loop reads."""

    def __init__(self, bodies: list[str], speed: float | None, *, may_change_law: bool) -> None:
        self.bodies, self.may_change_law = bodies, may_change_law
        self.speed, self.paused, self.steps = speed, False, 0
        self.drag: Drag | None = None
        self.law: Law | None = None
        self.asked: list[float] = []  # of a policy
        self.changed = threading.Event()

    def command(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take a command of the page: pause, step, speed, push, law or, of a policy, what is asked for; an error says
        what is wrong with it.
        """
        known = {"pause": self._pause, "step": self._step, "speed": self._speed, "push": self._push, "law": self._law}
        known["ask"] = self._ask
        for name, value in asked.items():
            if name not in known:
                raise FootfallError(f"no command is called '{name}': {did_you_mean(name, known)}")
            known[name](value)
        self.changed.set()
        return {}

    def _pause(self, on: Any) -> None:
        self.paused, self.steps = bool(on), 0

    def _step(self, count: Any) -> None:
        if not (is_whole(count, 1) and count <= MOST_STEPS):
            raise FootfallError(f"step = {count!r} but it must be a whole number of pictures from 1 to {MOST_STEPS}")
        self.paused, self.steps = True, int(count)

    def _speed(self, value: Any) -> None:
        speed = float(value)
        if not (0.001 <= speed <= 1000.0):
            raise FootfallError(f"speed = {speed:g} but it must be between 0.001 and 1000")
        self.speed = speed

    def _push(self, asked: Any) -> None:
        if asked is None:
            self.drag = None
            return
        x, y, z = (float(value) for value in asked["force"])
        if asked["body"] not in self.bodies:
            raise FootfallError(f"no body is called '{asked['body']}': {did_you_mean(str(asked['body']), self.bodies)}")
        if not all(map(math.isfinite, (x, y, z))):
            raise FootfallError(f"the push ({x:g}, {y:g}, {z:g}) N must be three finite numbers")
        self.drag = Drag(asked["body"], (x, y, z))

    def _ask(self, values: Any) -> None:
        numbers = [float(value) for value in values]
        if len(numbers) != len(self.asked) or not all(map(math.isfinite, numbers)):
            raise FootfallError(f"ask = {values!r} but it must be {len(self.asked)} finite numbers")
        self.asked = numbers

    def _law(self, asked: Any) -> None:
        if not self.may_change_law:
            raise FootfallError(
                "the law cannot be changed under a controller with a memory: start anew with --law NAME"
            )
        given = {name: value for name, value in asked.get("options", {}).items() if value is not None}
        self.law = make_law(str(asked["name"]), **given)


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
#: Time that a paused run waits between two looks at the requests, s.
CHECK_INTERVAL = 0.2
#: Controllers without memory, by name; under these the law can be changed.
MEMORYLESS = ("posture", "balance", None)


@public
class LiveView:
    """A simulation in the browser while it runs.

    Example:
        >>> sim = Simulation("spatial-biped")                           # doctest: +SKIP
        >>> with LiveView(sim) as live:                                 # doctest: +SKIP
        ...     rec = live.run(10.0, controller="posture")

    ``speed`` is simulated seconds per second; None runs as fast as possible. On the page the run can be paused,
    stepped, slowed down, and pushed by dragging a body; the recording holds the pushes, so that a plain run repeats it.
    Under a controller without memory the law can be changed: that starts another run (``recordings``). A policy has a
    slider for each number that it is asked for.
    """

    def __init__(
        self,
        simulation: Simulation,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        speed: float | None = 1.0,
        open_browser: bool = False,
    ) -> None:
        self.simulation = simulation
        self.rest = at_rest(simulation, simulation.place())
        model = simulation.robot.model
        moving = [model.body(int(b)).name for b in np.flatnonzero(moving_bodies(model))]
        self.requests = Requests(moving, speed, may_change_law=False)
        self.recordings: list[Recording] = []
        self._bodies = list(body_meshes(model))
        self._offset = 0.0
        self._run: Run | None = None
        live = {
            "live": {"laws": list(all_laws()), "law": _named(simulation), "bodies": moving},
            "panels": panels(self.rest),
        }
        title = f"{simulation.robot.name}, live"
        page = render_live(self.rest, title, '<div class="laws" id="laws"></div>', live)
        self.server = PageServer(page, host, port, self.requests.command)
        self.address = self.server.address
        print(f"footfall: the live view is at {self.address}", flush=True)
        if open_browser:
            webbrowser.open(self.address)

    def run(self, duration: float, **options: Any) -> Recording:
        """Run the simulation as ``Simulation.run`` does, with its options, and show it meanwhile."""
        progress = options.pop("progress", None)
        task = Task(**options)
        task = task._replace(pushes=push_list(task.pushes))
        if isinstance(task.controller, Policy) and not callable(task.controller.command):
            task = task._replace(controller=self._steered(task.controller))
        self.requests.may_change_law = task.controller in MEMORYLESS or isinstance(task.controller, Posture | Balance)
        while True:
            ready = f"making {self.simulation.law.name} ready; its first start compiles"
            self.server.send({"note": ready}, kind="note")
            run = _Pushable(self.simulation, duration - self._offset, task)
            self._run = run.run
            ended = self._show(run, progress)
            if ended or self.requests.law is None:
                break
            self.recordings.append(run.run.recording())
            task = self._other_law(run.run, task)
        self.recordings.append(run.run.finish(progress))
        self._run = None
        failure = self.recordings[-1].failure
        end = failure.message if failure else f"the run ended at {duration:g} s"
        self.server.send({"ended": end}, kind="end")
        return self.recordings[-1]

    def _steered(self, policy: Policy) -> Policy:
        """The policy, asked for what the sliders of the page say."""
        known = policy.fit(self.simulation.robot).contract.command
        self.requests.asked = [float(one) for one in policy.command or known.default]
        if len(known.low) == len(known.high) == len(self.requests.asked) > 0:
            bounds = {"low": list(known.low), "high": list(known.high), "value": list(self.requests.asked)}
            self.server.send({"command": bounds}, kind="command")
        return replace(policy, command=lambda time: self.requests.asked)

    def recording(self) -> Recording | None:
        """The last recording, also of an interrupted run."""
        if self._run is not None:
            return self._run.recording()
        return self.recordings[-1] if self.recordings else None

    def wait(self) -> None:
        """Wait until the user presses Ctrl-C, so that a run that has ended can be looked at."""
        while True:
            clock.sleep(3600)

    def _show(self, run: _Pushable, progress: Any) -> bool:
        """Run to the end and return True, or until another law is asked for."""
        asked, dt = self.requests, self.simulation.dt
        last = clock.perf_counter()
        if asked.paused:
            self.server.send({"ready": True}, kind="ready")
        while asked.law is None:
            if asked.paused and not asked.steps:
                asked.changed.wait(CHECK_INTERVAL)
                asked.changed.clear()
                last = clock.perf_counter()
                continue
            speed = asked.speed
            steps = max(1, round((speed or 1.0) / PACE / dt))
            going = run.advance(steps, asked.drag if self.server.listeners else None)  # no page, no hand
            asked.steps = max(0, asked.steps - 1)
            self._send(run)
            if progress is not None:
                progress(run.run.step * dt)
            if not going:
                return True
            now = clock.perf_counter()
            if speed is None:
                continue
            # Time lost to a slow law is not made up for.
            wait = max(0.0, last + steps * dt / speed - now)
            clock.sleep(wait)
            last = now + wait
        return False

    def _send(self, run: _Pushable) -> None:
        tape, row = run.run.tape, run.row()
        event = frame(self.rest, self._bodies, run.run, row, run.acting)
        self.server.send(
            {"time": self._offset + float(tape.time[row]), "speed": self.requests.speed, **event}, kind="frame"
        )

    def _other_law(self, run: Run, task: Task) -> Task:
        """Continue under another law from the present state; returns what is left to do."""
        old = self.simulation
        law, self.requests.law = self.requests.law, None
        passed = run.step * old.dt
        assert law is not None
        try:
            self.simulation = Simulation(
                old.robot, ground=old.ground, law=law, dt=old.dt, body_contacts=old.body_contacts
            )
        except FootfallError as error:
            self.server.send({"error": str(error)})
        self._offset += passed
        self.server.send({"law": _named(self.simulation)}, kind="law")
        later = [p for p in push_list(task.pushes) if p.start >= passed]
        pushes = [Push(p.body, p.force, p.torque, p.start - passed, p.duration) for p in later]
        return task._replace(qpos=run.data.qpos.copy(), qvel=run.data.qvel.copy(), start=None, pushes=pushes)

    def stop(self) -> None:
        """End the view."""
        self.server.stop()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Pushable:
    """A run with room for one more push, which is set for each batch of steps."""

    def __init__(self, simulation: Simulation, duration: float, task: Task) -> None:
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
        return min(max(0, int(self.run.step) - 1) // self.run.record_every, len(self.run.tape.time) - 1)


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
