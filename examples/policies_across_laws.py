"""Run policies that were trained under different contact laws under every law.

Every policy gets the same trials: commands drawn within its contract and frictions between 0.4 and 1.0. A row for each
policy, a column for each law: falls, how far the robot is from where the commands lead (median of those that stay up,
as a share of the way), and the median peak of the vertical force over the weight.

    footfall train velocity --robot quadruped --laws time-stepping --iterations 120 --out time-stepping
    python examples/policies_across_laws.py quadruped time-stepping/policy.onnx spring-damper/policy.onnx
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import footfall as ff

MEASURES = ("fell", "off_course", "peak_vertical_force_bw", "unsolved_samples")


def trial(robot: str, policy: str, law: str, number: int, duration: float) -> ff.Recording:
    """A run of a policy under a law, with the command and the friction that follow from a number."""
    asked = ff.control.Policy(policy).layouts[0].command
    rng = np.random.default_rng(number)
    command, friction = list(rng.uniform(asked.low, asked.high)), rng.uniform(0.4, 1.0)
    sim = ff.Simulation(robot, law=law, ground=ff.Ground.plane(friction=friction), dt=0.002)
    return sim.run(duration, controller=ff.control.Policy(policy, command=command))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot")
    parser.add_argument("policies", nargs="+", help="ONNX files, each with its contract beside it")
    parser.add_argument("--laws", nargs="+", default=[*ff.laws()])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--duration", type=float, default=6.0, help="s")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", default="policies-across-laws", help="folder of the study; a second call continues")
    options = parser.parse_args()
    policies = [str(Path(file).resolve()) for file in options.policies]
    table = ff.sweep(
        trial,
        grid={
            "robot": [options.robot],
            "policy": policies,
            "law": options.laws,
            "number": range(options.trials),
            "duration": [options.duration],
        },
        measures=MEASURES,
        out=options.out,
        workers=options.workers,
    )
    of_policy, of_law = np.array(table["policy"]), np.array(table["law"])
    print("policy of".ljust(28), *(law.rjust(28) for law in options.laws))
    for policy in policies:
        cells = []
        for law in options.laws:
            own = (of_policy == policy) & (of_law == law)
            fell, off, peak = (table[name][own] for name in MEASURES[:3])
            up = f"{np.median(off[fell == 0.0]):.2f} of the way" if (fell == 0.0).any() else "-"
            cells.append(f"{fell.sum():.0f} fall, {up}, {np.median(peak):.1f} W".rjust(28))
        print(Path(policy).parent.name.ljust(28), *cells)
    print(f"{table['unsolved_samples'].sum():.0f} samples unsolved")


if __name__ == "__main__":
    main()
