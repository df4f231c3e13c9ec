"""Friction by place, and what the ground says to mistakes."""

from __future__ import annotations

import functools
import json
import math
import pickle

import numpy as np
import pytest
from grounds import rolling

from footfall.errors import GroundError
from footfall.ground import FrictionTable, Ground

FLAT = np.zeros((3, 3))


def icy(x, y):
    return (0.1, 0.05) if x > 0.0 else (0.8, 0.6)


def test_friction_is_asked_at_the_place():
    function = Ground.plane(friction=icy)
    table = Ground.plane(friction=FrictionTable([[(0.8, 0.6), (0.1, 0.05)]], size=(2.0, 2.0)))
    places = np.array([[-0.5, 0.3, 0.0], [0.5, -0.3, 0.0], [-9.0, 0.0, 0.0], [9.0, 5.0, 0.0]])
    for ground in (function, table):
        static, dynamic = ground.friction_at(places)
        assert static.tolist() == [0.8, 0.1, 0.8, 0.1]
        assert dynamic.tolist() == [0.6, 0.05, 0.6, 0.05]
        assert (ground.static_friction, ground.dynamic_friction) == (0.8, 0.6)  # the largest
    static, dynamic = Ground.plane(friction=(0.8, 0.6)).friction_at(places[None])
    assert static.shape == (1, 4) and (static == 0.8).all() and (dynamic == 0.6).all()


def test_a_table_of_friction_has_rows_along_y_and_cells_of_equal_size():
    ground = Ground.slope(0.1, friction=FrictionTable(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), size=(3.0, 2.0)))
    x, y = np.meshgrid([-1.4, 0.1, 1.4], [-0.9, 0.9])
    assert ground.friction_at(np.stack([x, y, 0 * x], axis=-1))[1].tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


def test_friction_of_places_survives_json_and_pickle():
    table = Ground.plane(friction=FrictionTable([[0.7, 0.1]], size=(2.0, 1.0), center=(0.5, 0.0)))
    assert Ground.from_dict(json.loads(json.dumps(table.to_dict()))) == table
    assert pickle.loads(pickle.dumps(table)) == table
    assert table != Ground.plane(0.7)
    function = Ground.plane(friction=icy)
    assert pickle.loads(pickle.dumps(function)) == function
    back = Ground.from_dict(json.loads(json.dumps(function.to_dict())))
    places = np.random.default_rng(0).uniform(-9.0, 9.0, (200, 3))
    places = places[np.abs(places[:, 0]) > 0.05]  # but within the spacing of samples
    assert np.array_equal(back.friction_at(places), function.friction_at(places))


def without_friction(x, y):
    return 0.7 if x < 5.0 else math.nan


def slippery_at_rest(x, y):
    return 0.1, 0.2


@pytest.mark.parametrize(
    ("friction", "sentence"),
    [
        (without_friction, r"static nan, dynamic nan at \(5, -10\) m"),
        (slippery_at_rest, "static 0.1, dynamic 0.2"),
        (lambda x, y: (x, y, 0.0), "cannot be compiled: it returns .* not a number"),
        (lambda x, y: {"mu": x, 1: y}, "friction function '<lambda>' cannot be compiled"),
    ],
)
def test_a_friction_function_that_is_none_is_met_with_a_sentence(friction, sentence):
    with pytest.raises(GroundError, match=sentence):
        Ground.plane(friction=friction)


@pytest.mark.parametrize("values", [[0.1, 0.2], [[[0.1, 0.2, 0.3]]], [["a"]], [[-0.1]], [[(0.1, 0.2)]], [[math.nan]]])
def test_a_friction_table_that_is_none_is_met_with_a_sentence(values):
    with pytest.raises(GroundError, match=r"(?i)friction"):
        FrictionTable(values, size=(1.0, 1.0))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Ground.plane(-0.1), "static_friction = -0.1, but it must be a number >= 0"),
        (lambda: Ground.plane(math.nan), "friction = nan, but it must be a number"),
        (lambda: Ground.plane("rough"), "must be a number"),
        (lambda: Ground.plane((0.5, 0.6)), "static friction 0.5 is below"),
        (lambda: Ground.plane(0.6, static_friction=0.5), "static friction 0.5 is below"),
        (lambda: Ground.plane((0.6, 0.5), static_friction=0.6), "not both"),
        (lambda: Ground.plane((0.6, 0.5, 0.4)), r"\(a number, a number\)"),
        (lambda: Ground.plane(height=math.inf), "height = inf, but it must be a number"),
        (lambda: Ground.slope(math.pi / 2), "wall"),
        (lambda: Ground.slope(20.0), "did you mean 20 degrees"),
        (lambda: Ground.stairs(run=0.0), "run = 0.0, but it must be a number > 0"),
        (lambda: Ground.stairs(count=0), "count = 0, but it must be a whole number"),
        (lambda: Ground.stairs(count=2.5), "whole number"),
        (lambda: Ground.heightfield([], size=(1, 1)), "2 x 2"),
        (lambda: Ground.heightfield([[1, 2], [3]], size=(1, 1)), "rectangular"),
        (lambda: Ground.heightfield([[0, 1], [math.nan, 0]], size=(1, 1)), r"nan at \[1, 0\]"),
        (lambda: Ground.heightfield(FLAT, size=(0, 1)), r"size = \(0, 1\), but it must be \(a number > 0"),
        (lambda: Ground.heightfield(FLAT, size=2.0), r"\(a number > 0, a number > 0\)"),
        (lambda: Ground.function(lambda x, y: math.sqrt(x)), r"returns nan at \(-1, -1\)"),
        (lambda: Ground.function(lambda x, y: input()), "cannot be compiled.*Ground.heightfield"),
        (lambda: Ground.function(lambda x, y: "high"), "not a number"),
        (lambda: Ground.function(lambda x: x), "cannot be compiled"),
        (lambda: Ground.function(functools.partial(rolling, 1.0)), "partial is not a plain"),
        (lambda: Ground.function(raising), "return math.nan"),
        (lambda: Ground("hill", 0.7, 0.7), "known: function"),
        (lambda: Ground.from_dict({"kind": "stair"}), "did you mean 'stairs'"),
        (lambda: Ground.from_dict({"kind": "slope", "angel": 0.1}), "did you mean 'angle'"),
        (lambda: Ground.from_dict({"kind": "slope"}), "needs angle"),
        (
            lambda: Ground.from_dict({"kind": "heightfield", "heights": {"shape": 3}, "size": [1, 1]}),
            "be read",
        ),
        (lambda: Ground.plane().gap([1.0, 2.0]), "last axis of 3"),
    ],
)
def test_mistakes_are_met_with_a_sentence(make, sentence):
    with pytest.raises(GroundError, match=sentence):
        make()


def raising(x, y):
    if x > 5.0:
        raise ValueError("no ground here")
    return 0.0
