"""Gymnasium environments over many worlds: stand under random pushes, walk at a commanded speed.

Observation
    ``qpos`` without the base's x and y, then ``qvel``: height (m), orientation (quaternion), joints (rad or m), and all
    velocities (m/s, rad/s); for Walk the commanded speed (m/s) follows.
Action
    One number in [-1, 1] for each actuator: the servo's target is that of the home pose plus ``action_scale`` (rad or
    m; N m for motors) times it. Held for ``control_dt`` (s).
Reward of each control period
    Stand: ``1 - 0.1 mean(action^2) - 0.1 |horizontal velocity of the base|^2``.
    Walk: ``exp(-4 (speed - commanded)^2) - 0.1 mean(action^2)``, speed forward as the robot faces at home
    (m/s). 0 in that which ends in a fall. ``info["reward_terms"]`` has its terms by name.
End
    Terminated when the robot is down (its centre of mass below half its height at home) or its world failed;
    truncated after ``episode`` (s).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import gymnasium
import mujoco
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.control.posture import with_servos
from footfall.engine.dynamics.tree import make_tree
from footfall.errors import SimulationError
from footfall.given_numbers import Count, Finite
from footfall.ground import Ground
from footfall.record import Push
from footfall.robot import Robot, load_robot
from footfall.robot.built_in import parameters_of
from footfall.robot.load import is_path
from footfall.simulation import Simulation
from footfall.simulation.task import multiple
from footfall.simulation.worlds import Worlds


class Task:
    """The task of the robot: observations and rewards, from arrays whose first axis is the world."""

    #: Size of pushes as a share of the weight.
    push: ClassVar[float] = 0.0
    extra: ClassVar[int] = 0

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        return np.concatenate([qpos[:, 2:], qvel], axis=1)

    def terms(self, qvel: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
        """(N,) terms of the reward; ``qvel`` (N, nv) begins with the base's m/s forward and left, as at home."""
        return {}

    def reward(self, qvel: np.ndarray, action: np.ndarray) -> np.ndarray:
        """(N,) rewards: the sum of the terms."""
        return sum(self.terms(qvel, action).values(), np.zeros(len(qvel)))


@public
@dataclass(frozen=True)
class Stand(Task):
    """Stay up under random horizontal pushes."""

    push = 0.3

    def terms(self, qvel: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
        speed = (qvel[:, :2] ** 2).sum(axis=1)
        return {"alive": np.ones(len(qvel)), "action": -0.1 * (action**2).mean(axis=1), "speed": -0.1 * speed}


@public
@dataclass(frozen=True)
class Walk(Task):
    """Walk at ``speed`` (m/s) in the forward direction of the home pose."""

    speed: Finite = 0.5
    extra = 1

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        commanded = np.full((len(qpos), 1), self.speed)
        return np.concatenate([super().observe(qpos, qvel), commanded], axis=1)

    def terms(self, qvel: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
        missed = (qvel[:, 0] - self.speed) ** 2
        return {"speed": np.exp(-4.0 * missed), "action": -0.1 * (action**2).mean(axis=1)}


@public
@dataclass(frozen=True)
class Randomisation:
    """Domain randomisation: ranges of friction coefficients and of factors on all masses, and contact laws.

    Friction and mass are drawn for every episode. ``law`` names one law or several, which are assigned to the worlds in
    turn.
    """

    friction: tuple[float, float] | None = None
    mass: tuple[float, float] | None = None
    law: Law | str | Sequence[Law | str] = ()

    def __post_init__(self) -> None:
        for name in ("friction", "mass"):
            value = getattr(self, name)
            if value is not None and not 0 <= value[0] <= value[1] < np.inf:
                raise SimulationError(f"{name} = {value!r}, but it must be a range (lowest, highest), neither negative")

    @property
    def laws(self) -> list[Law | str]:
        return [self.law] if isinstance(self.law, (str, Law)) else list(self.law)


#: Number of pushes in an episode, and the duration of each, s.
PUSHES, PUSH_TIME = 3, 0.1
#: Time without pushes at the beginning of an episode, s.
REST = 0.2


@public
@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """The options of an environment.

    Attributes:
        task: ``Stand()`` if left out, or ``Walk(speed)``.
        robot: a built-in name, the path of a model, or a robot; its base must be free. Motors of a named or loaded one
            become position servos that hold its home pose.
        law: contact law, a name or one with options.
        ground: a level plane if left out.
        dt: step, s.
        control_dt: time between two actions, s.
        episode: longest time of an episode, s.
        action_scale: what an action of 1 adds to a servo's target, rad or m; N m for motors.
        randomise: what is drawn for every episode.
        device: "cpu" or "cuda".
        autoreset_mode: Gymnasium's.
    """

    task: Task | None = None
    robot: Robot | str = "spatial-biped"
    law: Law | str = "spring-damper"
    ground: Ground | None = None
    dt: float = 1e-3
    control_dt: float = 0.02
    episode: float = 5.0
    action_scale: float = 0.3
    randomise: Randomisation | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP

    def __post_init__(self) -> None:
        if not self.control_dt <= self.episode < np.inf:
            raise SimulationError(
                f"episode = {self.episode!r} s, but it must be at least control_dt = {self.control_dt!r} s"
            )


@public
class WorldsEnv(VectorEnv):
    """``num_envs`` worlds as one vector environment; a world whose episode ended is reset in the next step.

    Its options are those of :class:`EnvOptions`, by keyword. World i draws pushes, friction and mass for every episode
    from its own random numbers, with ``seed`` + i, like the single environment with that seed.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(self, num_envs: Count = 1, **options: Any) -> None:
        given = self.options = EnvOptions(**options)
        self.num_envs, self.episode = num_envs, given.episode
        self.metadata = {**self.metadata, "autoreset_mode": AutoresetMode(given.autoreset_mode)}
        self.task = given.task or Stand()
        self.varied = given.randomise or Randomisation()
        self.robot = _driven(given.robot) if isinstance(given.robot, str) else given.robot
        model = self.robot.model
        if model.nq < 7 or model.jnt_type[0] != 0:
            raise SimulationError(f"{self.robot.name} has no free base, which the observations are made of")
        servos = model.actuator_biastype != int(mujoco.mjtBias.mjBIAS_NONE)  # whose target is the angle times the gear
        self.reach = given.action_scale * np.where(servos, model.actuator_gear[:, 0], 1.0)
        self.every = multiple("control_dt", given.control_dt, given.dt)
        laws = (self.varied.laws or [given.law])[:num_envs]
        self.groups = [
            (slice(i, None, len(laws)), Simulation(self.robot, law=one, ground=given.ground, dt=given.dt))
            for i, one in enumerate(laws)
        ]
        make_tree(self.groups[0][1].scene.model)  # refuses what many worlds cannot be
        size = model.nq - 2 + model.nv + self.task.extra
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.single_action_space = spaces.Box(-1.0, 1.0, (model.nu,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.worlds: list[Worlds] = []
        self.generators = [seeding.np_random()[0] for _ in range(num_envs)]
        self.ended = np.zeros(num_envs, dtype=bool)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """The random numbers of every world."""
        return tuple(self.generators)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begin an episode in all worlds, or in those of ``options["reset_mask"]`` (W,): with a seed, the same one."""
        which = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if which.shape != (self.num_envs,) or which.dtype != bool:
            raise SimulationError(f"reset_mask has shape {which.shape}, but it must be ({self.num_envs},) truth values")
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, (int, np.integer)) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise SimulationError(f"{len(seeds)} seeds for {self.num_envs} worlds: give a number, or one for each")
        for world, own in enumerate(seeds or ()):
            if own is not None and which[world]:
                self.generators[world] = seeding.np_random(int(own))[0]
        self._begin(which if self.worlds else np.ones_like(which))
        self.ended[which] = False
        return self._observation(), {}

    def _begin(self, which: np.ndarray) -> None:
        """Begin an episode in the worlds of ``which`` (W,): draw their random properties, and reset them."""
        friction, mass = np.ones(self.num_envs), np.ones(self.num_envs)
        pushes: list[list[Push]] = [[] for _ in range(self.num_envs)]
        for world in np.flatnonzero(which):
            rng = self.generators[world]
            if self.varied.friction is not None:
                friction[world] = rng.uniform(*self.varied.friction)
            if self.varied.mass is not None:
                mass[world] = rng.uniform(*self.varied.mass)
            pushes[world] = self._pushes(rng)
        for group, (chosen, sim) in enumerate(self.groups):
            given: dict[str, Any] = {
                "friction": None if self.varied.friction is None else friction[chosen],
                "mass_scale": None if self.varied.mass is None else mass[chosen],
                "pushes": pushes[chosen] if self.task.push else None,
            }
            if group < len(self.worlds):
                self.worlds[group].reset(which[chosen], **given)
            else:
                given["pushes"] = given["pushes"] or ()
                self.worlds.append(Worlds(sim, len(pushes[chosen]), device=self.options.device, **given))

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One control period of all worlds; those that ended before are reset, with reward 0, or as the mode says."""
        if not self.worlds:
            raise SimulationError("there are no worlds yet: call reset() before step()")
        given = np.asarray(actions, dtype=float)
        if given.shape != self.action_space.shape:
            raise SimulationError(f"actions have shape {given.shape}, but it must be {self.action_space.shape}")
        if not np.isfinite(given).all():
            raise SimulationError("actions hold a number that is not finite")
        mode = self.metadata["autoreset_mode"]
        actions = np.clip(given, -1.0, 1.0)
        for (chosen, _), worlds in zip(self.groups, self.worlds, strict=True):
            worlds.step(self.robot.home_ctrl + self.reach * actions[chosen], n=self.every)
        fresh = self.ended if mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, dtype=bool)
        if fresh.any():
            self._begin(fresh)
        _, qvel = self._state()
        x, y, _ = self.robot.forward
        facing = np.concatenate([qvel[:, :2] @ np.array([[x, -y], [y, x]]), qvel[:, 2:]], axis=1)
        terms, reward = self.task.terms(facing, actions), np.where(fresh, 0.0, self.task.reward(facing, actions))
        terminated = self._gather(lambda worlds: worlds.status) != 0
        truncated = ~terminated & (self._gather(lambda worlds: worlds.time) >= self.episode - 1e-9)
        reward = np.where(terminated, 0.0, reward)
        self.ended = terminated | truncated
        info: dict[str, Any] = {"reward_terms": {name: np.where(fresh, 0.0, term) for name, term in terms.items()}}
        if mode == AutoresetMode.SAME_STEP and self.ended.any():
            last = self._observation()
            for world in np.flatnonzero(self.ended):
                info = self._add_info(info, {"final_obs": last[world], "final_info": {}}, int(world))
            self._begin(self.ended)
        return self._observation(), reward, terminated, truncated, info

    def _gather(self, read: Any) -> np.ndarray:
        parts = [np.asarray(read(worlds)) for worlds in self.worlds]
        whole = np.zeros((self.num_envs, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for (chosen, _), part in zip(self.groups, parts, strict=True):
            whole[chosen] = part
        return whole

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        return self._gather(lambda worlds: worlds.read("qpos")), self._gather(lambda worlds: worlds.read("qvel"))

    def _observation(self) -> np.ndarray:
        return self.task.observe(*self._state())

    def _pushes(self, rng: Any) -> list[Push]:
        """Pushes of random directions at random times."""
        if self.task.push == 0.0:
            return []
        force = self.task.push * self.robot.weight
        body = self.robot.root
        times = rng.uniform(min(REST, self.episode), self.episode, PUSHES)
        angles = rng.uniform(0.0, 2.0 * np.pi, PUSHES)
        return [
            Push(body, (force * float(np.cos(a)), force * float(np.sin(a)), 0.0), start=float(t), duration=PUSH_TIME)
            for t, a in zip(times, angles, strict=True)
        ]


@public
class SingleEnv(gymnasium.Env):
    """An environment of one world, for libraries without vector environments."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, **options: Any) -> None:
        self.many = WorldsEnv(1, **options)
        self.observation_space, self.action_space = self.many.single_observation_space, self.many.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.many.generators = [self.np_random]
        observation, info = self.many.reset()
        return observation[0], info

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        observation, reward, terminated, truncated, info = self.many.step(np.asarray(action)[None])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info


def _driven(robot: str) -> Robot:
    """A robot with servos: of its own, or in the place of motors."""
    if not is_path(robot) and "actuators" in parameters_of(robot):
        return load_robot(robot, actuators="position")
    return with_servos(load_robot(robot))


def _walk(make: Any, speed: float = 0.5, **options: Any) -> Any:
    return make(task=Walk(speed), **options)


def register() -> None:
    """Make the environments known to Gymnasium."""
    walks = partial(_walk, SingleEnv), partial(_walk, WorldsEnv)
    for name, (one, many) in {"Stand": (SingleEnv, WorldsEnv), "Walk": walks}.items():
        if f"footfall/{name}-v0" not in gymnasium.registry:
            gymnasium.register(f"footfall/{name}-v0", entry_point=one, vector_entry_point=many)
