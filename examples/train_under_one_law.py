"""Train a policy to take pushes under one contact law, and test it under all others.

An evolution strategy on ``ff.Worlds``, NumPy alone: every world runs one policy, linear feedback from the trunk to the
servos, against pushes that grow from world to world. Prints the share of pushes survived: trained under row, tested
under column.

    python examples/train_under_one_law.py                 # all laws, some minutes on two cores
    python examples/train_under_one_law.py --generations 3 --population 8 --laws spring-damper time-stepping
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import footfall as ff
from footfall.learn import FEATURES, LinearPolicy

LAWS = ("spring-damper", "hunt-crossley", "distributed", "linearizing-penalty", "time-stepping", "constraint-selection")
#: Directions of the pushes, their sizes as shares of the weight, how long they last (s) and an episode (s).
DIRECTIONS, SIZES, PUSH_TIME, EPISODE = 4, (0.3, 0.45, 0.6), 0.2, 2.0
#: Spread of the trials and step of the strategy, in units of the weights.
SIGMA, RATE = 0.05, 0.1


def trials(robot: ff.Robot, turn: float) -> list[ff.Push]:
    """One push for each trial: all directions (turned by ``turn``, rad) in all sizes."""
    body = robot.model.body(int(robot.model.jnt_bodyid[0])).name
    angles = turn + 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    return [
        ff.Push(
            body, (size * robot.weight * np.cos(a), size * robot.weight * np.sin(a), 0.0), start=0.1, duration=PUSH_TIME
        )
        for size in SIZES
        for a in angles
    ]


def survival(sim: ff.Simulation, policies: np.ndarray, turn: float) -> np.ndarray:
    """(N,) share of the episode that each policy (N, nu, 8) stays up, mean over all pushes."""
    pushes = trials(sim.robot, turn)
    count = len(policies) * len(pushes)
    worlds = ff.Worlds(sim, count, pushes=[[push] for _ in policies for push in pushes])
    rows = LinearPolicy.rows(sim.robot, np.repeat(policies, len(pushes), axis=0))
    worlds.run(EPISODE, controller=LinearPolicy(), gains=rows, control_dt=5 * sim.dt)
    return (worlds.time / EPISODE).reshape(len(policies), -1).mean(axis=1)


def train(sim: ff.Simulation, generations: int, population: int, seed: int) -> np.ndarray:
    """Weights (nu, 8) found by an evolution strategy with mirrored trials and ranks for rewards."""
    rng = np.random.default_rng(seed)
    mean = np.zeros((sim.robot.model.nu, len(FEATURES)))
    for _ in range(generations):
        noise = rng.normal(size=(population // 2, *mean.shape))
        noise = np.concatenate([noise, -noise])
        reward = survival(sim, mean + SIGMA * noise, turn=rng.uniform(0.0, 2.0 * np.pi))
        rank = reward.argsort().argsort() / (len(reward) - 1) - 0.5
        rank[:] = 0.0 if np.ptp(reward) == 0.0 else rank
        mean = mean + RATE * np.tensordot(rank, noise, 1) / len(noise)
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--laws", nargs="+", default=LAWS)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--population", type=int, default=32)
    options = parser.parse_args()
    robot = ff.load_robot("spatial-biped", actuators="position")
    sims = {law: ff.Simulation(robot, law=law) for law in options.laws}
    begin = time.perf_counter()
    policies = {"none": np.zeros((robot.model.nu, len(FEATURES)))}
    for law, sim in sims.items():
        policies[law] = train(sim, options.generations, options.population, seed=0)
    print("trained under \\ tested under".ljust(24), *(law.rjust(22) for law in sims))
    for name, policy in policies.items():
        shares = [survival(sim, policy[None], turn=0.4)[0] for sim in sims.values()]
        print(name.ljust(24), *(f"{share:22.3f}" for share in shares))
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
