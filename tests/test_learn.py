"""Environments for learning: what Gymnasium asks for, and worlds that differ."""

from __future__ import annotations

import numpy as np
import pytest
from real_robots import FILES, robot_file

gymnasium = pytest.importorskip("gymnasium")

import footfall as ff  # noqa: E402
import footfall.learn as learn  # noqa: E402


@pytest.mark.filterwarnings("ignore:.*A Box observation space")  # nothing bounds how fast a robot may fall
@pytest.mark.parametrize("name", ["footfall/Stand-v0", "footfall/Walk-v0"])
def test_gymnasium_finds_nothing_wrong(name):
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(name, episode=0.2).unwrapped, skip_render_check=True)


def test_a_vector_is_the_single_environment_many_times():
    many = learn.WorldsEnv(3, episode=0.4)
    first, _ = many.reset(seed=3)
    again, _ = many.reset(seed=3)
    np.testing.assert_array_equal(first, again)
    assert many.observation_space.contains(first)
    ended = np.zeros(3, dtype=bool)
    for _ in range(25):
        seen, reward, terminated, truncated, _ = many.step(np.zeros((3, 14)))
        assert (reward[ended] == 0.0).all()  # these were reset
        ended = terminated | truncated
        assert (reward <= 1.0).all() and np.isfinite(seen).all()
    assert max(many.worlds[0].time) < 0.4  # it began again


def pushes_of(env: learn.WorldsEnv) -> list[tuple[ff.Push, ...]]:
    return [worlds._inputs.pushes[w] for worlds in env.worlds for w in range(len(worlds))]


def test_every_episode_of_a_world_has_pushes_friction_and_mass_of_its_own():
    varied = learn.Randomisation(friction=(0.3, 0.9), mass=(0.8, 1.2))
    env = learn.WorldsEnv(2, episode=0.04, randomise=varied)
    env.reset(seed=0)
    first, given = pushes_of(env), env.worlds[0]._inputs.arrays
    for _ in range(3):  # two to the end of the episode, and one that begins the next
        env.step(np.zeros((2, 14)))
    now = env.worlds[0]._inputs.arrays
    assert all(one != other for one, other in zip(first, pushes_of(env), strict=True))
    for name in ("friction", "values", "body_mass", "push_wrench"):
        before, after = getattr(given, name), getattr(now, name)
        assert all((before[w] != after[w]).any() for w in range(2)), name
    assert env.worlds[0].time.max() == 0.0


def test_a_world_of_a_vector_is_the_single_environment_with_its_seed():
    varied = learn.Randomisation(friction=(0.3, 0.9), mass=(0.8, 1.2))
    many = learn.WorldsEnv(3, episode=0.04, randomise=varied)
    for seeds, of_second in ((5, 6), ([8, None, 9], None), ([1, 2, 3], 2)):
        many.reset(seed=seeds)
        one = learn.SingleEnv(episode=0.04, randomise=varied)
        one.reset(seed=of_second)
        same = pushes_of(many)[1] == pushes_of(one.many)[0]
        assert same == (of_second is not None)
        if same:  # the next episode too: its random numbers go on
            many.reset(options={"reset_mask": np.array([False, True, False])})
            one.reset()
            assert pushes_of(many)[1] == pushes_of(one.many)[0]
            np.testing.assert_array_equal(
                many.worlds[0]._inputs.arrays.friction[1], one.many.worlds[0]._inputs.arrays.friction[0]
            )


def test_worlds_that_are_not_in_the_mask_of_a_reset_go_on():
    env = learn.WorldsEnv(2, episode=1.0, autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED)
    env.reset(seed=0)
    env.step(np.zeros((2, 14)))
    env.reset(options={"reset_mask": np.array([False, True])})
    np.testing.assert_allclose(env.worlds[0].time, [0.02, 0.0])


def test_a_reset_in_the_same_step_keeps_the_last_observation():
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    env = learn.WorldsEnv(2, episode=0.04, autoreset_mode=mode)
    start, _ = env.reset(seed=0)
    env.step(np.full((2, 14), 0.5))
    seen, reward, _, truncated, info = env.step(np.full((2, 14), 0.5))
    assert truncated.all() and (reward > 0.0).all() and info["_final_obs"].all()
    np.testing.assert_array_equal(seen, start)
    assert np.abs(np.stack(info["final_obs"]) - start).max() > 1e-3


def test_what_cannot_be_is_refused_in_a_sentence():
    many, one = learn.WorldsEnv(2), learn.SingleEnv()
    with pytest.raises(ff.FootfallError, match=r"call reset\(\) before step\(\)"):
        many.step(np.zeros((2, 14)))
    one.reset()
    for actions, sentence in (
        (np.zeros(3), r"actions have shape \(1, 3\), but it must be \(1, 14\)"),
        (np.full(14, np.nan), "actions hold a number that is not finite"),
    ):
        with pytest.raises(ff.FootfallError, match=sentence):
            one.step(actions)
    for options, sentence in (
        ({"num_envs": 0}, "num_envs = 0, but it must be a whole number > 0"),
        ({"episode": -1.0}, "episode = -1.0 s, but it must be at least control_dt"),
        ({"randomise": {"mass": (1, 2)}}, "must be Randomisation"),
    ):
        with pytest.raises(ff.FootfallError, match=sentence):
            learn.WorldsEnv(**options)
    with pytest.raises(ff.FootfallError, match=r"friction = \(0.9, 0.3\), but it must be a range"):
        learn.Randomisation(friction=(0.9, 0.3))
    with pytest.raises(ff.FootfallError, match="speed = 'fast', but it must be a number"):
        learn.Walk("fast")
    with pytest.raises(ff.FootfallError, match="1 seeds for 2 worlds"):
        many.reset(seed=[1])


def test_one_law_may_be_named_for_all_worlds():
    assert (
        learn.WorldsEnv(2, randomise=learn.Randomisation(law="hunt-crossley")).groups[0][1].law.name == "hunt-crossley"
    )


LOOPS = ("cassie", "talos")


@pytest.mark.filterwarnings("ignore:the standing pose of robot 'talos_motor'")  # two of its joints begin outside
@pytest.mark.parametrize("name", ["quadruped", "torque-biped", "small-humanoid", *FILES])
def test_any_robot_stands_on_servos_of_its_own_or_in_the_place_of_motors(name):
    options = {"robot": str(robot_file(name)) if name in FILES else name, "law": "time-stepping"}
    if name in LOOPS:
        with pytest.raises(ff.FootfallError, match="do not compute equality constraints and loops"):
            learn.WorldsEnv(2, **options)
        return
    env = learn.WorldsEnv(2, **options)
    env.reset(seed=0)
    weight = env.robot.weight
    for _ in range(8):
        _, reward, terminated, _, _ = env.step(np.zeros(env.action_space.shape))
    assert not terminated.any() and (reward > 0.9).all()
    load = np.asarray(env.worlds[0].force)[:, :, 2].sum(axis=1)
    assert (np.abs(load - weight) < 0.05 * weight).all()  # Go1 still sways into its servos


def test_worlds_differ_in_friction_mass_and_law():
    varied = learn.Randomisation(friction=(0.3, 0.9), mass=(0.8, 1.2), law=("spring-damper", "time-stepping"))
    env = learn.WorldsEnv(5, randomise=varied)
    env.reset(seed=1)
    assert [len(worlds) for worlds in env.worlds] == [3, 2]
    assert [worlds.simulation.law.name for worlds in env.worlds] == ["spring-damper", "time-stepping"]
    env.step(np.zeros((5, 14)))
    for _ in range(20):
        env.step(np.zeros((5, 14)))
    loads = np.concatenate([worlds.force[:, :, 2].sum(axis=1) for worlds in env.worlds])
    assert np.ptp(loads) > 1.0  # N: their weights differ
