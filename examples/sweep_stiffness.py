"""A study over stiffness, a row each, kept on disk: how deep a ball sinks that is set on the ground and let go.

At rest its weight is the stiffness times the depth; without damping it would first go twice as deep.
"""

import footfall as ff

weight = ff.load_robot("ball").weight
table = ff.sweep(
    {"robot": "ball", "law": "spring-damper", "duration": 1.0},
    grid={"law.k": [1e4, 2e4, 4e4, 8e4]},  # N/m
    measures=["max_penetration_m", "peak_vertical_force_bw"],
    out="stiffness",
    workers=1,
)
print(table)
overshoot = table["law.k"] * table["max_penetration_m"] / weight
for k, part in zip(table["law.k"], overshoot, strict=True):
    print(f"k = {k:7.0f} N/m: goes {part:.3f} times as deep as it rests")
