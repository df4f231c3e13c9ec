"""Training: tiny budgets on a CPU, where PyTorch and rsl_rl are installed."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import footfall as ff
from footfall.control import Policy
from footfall.control.policy.contract import as_toml, read_layouts
from footfall.errors import FootfallError
from footfall.learn.goals import GOALS
from footfall.learn.train import Training, train

try:
    import onnxscript  # noqa: F401
    import rsl_rl  # noqa: F401
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason='needs PyTorch and rsl_rl: pip install "footfall[train]"')

TINY = Training(
    "stand", robot="spatial-biped", laws=("spring-damper", "hunt-crossley"), worlds=6, iterations=2, episode=0.5
)


def test_contracts_are_written_and_read_again(tmp_path):
    for name in ("playground:joystick-phase", "unitree-rl-gym:phase", "isaac-lab:rough"):
        (one,) = read_layouts(name)
        (tmp_path / "again.toml").write_text(as_toml(one))
        (again,) = read_layouts(tmp_path / "again.toml")
        assert replace(again, name=one.name) == one


def test_wrong_training_is_refused_in_a_sentence():
    with pytest.raises(FootfallError, match="did you mean 'velocity'"):
        Training("velocities")
    with pytest.raises(FootfallError, match="must be a whole number > 0"):
        Training("stand", worlds=0)
    with pytest.raises(FootfallError, match="must be a range"):
        Training("stand", friction=(1.0, 0.5))


@needs_torch
@pytest.mark.parametrize("goal", GOALS)
def test_environments_reward_every_goal_by_terms(goal):
    from footfall.learn.train import Environments

    envs = Environments(replace(TINY, goal=goal))
    seen = envs.get_observations()["policy"]
    assert seen.shape == (6, envs.layout.size)
    _, reward, done, extras = envs.step(torch.zeros(6, envs.num_actions))
    assert reward.shape == done.shape == (6,)
    assert sum(extras["log"].values()) == pytest.approx(float(reward.mean()), abs=1e-4)
    assert all(np.isfinite(value) for value in extras["log"].values())


@needs_torch
@pytest.mark.slow
def test_training_is_kept_goes_on_and_ends_in_a_policy_that_runs(tmp_path):
    folder = train(TINY, out=tmp_path / "trained")
    train(replace(TINY, iterations=3, worlds=4), out=folder)
    rows = list(csv.DictReader((folder / "progress.csv").open()))
    assert [float(row["iteration"]) for row in rows] == [1.0, 2.0, 3.0]
    assert json.loads((folder / "training.json").read_text())["laws"] == list(TINY.laws)
    with pytest.raises(FootfallError, match=r"holds another training .seed"):
        train(replace(TINY, seed=1), out=folder)
    policy = Policy(folder / "policy.onnx")
    rec = ff.Simulation("spatial-biped", law="spring-damper").run(0.2, controller=policy)
    assert rec.failure is None and np.abs(rec.signals["action"]).max() > 0.0
