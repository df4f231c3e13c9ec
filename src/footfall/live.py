"""Simulations in the browser while they run."""

from __future__ import annotations

import time as clock
import webbrowser
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from footfall.measure.common import threshold
from footfall.recording import Recording
from footfall.show.frames import Frame, body_poses, make_scene
from footfall.show.server import add_layers, paint, start_server, stop_server

if TYPE_CHECKING:
    from footfall.simulation import Simulation

#: Pictures a second that are sent to the browser.
PACE = 40.0


class LiveView:
    """A simulation in the browser while it runs.

    Example:
        >>> sim = Simulation("spatial-biped")                           # doctest: +SKIP
        >>> with LiveView(sim) as live:                                 # doctest: +SKIP
        ...     rec = live.run(10.0, controller="posture")

    ``speed`` is simulated seconds per second; None runs as fast as it can.
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
        self.simulation, self.speed = simulation, speed
        self.rest = simulation_rest(simulation)
        scene = make_scene(self.rest)
        self.server = start_server(host, port, f"Footfall: {simulation.robot.name}, live")
        self.address = f"http://{self.server.get_host()}:{self.server.get_port()}"
        self.painters = paint(self.server, [scene], [simulation.law.name], ghosts=False)
        self._bodies = list(scene.meshes)
        self._clock = self.server.gui.add_markdown("**0.000 s**")
        add_layers(self.server, self.painters)
        self.painters[0].draw(scene.frame(0))
        print(f"footfall: the live view is at {self.address}", flush=True)
        if open_browser:
            webbrowser.open(self.address)

    def run(self, duration: float, **options: Any) -> Recording:
        """Run the simulation as ``Simulation.run`` does, with its options, and show it meanwhile."""
        from footfall.simulation.run import Run

        given = dict.fromkeys(("controller", "qpos", "qvel", "control_dt", "record_dt", "seed")) | {"pushes": ()}
        progress = options.pop("progress", None)
        run = Run(self.simulation, duration, **{**given, **options})
        dt = self.simulation.dt
        steps = max(1, round((self.speed or 1.0) / PACE / dt))
        begin = clock.perf_counter()
        while run.advance(steps):
            self.update(run)
            if progress is not None:
                progress(run.step * dt)
            if self.speed is not None:
                clock.sleep(max(0.0, begin + run.step * dt / self.speed - clock.perf_counter()))
        self.update(run)
        return run.finish(progress)

    def update(self, run: Any) -> None:
        """Show what a run (``footfall.simulation.run.Run``) recorded last."""
        tape = run.tape
        row = min(max(0, int(run.step) - 1) // run.record_every, len(tape.time) - 1)
        frame = _live_frame(self.rest, self._bodies, tape, row)
        with self.server.atomic():
            self.painters[0].draw(frame)
            self._clock.content = f"**{frame.time:.3f} s**"

    def stop(self) -> None:
        """End the view."""
        stop_server(self.server)

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def simulation_rest(simulation: Simulation) -> Recording:
    """One sample of a simulation's robot, placed on its ground and at rest, without forces."""
    robot, points = simulation.robot, simulation.robot.point_count
    model = robot.model
    zero = np.zeros((1, points, 3))
    return Recording(
        robot=robot,
        ground=simulation.ground,
        law=simulation.law,
        dt=simulation.dt,
        time=np.zeros(1),
        qpos=simulation.place()[None],
        qvel=np.zeros((1, model.nv)),
        ctrl=np.zeros((1, model.nu)),
        force=zero,
        position=zero,
        velocity=zero,
        gap=np.zeros((1, points)),
        mode=np.zeros((1, points)),
        status=np.zeros(1),
    )


def _live_frame(rest: Recording, bodies: list[int], tape: Any, row: int) -> Frame:
    """What is drawn of one row of a run's tape; the zero moment point needs the next row, so there is none."""
    robot, ground = rest.robot, rest.ground
    position, quaternion = body_poses(robot.model, tape.qpos[row : row + 1], bodies)
    everything = _centre_of_mass(robot.model, tape.qpos[row])
    normal = ground.gap(tape.position[row])[1]
    load = np.einsum("pi,pi->p", tape.force[row], normal)
    feet = [robot.point_foot == f for f in range(len(robot.feet))]

    def centre(points: np.ndarray) -> np.ndarray:
        total = load[points].sum()
        if total <= threshold(rest):
            return np.full(3, np.nan)
        return load[points] @ tape.position[row, points] / total

    return Frame(
        time=float(tape.time[row]),
        body_position=position[0],
        body_quaternion=quaternion[0],
        point=tape.position[row],
        force=tape.force[row],
        mode=tape.mode[row],
        normal=normal,
        cop=np.array([centre(points) for points in feet]),
        overall_cop=centre(np.ones(len(load), dtype=bool)),
        zmp=np.full(3, np.nan),
        com=everything,
        com_ground=np.array([*everything[:2], float(ground.height(everything[0], everything[1]))]),
        push=np.zeros((0, 3)),
    )


def _centre_of_mass(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    moving = model.body_weldid != 0
    return model.body_mass[moving] @ data.xipos[moving] / model.body_mass[moving].sum()
