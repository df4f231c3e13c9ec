"""Learning: Gymnasium environments over many worlds, and policies that run inside the compiled loop.

    import gymnasium, footfall.learn
    env = gymnasium.make("footfall/Stand-v0", robot="spatial-biped", law="time-stepping")
    many = gymnasium.make_vec("footfall/Stand-v0", num_envs=256, vectorization_mode="vector_entry_point")

Needs the extra ``learn``. :mod:`footfall.learn.environments` documents observations, actions and rewards.
"""

from footfall.learn.environments import Randomisation, SingleEnv, Stand, Walk, WorldsEnv, register
from footfall.learn.gradients import jax_step, torch_step
from footfall.learn.policy import FEATURES, LinearPolicy

__all__ = [
    "FEATURES",
    "LinearPolicy",
    "Randomisation",
    "SingleEnv",
    "Stand",
    "Walk",
    "WorldsEnv",
    "jax_step",
    "register",
    "torch_step",
]

register()
