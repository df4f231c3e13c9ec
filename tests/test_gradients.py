"""A step as a function of torch and JAX: its gradient is that of differences of the step itself."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import footfall as ff
from footfall.learn import jax_step, torch_step
from footfall.learn.gradients import by_tangent, stepped


def worlds_and_inputs() -> tuple[ff.Worlds, list[np.ndarray], np.ndarray]:
    """Two quadrupeds that slide, states and controls of theirs, and weights on what comes after."""
    sim = ff.Simulation("quadruped", law="time-stepping", body_contacts=False)
    worlds, model, chance = ff.Worlds(sim, 2), sim.robot.model, np.random.default_rng(4)
    qpos, qvel = np.array(worlds.qpos), 0.1 * chance.normal(size=(2, model.nv))
    qpos[:, 2] -= 2e-4  # on the surface itself is a kink
    qvel[:, :3] += (0.8, 0.2, -0.05)
    ctrl = np.tile(sim.robot.home_ctrl, (2, 1))
    return worlds, [qpos, qvel, ctrl], chance.normal(size=(2, model.nq + model.nv))


def value(worlds: ff.Worlds, inputs: list[np.ndarray], weights: np.ndarray, steps: int) -> float:
    """What the weights make of the states after some steps with the same controls."""
    qpos, qvel, ctrl = inputs
    for _ in range(steps):
        qpos, qvel, _ = stepped(worlds, (qpos, qvel, ctrl), None)
    return float((weights * np.hstack([qpos, qvel])).sum())


def check(found: list[np.ndarray], steps: int) -> None:
    """Compare gradients by qpos, qvel and ctrl with differences along random ways that keep quaternions of length 1."""
    worlds, inputs, weights = worlds_and_inputs()
    model, chance, width = worlds.simulation.robot.model, np.random.default_rng(5), 1e-6
    for i, own in enumerate(found):
        way = chance.normal(size=inputs[i].shape)
        if i == 0:
            way = np.stack([by_tangent(model, one) @ chance.normal(size=model.nv) for one in inputs[0]])
        ends = []
        for sign in (1.0, -1.0):
            moved = [one + (sign * width * way if k == i else 0.0) for k, one in enumerate(inputs)]
            ends.append(value(worlds, moved, weights, steps))
        # Differences of steps solved to 1e-12, over this width.
        assert (own * way).sum() == pytest.approx((ends[0] - ends[1]) / (2.0 * width), rel=1e-5), (
            "qpos",
            "qvel",
            "ctrl",
        )[i]


@pytest.mark.parametrize("steps", [1, 3])
def test_torch_has_the_gradient_of_steps(steps):
    torch = pytest.importorskip("torch")
    worlds, inputs, weights = worlds_and_inputs()
    step, given = torch_step(worlds), [torch.tensor(one, requires_grad=True) for one in inputs]
    qpos, qvel, ctrl = given
    for _ in range(steps):
        qpos, qvel = step(qpos, qvel, ctrl)
    (torch.as_tensor(weights) * torch.cat([qpos, qvel], dim=1)).sum().backward()
    check([one.grad.numpy() for one in given], steps)


@pytest.mark.parametrize("steps", [1, 3])
def test_jax_has_the_gradient_of_steps(steps):
    jax = pytest.importorskip("jax")
    worlds, inputs, weights = worlds_and_inputs()
    jax.config.update("jax_enable_x64", True)
    step = jax_step(worlds)

    def loss(qpos, qvel, ctrl):
        for _ in range(steps):
            qpos, qvel = step(qpos, qvel, ctrl)
        return (weights * jax.numpy.concatenate([qpos, qvel], axis=1)).sum()

    check([np.asarray(one) for one in jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*inputs)], steps)


def test_the_derivative_that_both_take_is_that_of_differences():
    worlds, inputs, weights = worlds_and_inputs()
    derivative = stepped(worlds, inputs, 0.0)[2]
    by = np.einsum("wi,wij->wj", weights, derivative)
    check(np.split(by, np.cumsum([one.shape[1] for one in inputs])[:2], axis=1), 1)
    with pytest.raises(ff.FootfallError, match=r"qvel has shape \(2, 3\), but that of these worlds is"):
        stepped(worlds, (inputs[0], np.zeros((2, 3)), inputs[2]), None)
