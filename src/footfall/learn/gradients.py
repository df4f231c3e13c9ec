"""Steps of many worlds as functions of torch and JAX, whose derivatives are exact through contact.

    step = footfall.learn.torch_step(worlds)
    qpos, qvel = step(qpos, qvel, ctrl)      # (W, nq), (W, nv), (W, nu): tensors
    (qvel[:, 0] ** 2).sum().backward()

Their values are those of :meth:`footfall.Worlds.step`, their derivatives those of :meth:`footfall.Worlds.linearize`.
Of a quaternion only the change that turns it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import SimulationError, optional_package
from footfall.robot.model import BALL, FREE
from footfall.simulation.linearization import Linearization
from footfall.simulation.worlds import Worlds


def by_tangent(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """(nq, nv) how coordinates change with small motions in MuJoCo's tangent space."""
    found = np.zeros((model.nq, model.nv))
    for kind, at, dof in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == FREE:
            found[at : at + 3, dof : dof + 3] = np.eye(3)
            at, dof = at + 3, dof + 3
        if kind in (FREE, BALL):
            w, x, y, z = 0.5 * qpos[at : at + 4]
            found[at : at + 4, dof : dof + 3] = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]
        else:
            found[at, dof] = 1.0
    return found


def stepped(worlds: Worlds, given: Sequence[Any], smoothing: float | None) -> tuple[np.ndarray, ...]:
    """(W, nq), (W, nv) after a step from the qpos, qvel and ctrl ``given``, and its derivative, (W, nq + nv, nq + nv +
    nu); none, (W, 0, 0), if ``smoothing`` is None.
    """
    if worlds.device != "cpu":
        raise SimulationError("torch_step and jax_step take steps on a CPU: on a GPU ask worlds.linearize()")
    model, size = worlds.simulation.scene.model, 0
    begin = np.array(given[0], dtype=float)
    for name, new in zip(("qpos", "qvel", "ctrl"), given, strict=True):
        live = getattr(worlds, name)
        if np.shape(new) != live.shape:
            raise SimulationError(f"{name} has shape {np.shape(new)}, but that of these worlds is {live.shape}")
        live[:] = np.asarray(new)
    found = [] if smoothing is None else cast(list[Linearization], worlds.linearize(smoothing=smoothing))
    worlds.step()
    if found:
        size = model.nq + model.nv
    derivative = np.zeros((worlds.count, size, size + model.nu if found else 0))
    for own, lin, before, after in zip(derivative, found, begin, worlds.qpos, strict=False):
        back = np.linalg.pinv(by_tangent(model, before))
        by = np.hstack([lin.A[:, : model.nv] @ back, lin.A[:, model.nv :], lin.B])
        own[:] = np.vstack([by_tangent(model, after) @ by[: model.nv], by[model.nv :]])
    return np.array(worlds.qpos), np.array(worlds.qvel), derivative


@public
def torch_step(worlds: Worlds, *, smoothing: float = 0.0) -> Callable[..., Any]:
    """A function ``step(qpos, qvel, ctrl)`` of torch tensors (W, nq), (W, nv), (W, nu) that returns both after a step.

    ``smoothing`` (m/N) softens contacts in the derivative, see :meth:`footfall.simulation.simulation.World.linearize`.
    Limitations: worlds on a CPU; what the law remembers from step to step (anchors and bristles of springs) has no
    derivative here, see :meth:`footfall.Simulation.along`.
    """
    torch = optional_package("torch", "torch_step")

    class Step(torch.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, qpos: Any, qvel: Any, ctrl: Any) -> tuple[Any, Any]:
            given = [one.detach().cpu().numpy() for one in (qpos, qvel, ctrl)]
            wanted = smoothing if any(ctx.needs_input_grad) else None
            after = [torch.as_tensor(one).to(qpos) for one in stepped(worlds, given, wanted)]
            ctx.save_for_backward(after[2])
            ctx.sizes = [one.shape[1] for one in (qpos, qvel, ctrl)]
            return after[0], after[1]

        @staticmethod
        def backward(ctx: Any, by_qpos: Any, by_qvel: Any) -> Any:
            by = torch.cat([by_qpos, by_qvel], dim=1)
            return torch.einsum("wi,wij->wj", by, ctx.saved_tensors[0]).split(ctx.sizes, dim=1)

    return lambda qpos, qvel, ctrl: Step.apply(qpos, qvel, ctrl)


@public
def jax_step(worlds: Worlds, *, smoothing: float = 0.0) -> Callable[..., Any]:
    """The same for arrays of JAX, also within ``jit``; with ``jax_enable_x64`` in double precision."""
    jax = optional_package("jax", "jax_step")

    def ask(wanted: float | None, qpos: Any, qvel: Any, ctrl: Any) -> Any:
        rows, columns = qpos.shape[1] + qvel.shape[1], qpos.shape[1] + qvel.shape[1] + ctrl.shape[1]
        shapes = (qpos.shape, qvel.shape, (len(qpos), *((0, 0) if wanted is None else (rows, columns))))

        def host(*given: Any) -> list[np.ndarray]:
            return [one.astype(qpos.dtype) for one in stepped(worlds, given, wanted)]

        made = [jax.ShapeDtypeStruct(shape, qpos.dtype) for shape in shapes]
        return jax.pure_callback(host, made, qpos, qvel, ctrl)

    @jax.custom_vjp
    def step(qpos: Any, qvel: Any, ctrl: Any) -> Any:
        return tuple(ask(None, qpos, qvel, ctrl)[:2])

    def forward(qpos: Any, qvel: Any, ctrl: Any) -> Any:
        *after, derivative = ask(smoothing, qpos, qvel, ctrl)
        return tuple(after), derivative

    def backward(derivative: Any, by: Any) -> Any:
        nq, nv = by[0].shape[1], by[1].shape[1]
        found = jax.numpy.einsum("wi,wij->wj", jax.numpy.concatenate(by, axis=1), derivative)
        return found[:, :nq], found[:, nq : nq + nv], found[:, nq + nv :]

    step.defvjp(forward, backward)
    return step
