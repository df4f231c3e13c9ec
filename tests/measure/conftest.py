"""Robots and recordings that are measured."""

from __future__ import annotations

import pytest
from audited import sliding_brick, standing_brick

from footfall.robot import load_robot


@pytest.fixture(scope="module")
def biped():
    return load_robot("spatial-biped")


@pytest.fixture(scope="module")
def brick():
    return load_robot("brick")


@pytest.fixture(scope="module")
def ball():
    return load_robot("ball")


@pytest.fixture
def standing():
    return standing_brick()


@pytest.fixture
def sliding():
    return sliding_brick()
