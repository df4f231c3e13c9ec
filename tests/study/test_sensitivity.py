"""Sobol indices against the closed form of Ishigami's function."""

from __future__ import annotations

import numpy as np
import pytest

from footfall.errors import StudyError
from footfall.study.sensitivity import sensitivity

A, B = 7.0, 0.1
BOX = {name: (-np.pi, np.pi) for name in ("x", "y", "z")}


def ishigami(x, y, z):
    return {"f": np.sin(x) + A * np.sin(y) ** 2 + B * z**4 * np.sin(x)}


def test_ishigamis_indices_are_found():
    found = sensitivity(ishigami, BOX, "f", samples=1024, workers=1)
    of_x = 0.5 * (1.0 + B * np.pi**4 / 5.0) ** 2
    of_y, of_xz = A**2 / 8.0, B**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    variance = of_x + of_y + of_xz
    first, total = np.array([of_x, of_y, 0.0]) / variance, np.array([of_x + of_xz, of_y, of_xz]) / variance
    # Sampling error of 1024 Sobol points: 0.01 seen.
    assert np.abs(found.first - first).max() < 0.03
    assert np.abs(found.total - total).max() < 0.03
    assert np.all(found.first_interval[:, 0] <= found.first) and np.all(found.first <= found.first_interval[:, 1])
    assert found.cases == 5 * 1024 and found.to_dict()["inputs"]["y"]["first"] == found.first[1]
    assert len(found.plot().axes[0].patches) == 6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"samples": 100}, "power of two"),
        ({"output": "g"}, "no output 'g'"),
        ({"work": lambda x, y, z: 1.0, "output": "value"}, "the same in all"),
        ({"work": lambda x, y, z: np.log(x), "output": "value"}, "is missing in"),
        ({"bounds": {"x": (1.0, 0.0)}}, "do not make an interval"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_has_no_indices_is_refused(options, sentence):
    given = {"work": ishigami, "bounds": BOX, "output": "f", "samples": 4, "workers": 1} | options
    with pytest.raises(StudyError, match=sentence):
        sensitivity(**given)
