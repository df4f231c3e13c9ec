"""A new kind of ground is one file that makes a Kind, and one line in Ground: everything else finds it by itself."""

from __future__ import annotations

import json
import math
from typing import Annotated

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.cli import main
from footfall.given_numbers import Finite
from footfall.ground.friction import Coefficients
from footfall.ground.geometry import square
from footfall.ground.ground import KINDS, Ground, made_by
from footfall.ground.kind import Form, Kind, Option
from footfall.ground.surface import heights_at, over_height, pointer


def bowl(depth: Annotated[Finite, Option("m", "below the rim")] = 0.1, *, friction=0.7, static_friction=None) -> Form:
    """A paraboloid about the origin, 1 m from the axis to the rim at z = 0."""
    return Form(Coefficients.of(friction, static_friction), (("depth", float(depth)),))


def surface(x, y, z, parameters, table):
    depth = parameters[0]
    return over_height(z - depth * (x * x + y * y - 1.0), 2.0 * depth * x, 2.0 * depth * y)


def grid(form, extent):
    x, y = square(extent, 41)
    return x, y, heights_at((pointer(surface), np.array([form.option("depth")]), np.zeros((1, 1))), x, y)


BOWL = Kind(
    name="bowl",
    make=bowl,
    surface=surface,
    parameters=lambda form: (form.option("depth"),),
    highest=lambda form: math.inf,
    grid=grid,
)


@pytest.fixture(autouse=True)
def _one_line():
    Ground.bowl = made_by(BOWL)
    yield
    del Ground.bowl
    del KINDS["bowl"]


def test_it_is_a_value_like_any_other():
    ground = Ground.bowl(0.2, friction=(0.8, 0.6))
    assert repr(ground) == "Ground.bowl(depth=0.2 m, friction=(0.8, 0.6))"
    assert Ground.from_dict(json.loads(json.dumps(ground.to_dict()))) == ground
    assert ground != Ground.bowl(0.3, friction=(0.8, 0.6))
    assert ground.height(0.5, 0.0) == pytest.approx(0.2 * (0.25 - 1.0))
    assert ground.gap([0.0, 0.0, 0.0])[0] == pytest.approx(0.2)


def test_it_is_drawn_and_given_to_mujoco():
    ground = Ground.bowl()
    vertices, faces = ground.mesh(2.0)
    assert vertices[:, 2].min() == pytest.approx(-0.1) and faces.max() == len(vertices) - 1
    spec = mujoco.MjSpec()
    (geom,) = ground.add_to(spec, 2.0)
    assert geom.type == mujoco.mjtGeom.mjGEOM_HFIELD
    assert spec.compile().ngeom == 1


def test_its_wall_pushes_a_ball_towards_the_middle():
    sim = ff.Simulation("ball", ground=Ground.bowl(0.3, friction=0.6), law="spring-damper")
    rec = sim.run(0.01, qpos=sim.place((0.3, 0.0)))
    assert rec.force[-1, 0, 0] < 0.0 < rec.force[-1, 0, 2]
    assert rec.failure is None


def test_the_command_line_has_its_options(capsys):
    args = ["run", "ball", "--ground", "bowl", "--ground.depth", "0.3", "--duration", "0.01", "--json"]
    assert main(args) == 0
    assert "Ground.bowl(depth=0.3 m, friction=0.7)" in json.loads(capsys.readouterr().out)["ground"]
    assert main(["run", "ball", "--ground", "bowl", "--help"]) == 0
    assert "m, below the rim" in capsys.readouterr().out
