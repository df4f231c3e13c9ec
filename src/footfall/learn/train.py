"""Training: a policy for any robot, on one contact law or several, by rsl_rl's PPO; needs the extra ``train``.

    from footfall.learn.train import Training, train

    train(Training("velocity", robot="quadruped.xml", laws=("spring-damper", "time-stepping")), out="walk")

In the folder are checkpoints, from which the same call continues, the progress as CSV, and at the end ``policy.onnx``
with its contract ``policy.toml``, which :class:`footfall.control.Policy` and ``footfall autopsy`` read.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from footfall.arguments import public
from footfall.control.policy.contract import Action, Command, Contract, Part, Servos, as_toml
from footfall.control.policy.observation import Frame, Observer, Seen, lay_out
from footfall.control.posture import with_servos
from footfall.errors import FootfallError, StudyError, optional_package
from footfall.files.atomic_write import atomic_write
from footfall.given_numbers import Count
from footfall.ground import Ground
from footfall.learn.goals import Moved, goal_named
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.simulation.worlds import Worlds
from footfall.standing import FALLEN_HEIGHT


@public
@dataclass(frozen=True)
class Training:
    """The goal and the settings of a training.

    Attributes:
        goal: "stand" under pushes, "velocity" commands, or "get-up".
        robot: a built-in name, or a file; motors become servos that hold its home pose.
        laws: contact laws, assigned to the worlds in turn.
        worlds: how many there are.
        iterations: of PPO.
        friction: range of friction coefficients, drawn for every world.
        mass: range of factors on all masses, likewise.
        body_contacts: whether bodies other than feet touch the ground and each other.
        slope: rad, of the ground.
        device: "cpu" or "cuda".
        dt: step, s.
        control_dt: s between two actions.
        episode: longest time of an episode, s.
        action_scale: rad or m of an action of 1.
        pose: keyframe that the robot stands in; left out, as load_robot finds it.
        seed: of all that is random.
    """

    goal: str
    robot: str = "spatial-biped"
    laws: Sequence[str] = ("spring-damper",)
    worlds: Count = 256
    iterations: Count = 300
    friction: tuple[float, float] = (0.4, 1.0)
    mass: tuple[float, float] = (0.9, 1.1)
    body_contacts: bool = True
    slope: float = 0.0
    device: Literal["cpu", "cuda"] = "cpu"
    dt: float = 2e-3
    control_dt: float = 0.02
    episode: float = 10.0
    action_scale: float = 0.4
    pose: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        goal_named(self.goal)
        if not self.laws:
            raise StudyError("training needs a contact law")
        for name in ("friction", "mass"):
            low, high = getattr(self, name)
            if not 0.0 < low <= high < math.inf:
                raise StudyError(f"{name} = {(low, high)} must be a range (lowest, highest) of positive numbers")


class Environments:
    """Many worlds as rsl_rl wants them: observation, reward, ends and pushes are PyTorch's, on the worlds' device."""

    def __init__(self, given: Training) -> None:
        torch = self.torch = optional_package("torch", "training")
        self.TensorDict = optional_package("tensordict", "training").TensorDict
        self.given, self.goal = given, goal_named(given.goal)
        original = load_robot(given.robot) if given.pose is None else load_robot(given.robot, pose=given.pose)
        self.robot = with_servos(original)
        self.contract = self._contract(original)
        robot, model = self.robot, self.robot.model
        self.num_envs, self.num_actions, self.device, self.cfg = given.worlds, model.nu, given.device, asdict(given)
        ground = Ground.slope(given.slope) if given.slope else Ground.plane()
        names = list(given.laws)[: given.worlds]
        rng = np.random.default_rng(given.seed)
        fall = 0.0 if self.goal.lying else FALLEN_HEIGHT
        self.groups: list[tuple[slice, Worlds]] = []
        first = 0
        for k, law in enumerate(names):
            count = given.worlds // len(names) + (k < given.worlds % len(names))
            sim = Simulation(robot, law=law, ground=ground, dt=given.dt, body_contacts=given.body_contacts)
            worlds = Worlds(
                sim,
                count,
                device=given.device,
                fall=fall,
                friction=rng.uniform(*given.friction, count),
                mass_scale=rng.uniform(*given.mass, count),
            )
            self.groups.append((slice(first, first + count), worlds))
            first += count
        self.every = max(1, round(given.control_dt / given.dt))
        kind = {"dtype": torch.float32, "device": given.device}
        like = torch.zeros(1, **kind)
        self.layout = lay_out(self.contract, robot)
        self.observer, self.frame = Observer(self.layout, [ground], like), Frame(robot, ("base",), like, "training")
        zeros = lambda *shape: torch.zeros(given.worlds, *shape, **kind)  # noqa: E731
        self.action, self.before, self.command = zeros(model.nu), zeros(model.nu), zeros(3)
        self.in_air, self.total = zeros(len(robot.feet)), zeros()
        self.episode_length_buf = torch.zeros(given.worlds, dtype=torch.long, device=given.device)
        self.max_episode_length = max(1, round(given.episode / given.control_dt))
        self.generator = torch.Generator(device=given.device).manual_seed(given.seed)
        self.gear = torch.as_tensor(model.actuator_gear[:, 0].copy(), **kind)
        self.rest = torch.as_tensor(robot.home_ctrl.copy(), **kind)
        self.points = torch.as_tensor(np.eye(len(robot.feet))[robot.point_foot], **kind)
        self.height = float(robot.home[2])
        self.gravity = float(np.linalg.norm(robot.gravity)) or 9.81
        self.returns: list[float] = []
        self.lengths: list[float] = []
        self.terms: dict[str, float] = {}
        self._begin(np.ones(given.worlds, dtype=bool))

    def _contract(self, original: Robot) -> Contract:
        """What the policy observes, and, for a robot with motors, the gains of its servos."""
        model = self.robot.model
        u = math.sqrt(9.81 * float(self.robot.home[2]))
        most = [
            share * unit for share, unit in zip(self.goal.command, (u, u, u / float(self.robot.home[2])), strict=True)
        ]
        servos = None
        if original is not self.robot:
            gear = model.actuator_gear[:, 0]
            kp, kv = model.actuator_gainprm[:, 0] * gear**2, -model.actuator_biasprm[:, 2] * gear**2
            servos = Servos(tuple(kp.tolist()), tuple(kv.tolist()))
        # The servo's rest is offset from the pose by what carries the weight: it is part of the pose of the actions.
        rest = self.robot.home_ctrl / model.actuator_gear[:, 0]
        parts = ("velocity", "gyro", "gravity", "command", "joints", "joint-speeds", "last-action")
        return Contract(
            name=f"trained-{self.goal.name}",
            parts=tuple(Part(name, scale=0.1) if name == "joint-speeds" else Part(name) for name in parts),
            control_dt=self.given.control_dt,
            pose=tuple(rest.tolist()),
            action=Action(scale=self.given.action_scale),
            servos=servos,
            command=Command((0.5 * most[0], 0.0, 0.0), tuple(-one for one in most), tuple(most)),
        )

    def _uniform(self, *shape: int) -> Any:
        return 2.0 * self.torch.rand(*shape, generator=self.generator, device=self.device) - 1.0

    def _begin(self, which: np.ndarray) -> None:
        """Begin an episode in the worlds of ``which`` (N,), with a start and a command of its own."""
        torch = self.torch
        chosen = torch.as_tensor(which, device=self.device)
        for own, worlds in self.groups:
            here, count = chosen[own], int(which[own].sum())
            if count == 0:
                continue
            worlds.reset(which[own])
            live = torch.as_tensor(worlds.qpos, device=self.device)
            qpos = live[here]
            qpos[:, 7:] += 0.05 * self._uniform(count, qpos.shape[1] - 7).to(qpos.dtype)
            if self.goal.lying:
                attitude = torch.randn(count, 4, generator=self.generator, device=self.device)
                qpos[:, 3:7] = torch.nn.functional.normalize(attitude).to(qpos.dtype)
                qpos[:, 2] *= 1.05
            live[here] = qpos
        number = int(which.sum())
        limits = torch.as_tensor(self.contract.command.high, dtype=self.command.dtype, device=self.device)
        moving = (torch.rand(number, 1, generator=self.generator, device=self.device) > 0.1).to(limits.dtype)
        self.command[chosen] = self._uniform(number, 3) * limits * moving  # one in ten is to stand
        for array in (self.action, self.before, self.in_air, self.total):
            array[chosen] = 0.0
        self.episode_length_buf[chosen] = 0

    def _read(self, name: str) -> Any:
        """An array of all worlds (N, ...), on their device."""
        parts = [self.torch.as_tensor(getattr(worlds, name), device=self.device) for _, worlds in self.groups]
        return self.torch.concatenate([part.to(self.action.dtype) for part in parts])

    def get_observations(self) -> Any:
        """What the policy sees, and nothing else, under the name "policy"."""
        qpos, qvel = self._read("qpos"), self._read("qvel")
        nothing = qpos[:, :0]
        seen = Seen(qpos, qvel, nothing, nothing, self.action, self.command, nothing)
        rows = self.torch.concatenate(self.observer.scaled(self.observer.raw(seen)), -1)
        rows = self.torch.nan_to_num(rows, 0.0, 0.0, 0.0).clip(-100.0, 100.0)  # in worlds that are reset next
        return self.TensorDict({"policy": rows}, batch_size=[self.num_envs])

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One control period of all worlds; those that ended begin anew."""
        torch, given = self.torch, self.given
        self.before, self.action = self.action, actions.detach().clip(-10.0, 10.0).to(self.action.dtype)
        ctrl = (self.rest + self.gear * given.action_scale * self.action).double()
        for own, worlds in self.groups:
            part = ctrl[own].contiguous()
            worlds.step(part.numpy() if given.device == "cpu" else part, n=self.every)
        self._kick()
        qpos, qvel = self._read("qpos"), self._read("qvel")
        v, w, g = self.frame.motion(qpos, qvel)
        touch = ((self._read("mode") != 0).to(self.action.dtype) @ self.points) > 0.0
        landed = self.in_air * touch
        self.in_air = torch.where(touch, 0.0, self.in_air + given.control_dt)
        joints = qpos[:, self.observer.angles] - self.observer.pose
        level = qpos[:, 2] - math.tan(given.slope) * qpos[:, 0]
        moved = Moved(v, w, g, level, joints, self.action, self.before, self.command, landed)
        terms = self.goal.terms(moved, self.height, self.gravity)
        reward = torch.nan_to_num(sum(terms.values()), 0.0, 0.0, 0.0).clip(-5.0, 5.0)
        self.episode_length_buf += 1
        status = torch.as_tensor(np.concatenate([worlds.status for _, worlds in self.groups]), device=self.device)
        ended = status != 0
        if not self.goal.lying:
            ended |= g[:, 2] > 0.0
        late = ~ended & (self.episode_length_buf >= self.max_episode_length)
        reward = torch.where(ended, torch.zeros_like(reward), reward)
        self.total += reward
        self.terms = {name: float(torch.nan_to_num(value).mean()) for name, value in terms.items()}
        done = ended | late
        if done.any():
            self.returns += self.total[done].tolist()
            self.lengths += (given.control_dt * self.episode_length_buf[done]).tolist()
            self._begin(done.cpu().numpy())
        extras = {"time_outs": late, "log": {f"/reward/{name}": value for name, value in self.terms.items()}}
        return self.get_observations(), reward, done.long(), extras

    def _kick(self) -> None:
        """Add a velocity to the base of some worlds, on average every four seconds."""
        if not self.goal.kick:
            return
        chance = self.given.control_dt / 4.0
        most = self.goal.kick * math.sqrt(self.gravity * self.height)
        for own, worlds in self.groups:
            count = own.stop - own.start
            hit = self.torch.rand(count, 1, generator=self.generator, device=self.device) < chance
            live = self.torch.as_tensor(worlds.qvel, device=self.device)
            live[:, :2] += (hit * most * self._uniform(count, 2)).to(live.dtype)


def settings_of(given: Training) -> dict[str, Any]:
    """The settings of rsl_rl."""
    network = {"class_name": "MLPModel", "hidden_dims": [256, 128, 64], "activation": "elu", "obs_normalization": True}
    return {
        "num_steps_per_env": 24,
        "save_interval": 10**9,  # checkpoints are kept here
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 0.8}},
        "critic": dict(network),
        "algorithm": {"class_name": "PPO", "entropy_coef": 0.003, "num_learning_epochs": 5, "num_mini_batches": 4},
        "seed": given.seed,
    }


#: Iterations between two checkpoints, and episodes over which returns are averaged.
KEEP, RECENT = 20, 100
COLUMNS = ("iteration", "seconds", "steps", "mean_return", "mean_length_s", "steps_per_second")


@public
def train(
    given: Training,
    *,
    out: str | os.PathLike[str],
    progress: Callable[[dict[str, float]], None] | None = None,
) -> Path:
    """Train, and return the folder with ``policy.onnx`` and its contract; the same call continues after a kill."""
    torch = optional_package("torch", "training")
    runners = optional_package("rsl_rl.runners", "training")
    optional_package("onnxscript", "training, which writes ONNX,")
    folder = Path(out).expanduser()
    asked = json.loads(json.dumps(asdict(given)))
    known, checkpoint = folder / "training.json", folder / "checkpoint.pt"
    if known.is_file():
        old = json.loads(known.read_text(encoding="utf-8"))
        may_differ = ("iterations", "device", "worlds")  # how long, and on which machine
        differs = [name for name in asked if name not in may_differ and old.get(name) != asked[name]]
        if differs:
            raise StudyError(
                f"{folder} holds another training ({differs[0]} = {old.get(differs[0])}): choose another folder"
            )
    elif folder.exists() and any(folder.iterdir()):
        raise StudyError(f"{folder} is there already and holds no training: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(known) as part:
        part.write_text(json.dumps(asked, indent=1), encoding="utf-8")
    torch.manual_seed(given.seed)
    environments = Environments(given)
    with redirect_stdout(io.StringIO()):  # it prints its networks
        runner = runners.OnPolicyRunner(environments, settings_of(given), log_dir=None, device=given.device)
    done = 0
    if checkpoint.is_file():
        try:
            runner.load(str(checkpoint), map_location=given.device)
        except Exception as error:  # of pickle, of a zip file, of PyTorch
            raise StudyError(f"'{checkpoint}' cannot be read: {error}; remove it to begin anew") from error
        done = runner.current_learning_iteration
    begin, taken = time.perf_counter(), settings_of(given)["num_steps_per_env"] * given.worlds
    with (folder / "progress.csv").open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        for iteration in range(done, given.iterations):
            turn = time.perf_counter()
            with redirect_stdout(io.StringIO()):
                runner.learn(1)
            runner.current_learning_iteration = iteration + 1
            now = time.perf_counter()
            row = _row(environments, iteration + 1, now - begin, taken, now - turn)
            if file.tell() == 0:
                table.writerow(row)
            table.writerow([f"{value:.6g}" for value in row.values()])
            file.flush()
            if progress is not None:
                progress(row)
            if (iteration + 1) % KEEP == 0 or iteration + 1 == given.iterations:
                with atomic_write(checkpoint) as part:
                    runner.save(str(part))
    _write(runner, environments.contract, folder)
    return folder


def _row(environments: Environments, iteration: int, seconds: float, taken: int, last: float) -> dict[str, float]:
    recent, long = environments.returns[-RECENT:], environments.lengths[-RECENT:]
    figures = (float(iteration), seconds, float(iteration * taken), _mean(recent), _mean(long), taken / max(last, 1e-9))
    return dict(zip(COLUMNS, figures, strict=True)) | environments.terms


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _write(runner: Any, contract: Contract, folder: Path) -> None:
    """The policy as ONNX, with its contract beside it."""
    torch = optional_package("torch", "training")
    network = runner.alg.get_policy().as_onnx(verbose=False).to("cpu").eval()
    names = {"input_names": network.input_names, "output_names": network.output_names}
    try:
        with atomic_write(folder / "policy.onnx") as part, redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(network, network.get_dummy_inputs(), str(part), external_data=False, **names)
    except Exception as error:  # of many kinds
        message = f"the policy cannot be written as ONNX: {error}; the checkpoint in {folder} is kept"
        raise FootfallError(message) from error
    with atomic_write(folder / "policy.toml") as part:
        part.write_text(f"# Written by footfall train.\n{as_toml(contract)}", encoding="utf-8")
