from __future__ import annotations

import pytest
from robot_models import HOPPER

from footfall.robot import Robot, load_robot


@pytest.fixture
def hopper(tmp_path) -> Robot:
    path = tmp_path / "hopper.xml"
    path.write_text(HOPPER)
    return load_robot(path)
