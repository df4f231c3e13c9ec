"""Learning: Gymnasium environments over many worlds.

    import gymnasium, footfall.learn
    env = gymnasium.make("footfall/Stand-v0", robot="spatial-biped", law="time-stepping")
    many = gymnasium.make_vec("footfall/Stand-v0", num_envs=256, vectorization_mode="vector_entry_point")

Needs the extra ``learn``. :mod:`footfall.learn.environments` documents observations, actions and rewards.
"""

from footfall.learn.environments import Randomisation, SingleEnv, Stand, Walk, WorldsEnv, register
from footfall.learn.gradients import jax_step, torch_step

__all__ = [
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
