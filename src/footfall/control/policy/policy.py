"""A learned policy as a controller: a network, and the contract that says what it observes and what its actions mean.

policy = ff.control.Policy("policy.onnx", contract="playground", command=(0.8, 0.0, 0.0))
rec = ff.Simulation("scene.xml", law="time-stepping").run(8.0, controller=policy)
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.control.base import Observation
from footfall.control.policy.contract import Contract, Sensor, per_joint, read_layouts, ready, with_metadata
from footfall.control.policy.network import Network, network_of
from footfall.control.policy.observation import Layout, Observer, Seen, lay_out
from footfall.control.policy.sensing import Sensing
from footfall.errors import ControllerError
from footfall.given_numbers import NotNegative
from footfall.ground import Ground
from footfall.record import Signal
from footfall.robot import Robot
from footfall.robot.motors import Drives, drives
from footfall.robot.pose import set_down
from footfall.standing import place


@public
@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A learned policy.

    Attributes:
        file: an ONNX file, a TorchScript file (.pt), or a function of observations (W, n) that returns actions (W, m).
        contract: name of a ready contract, a TOML file, or a Contract; left out, the file beside the policy.
        command: what is asked for, as the contract has it: for most forward and left in m/s, and turn in rad/s; or a
            function of time (s); left out, the contract's.
        action_scale: rad, m or N m of an action of 1; left out, the contract's.
        latency: s from an observation to its action; left out, the contract's.
        noise: how much of the errors that the contract gives its sensors is added: 0 none, 1 all.
        sensors: how parts of the observation are measured, by name; left out, the contract's, if noise is not 0.
        seed: of the sensors' errors.
    """

    file: str | os.PathLike[str] | Callable[..., Any]
    contract: str | os.PathLike[str] | Contract | None = field(default=None, metadata={"typed": str | None})
    command: Sequence[float] | Callable[[float], Any] = field(default=(), metadata={"typed": tuple[float, ...]})
    action_scale: float | None = None
    latency: NotNegative | None = None
    noise: NotNegative = 0.0
    sensors: Mapping[str, Sensor] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.command) and len(self.command):
            self._check_command(self.command)
        _ = self.network, self.layouts

    def __repr__(self) -> str:
        return f"Policy({self.network.name}, {self.layouts[0].name.partition(':')[0]})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}

    @cached_property
    def network(self) -> Network:
        """The function of the policy."""
        return network_of(self.file)

    @cached_property
    def layouts(self) -> tuple[Contract, ...]:
        """The layouts of the contract, with what this policy's file and options say besides."""
        given = self.contract
        if given is None:
            if callable(self.file):
                raise ControllerError("a policy that is a function needs a contract")
            beside = Path(self.file).expanduser().with_suffix(".toml")
            if beside.is_file():
                given = beside
            elif "joint_names" in self.network.metadata:
                given = "mjlab"
        if given is None:
            raise ControllerError(
                f"'{self.network.name}' has no contract beside it: give contract='playground' or another one; "
                "footfall new policy NAME writes one to start from"
            )
        found = (given,) if isinstance(given, Contract) else read_layouts(given)
        if not isinstance(given, Contract) and os.fspath(given).partition(":")[0] in ready():
            found = with_metadata(found, self.network.metadata)
        if self.action_scale is not None:
            found = tuple(replace(one, action=replace(one.action, scale=self.action_scale)) for one in found)
        if self.latency is not None:
            found = tuple(replace(one, latency=self.latency) for one in found)
        return found

    @property
    def control_dt(self) -> float:
        """S between two calls: 0, every step, where servos are computed here or what is late is no whole periods."""
        period = min(one.control_dt for one in self.layouts)
        times = [*(one.latency for one in self.layouts), *(one.delay for one in self._sensors.values())]
        times += [1.0 / one.rate for one in self._sensors.values() if one.rate > 0.0]
        whole = all(abs(time / period - round(time / period)) < 1e-6 for time in times)
        return period if whole and all(one.servos is None for one in self.layouts) else 0.0

    @property
    def _sensors(self) -> Mapping[str, Sensor]:
        if self.sensors is not None:
            return self.sensors
        return self.layouts[0].sensors if self.noise else {}

    def fit(self, robot: Robot) -> Layout:
        """The layout whose observations have the size that the policy wants; an error says what each gives."""
        found = []
        for one in self.layouts:
            try:
                found.append(lay_out(one, robot))
            except ControllerError:
                if one is self.layouts[-1] and not found:
                    raise
        wanted = self.network.size
        if wanted is None and len(found) > 1:  # TorchScript does not say: the first that it takes
            wanted = next((one.size for one in found if self._takes(one.size)), None)
        fitting = [one for one in found if wanted in (None, one.size)]
        if not fitting and wanted is not None:
            whole = [one for one in found if one.contract.by_part and wanted % one.size == 0]
            fitting = [lay_out(one.contract.stacked(wanted // one.size), robot) for one in whole]
        if not fitting:
            given = "; ".join(f"'{one.contract.name}' gives {one}" for one in found)
            raise ControllerError(
                f"{self.network.name} takes {wanted} numbers, but on {robot.name} the contract {given}"
            )
        return fitting[0]

    def _takes(self, size: int) -> bool:
        """Whether the network takes so many numbers."""
        try:
            self.network.fresh()(np.zeros((1, size)))
        except ControllerError:
            return False
        return True

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, None]:
        """The contract's pose, set down on the ground."""
        layout = self.fit(robot)
        home = robot.home.copy()
        home[robot.model.jnt_qposadr[layout.joints]] = layout.pose
        if not np.array_equal(home, robot.home):
            robot = replace(robot, home=set_down(robot.model, home, robot.feet))
        return place(robot, ground, (0.0, 0.0), align=False), None

    def start(self, robot: Robot, ground: Ground, dt: float) -> Asked:
        """The policy in one run, called every ``dt`` (s)."""
        return self.batch(robot, [ground], dt)

    def batch(self, robot: Robot, grounds: Sequence[Ground], dt: float) -> Asked:
        """The policy in many worlds, each on its ground."""
        return Asked(self, self.fit(robot), grounds, dt)

    def _check_command(self, command: Any) -> np.ndarray:
        size = max(len(one.command.default) for one in self.layouts)
        try:
            values = np.asarray(command, dtype=float)
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.shape != (size,) or not np.isfinite(values).all():
            raise ControllerError(f"Policy: command = {command!r}, but the contract's has {size} numbers")
        return values


class Asked:
    """A policy in one run, or in many worlds: it remembers its last actions, and what is late.

    ``command`` (commands,) may be changed while it runs.
    """

    def __init__(self, policy: Policy, layout: Layout, grounds: Sequence[Ground], dt: float) -> None:
        contract, robot, count = layout.contract, layout.robot, len(grounds)
        self.layout, self.contract, self.dt = layout, contract, dt
        self.every = max(1, round(contract.control_dt / dt))
        if abs(self.every * dt - contract.control_dt) > 1e-6:
            raise ControllerError(
                f"{policy} decides every {contract.control_dt:g} s, no multiple of the {dt:g} s between two calls"
            )
        self.observer = Observer(layout, grounds, np.zeros(1))
        self.evaluate = policy.network.fresh()
        self.sensing = Sensing(contract, policy._sensors, policy.noise or 1.0, dt, policy.seed)
        self.policy, self.command = policy, np.array(contract.command.default, dtype=float)
        if not callable(policy.command) and len(policy.command):
            self.command = policy._check_command(policy.command)
        self.servos = _Servos(layout)
        size = len(layout.actuators)
        self.action, self.target = np.zeros((count, size)), np.tile(self.servos.rest, (count, 1))
        self.late: deque[np.ndarray] = deque([self.target] * (1 + round(contract.latency / dt)))
        self.histories: list[Any] = [None] * len(contract.parts)
        self.history: deque[np.ndarray] = deque(maxlen=contract.history)
        self.feet = np.eye(len(robot.feet))[robot.point_foot]  # (P, feet)
        self.signals = {"command": Signal(np.zeros(len(self.command)), ""), "action": Signal(np.zeros(size), "")}
        self._try(np.zeros((count, layout.size)))

    def _try(self, zeros: np.ndarray) -> None:
        """Ask the policy once, with zeros, so that what does not fit is known before the first step."""
        policy = self.policy
        try:
            answer = np.asarray(policy.network.fresh()(zeros), dtype=float)
        except ControllerError as error:
            raise ControllerError(f"{error}; the contract '{self.contract.name}' gives {self.layout}") from error
        if answer.shape != self.action.shape:
            wanted = f"{self.action.shape[1]} joints: {', '.join(self.layout.names)}"
            raise ControllerError(
                f"{policy} returns actions of shape {answer.shape}, and {self.layout.robot.name} has {wanted}"
            )

    def __call__(self, time: float, state: Observation) -> np.ndarray:
        ctrl = self.controls(time, state.qpos[None], state.qvel[None], state.mode[None] != 0, state.force[None])[0]
        self.signals["command"].values[:], self.signals["action"].values[:] = self.command, self.action[0]
        return ctrl

    def controls(self, time: float, qpos: Any, qvel: Any, touch: Any, force: Any) -> np.ndarray:
        """(W, nu) controls at ``time`` (s) of worlds whose points ``touch`` (W, P) with ``force`` (W, P, 3) N."""
        if callable(self.policy.command):
            self.command = self.policy._check_command(self.policy.command(time))
        decides = round(time / self.dt) % self.every == 0
        measured: list[np.ndarray] = []
        if decides or self.sensing.lasting:
            seen = self._seen(time, qpos, qvel, touch, force)
            measured = self.sensing.measured(self.observer.raw(seen))
        if decides:
            observation = self._observation(self.observer.scaled(measured))
            ended = ~np.isfinite(observation).all(axis=1)  # worlds that diverged
            observation[ended] = 0.0
            self.action = np.asarray(self.evaluate(observation), dtype=float)
            if not np.isfinite(self.action).all():
                raise ControllerError(f"the policy returned a number that is not finite at t = {time:.6g} s")
            bound = self.contract.action.clip
            self.target = self.servos.rest + self.servos.scale * np.clip(self.action, -bound, bound)
        self.late.append(self.target)
        self.late.popleft()
        return self.servos.controls(self.late[0], qpos, qvel)

    def _seen(self, time: float, qpos: np.ndarray, qvel: np.ndarray, touch: np.ndarray, force: np.ndarray) -> Seen:
        count, clock = len(qpos), self.contract.clock
        phase = np.zeros(0) if clock is None else np.array(clock.phases) + 2.0 * np.pi * clock.frequency * time
        if clock is not None and np.linalg.norm(self.command) < clock.still:
            phase = np.full_like(phase, clock.rest)
        on_feet = np.einsum("wpi,pf->wfi", force, self.feet).reshape(count, -1)
        return Seen(
            qpos=qpos,
            qvel=qvel,
            touch=(touch @ self.feet > 0.0).astype(float),
            force=on_feet,
            action=self.action,
            command=np.tile(self.command, (count, 1)),
            phase=np.tile(phase, (count, 1)),
        )

    def _observation(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """(W, size), with the histories of parts and of the whole; before the first they are full of zeros."""
        rows = []
        for k, (part, values) in enumerate(zip(self.contract.parts, parts, strict=True)):
            if part.history > 1:
                if self.histories[k] is None:
                    self.histories[k] = deque([values] * part.history, maxlen=part.history)
                self.histories[k].append(values)
                values = np.concatenate(self.histories[k], axis=1)
            rows.append(values)
        now = np.concatenate(rows, axis=1)
        if self.contract.history == 1:
            return now
        if not self.history:
            self.history.extend([np.zeros_like(now)] * self.contract.history)
        self.history.append(now)
        ordered = list(self.history)
        return np.concatenate(ordered[::-1] if self.contract.newest_first else ordered, axis=1)


class _Servos:
    """From targets of joints to controls: the model's own servos, or the contract's gains, computed here."""

    def __init__(self, layout: Layout) -> None:
        contract, robot, names = layout.contract, layout.robot, layout.names
        own, where = layout.actuators, f"contract '{contract.name}'"
        drive = drives(robot, where)
        motors = (drive.per_angle == 0.0)[own]
        self.torque = contract.action.kind == "torque"
        if self.torque and not motors.all():
            raise ControllerError(f"{where} gives torques, and {robot.name} has servos: load it with actuators='motor'")
        if not self.torque and contract.servos is None and motors.any():
            first = names[int(np.flatnonzero(motors)[0])]
            raise ControllerError(
                f"{where} gives targets of servos, and {robot.name} has a motor at {first}: "
                "give the gains of its servos, [servos] stiffness and damping"
            )
        self.rest = layout.pose[layout.driven] if contract.action.offset == "pose" and not self.torque else 0.0
        self.rest = np.broadcast_to(self.rest, len(own)).astype(float)
        self.scale = per_joint(contract.action.scale, names, f"{where}: action.scale")
        self.home, self.own, self.gear = robot.home_ctrl, own, robot.model.actuator_gear[own, 0]
        self.drive = Drives._make(one[own] if isinstance(one, np.ndarray) else one for one in drive)
        self.gains: list[np.ndarray] = []
        if contract.servos is not None:
            given = vars(contract.servos).items()
            self.gains = [per_joint(value, names, f"{where}: servos.{label}") for label, value in given]

    def controls(self, target: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """(W, nu) controls that lead joints to targets (W, m), rad or m; N m where actions are torques."""
        ctrl, drive = np.tile(self.home, (len(target), 1)), self.drive
        if not self.torque and not self.gains:
            ctrl[:, self.own] = self.gear * target
            return ctrl
        angle, speed = qpos[:, drive.place], qvel[:, drive.dof]
        torque = target
        if not self.torque:
            stiffness, damping, limit = self.gains
            torque = np.clip(stiffness * (target - angle) - damping * speed, -limit, limit)
        own = drive.offset + drive.per_angle * angle + drive.per_speed * speed
        ctrl[:, self.own] = (torque - own) / drive.scale
        return ctrl
