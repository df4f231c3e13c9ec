"""`footfall new`: a small working file to start from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import print_json
from footfall.cli.shared.usage import UsageError

CONTROLLER = '''"""The controller {name}: torques from what the robot does now. Run it: python {file}"""

import numpy as np

import footfall as ff

robot = ff.load_robot("spatial-biped")
joint = robot.model.actuator_trnid[:, 0]
# Where qpos and qvel have the joint of each motor.
place, rate = robot.model.jnt_qposadr[joint], robot.model.jnt_dofadr[joint]


def {function}(t, state):
    """Torques (nu,) in N m at time t (s): each joint is held at its home angle by a spring and a damper."""
    stiffness, damping = 1500.0, 60.0  # N m/rad, N m s/rad
    return stiffness * (robot.home[place] - state.qpos[place]) - damping * state.qvel[rate]


if __name__ == "__main__":
    push = ff.Push("trunk", force=(0, 40, 0), start=1.0, duration=0.1)
    rec = ff.Simulation(robot, law="time-stepping").run(3.0, controller={function}, pushes=[push])
    print(rec, "fell" if rec.summary()["fell"] else "stands", np.round(rec.total_force[-1], 1), "N")
    rec.report("{function}.html")
'''
LAW = '''"""The contact law {name}: how the ground pushes one point back. Run it: python {file}

On the command line: footfall run brick --import {file} --law {name} --law.k 1e4
"""

import footfall as ff


@ff.point_law("{name}", k=2e4, c=60.0)  # options and their defaults, N/m and N s/m
def {function}(depth, depth_rate, slip, slip_velocity, memory, parameters):
    """A spring and a damper, and friction that a spring holds.

    depth (m) and depth_rate (m/s) are positive into the ground; slip (m) leads from where the point touched down.
    """
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    limit = parameters.dynamic_friction * normal
    x, y, mode = ff.spring_friction(slip, slip_velocity, parameters.k, parameters.c, limit)
    return normal, x, y, mode


if __name__ == "__main__":
    rec = ff.Simulation("brick", law="{name}").run(1.0, qvel=(0.5, 0, 0, 0, 0, 0))  # thrown at 0.5 m/s
    print(rec.audit())
    rec.report("{function}.html")
'''
STUDY = """# The study {name}: every combination of the inputs is simulated. Run it: footfall sweep {file}

measures = ["peak_vertical_force_bw", "max_penetration_m", "fell"]

[simulation]
robot = "spatial-biped"
law = "spring-damper"
ground = "plane"
controller = "posture"
duration = 1.0 # s
push = {{ body = "trunk", size = 40.0, angle = 90.0, start = 0.3, duration = 0.1 }} # N, degrees from x, s

[grid]
"ground.friction" = [0.3, 0.7]
"law.rest_penetration" = [5e-4, 1e-3] # m
"""
TEMPLATES = {"controller": (CONTROLLER, ".py"), "law": (LAW, ".py"), "study": (STUDY, ".toml")}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, kw_only=True)
class New:
    """Write a small file that works as it is, to start from: a controller, a contact law, or a study for sweep.

    footfall new law rubber

    The file says how it is run.
    """

    what: Annotated[
        tyro.conf.Positional[Literal["controller", "law", "study"]], tyro.conf.arg(metavar="controller|law|study")
    ]
    """what to begin"""
    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """what to call it, and the file: NAME.py or NAME.toml"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.errors import FootfallError
        from footfall.files.atomic_write import atomic_write

        if not NAME.fullmatch(self.name) or iskeyword(self.name):
            raise UsageError(f"'{self.name}' is not a valid name: use a letter first, then letters, digits, - and _")
        template, ending = TEMPLATES[self.what]
        function = self.name.replace("-", "_")
        path = Path(function + ending)
        if path.exists():
            raise FootfallError(f"'{path}' is there already; give another name")
        try:
            with atomic_write(path) as part:
                part.write_text(template.format(name=self.name, function=function, file=path), encoding="utf-8")
        except OSError as error:
            raise FootfallError(f"cannot write '{path}': {error.strerror or error}") from error
        how = f"footfall sweep {path}" if self.what == "study" else f"python {path}"
        if self.json:
            print_json({"file": str(path), "run": how})
        else:
            print(f"Wrote {path}. Run it: {how}")
        return 0
