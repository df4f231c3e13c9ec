"""Fits find what made the data, say what the data do not tell, and are judged on trials they never saw."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from shared_files import shared_file

import footfall as ff
from footfall.cli import main
from footfall.errors import StudyError
from footfall.files.measured import Measured
from footfall.measure.motion import position_error, turned
from footfall.study.fit import ForceTrial, Range, Toss, cube, fit, gain_of, load_tosses, planar_impact, split
from footfall.study.fit.search import better, cross_validated, estimates, search
from footfall.study.fit.tosses import started_from_flight
from footfall.study.fit.trials import follow_forces, follow_impact

DATA = "data/cube_tosses/tosses.npz"
RATE = 100.0


def thrown(number, law, friction, seed=0):
    """Tosses of the cube that a simulation made: it lands on a face and slides."""
    sim = ff.Simulation(cube(), ground=ff.Ground.plane(friction=friction), law=law, dt=1e-3)
    random = np.random.default_rng(seed)
    found = []
    for i in range(number):
        qpos = np.array([0.0, 0.0, 0.0524 + random.uniform(0.01, 0.05), 1.0, 0.0, 0.0, 0.0])
        qvel = np.array([*random.uniform(-1.0, 1.0, 2), 0.0, 0.0, 0.0, random.uniform(-1.0, 1.0)])
        rec = sim.run(0.2, qpos=qpos, qvel=qvel, record_dt=1.0 / RATE)
        found.append(Toss(f"made {i}", RATE, rec.qpos, qvel, 0.1048))
    return found


def test_friction_and_restitution_that_made_the_data_are_found():
    tosses = thrown(8, ff.law("time-stepping", restitution=0.3), 0.35)
    ranges = {"law.restitution": Range(0.0, 0.8, start=0.05), "ground.friction": (0.1, 1.0, "log")}
    found = fit("time-stepping", tosses[:5], ranges, judge=tosses[5:], evaluations=60, workers=1)
    values = {one.name: one for one in found.parameters}
    # The search ends within a thousandth of the ranges of what made the data; 1 % of each is allowed.
    assert found.law.restitution == pytest.approx(0.3, abs=0.008)
    assert values["ground.friction"].value == pytest.approx(0.35, rel=0.023)
    assert values["law.restitution"].low <= found.law.restitution <= values["law.restitution"].high
    assert not found.kept_defaults and found.loss < 0.2 * found.default_loss
    assert found.judged["position_widths"] < 0.2 * found.judged_default["position_widths"]
    assert found.others == 3 and found.judged["failed_trials"] == 0
    assert found.errors.mean() < 0.2 * found.default_errors.mean()


def test_a_parameter_that_does_nothing_is_not_identifiable():
    tosses = thrown(4, "time-stepping", 0.3)
    ranges = {"ground.friction": (0.05, 1.0, "log"), "law.v_t": (1e-3, 1.0, "log")}
    # v_t decides when a sliding vertex may stick again; a cube that slides on its face does not care.
    found = fit(ff.law("constraint-selection", rules="paper"), tosses, ranges, evaluations=20, workers=1)
    assert found.parameters[0].value == pytest.approx(0.3, rel=0.05)
    assert found.parameters[1].note in ("not identifiable from these data", "the law's default, kept")


def test_a_law_that_gets_worse_by_fitting_keeps_its_defaults_and_says_so():
    """Two trials that contradict each other: what fits one is bad for the other."""

    def errors(sim, trial):
        return {"miss": 1.0 + abs(sim.law.restitution - trial) if sim.law.restitution else 1.02}

    found = fit(
        "time-stepping",
        [0.1, 0.7],
        {"law.restitution": (0.0, 0.8, "linear", 0.0)},
        robot=cube(),
        simulate=errors,
        weights={"miss": 1.0},
        evaluations=20,
    )
    assert found.kept_defaults and found.law.restitution == 0.0
    assert found.parameters[0].note == "the law's default, kept"


def test_the_robot_can_be_fitted_too():
    def slide(sim, trial):
        return {"miss": abs(sim.robot.mass - 0.5)}

    found = fit(
        "spring-damper",
        [0, 1],
        {"robot.mass": (0.1, 1.0)},
        robot=cube,
        simulate=slide,
        weights={"miss": 1.0},
        evaluations=40,
    )
    assert found.robot["mass"] == pytest.approx(0.5, abs=2e-3)


def test_the_search_finds_the_bottom_of_a_valley_and_forgives_outliers():
    target = np.array([0.7, 0.2])

    def errors(x, which):
        miss = np.hypot(x[0] - target[0], 0.3 * (x[1] - target[1]))
        return np.where(which == 0, 50.0, miss)  # one trial is hopeless

    found = search(errors, np.array([0.5, 0.5]), 9, 160, seed=1, scale=0.1)
    assert np.allclose(found.points[found.best()], target, atol=0.02)


def decays(noise, trials=4, target=(0.3, 1.0)):
    """Errors and their vectors of trials whose differences are those of decays with these rates and amplitudes, the
    best amplitude at its bound; a third parameter does nothing, and a trial fails where the first is above 0.8.
    """
    time, random = np.linspace(0.0, 1.0, 40), np.random.default_rng(3)
    spread = noise * random.normal(size=(trials, time.size))

    def vectors(x, which):
        def miss(i):
            truth, tried = ((1.0 + b) * np.exp(-4.0 * (a + 0.1 * i) * time) for a, b in (target, x[:2]))
            return (tried - truth + spread[i]) / np.sqrt(time.size)

        return [[] if i == 0 and x[0] > 0.8 else [miss(i)] for i in which]

    def errors(x, which):
        return np.array([sum(map(np.linalg.norm, own)) if own else 10.0 for own in vectors(x, which)])

    return errors, vectors


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_least_squares_take_few_evaluations_to_a_minimum_at_a_bound(noise):
    """Simplices of 90 evaluations end above what 30 of least squares reach, also where a trial fails at the start."""
    errors, vectors = decays(noise)
    everyone = np.arange(4)
    for first in ([0.9, 0.5, 0.5], [0.5, 0.1, 0.9], [0.1, 0.9, 0.0]):
        start = np.array(first)
        simplex, squares = (
            search(by, start, 4, evaluations, 0, scale=0.1, starts=start[None])
            for evaluations, by in ((90, errors), (30, vectors))
        )
        assert len(squares.points) < 36 and squares.losses().min() <= simplex.losses().min()
        best = squares.points[squares.best()]
        # Noise of 5 % in 160 samples tells a rate and an amplitude to 0.01.
        assert best[:2] == pytest.approx([0.3, 1.0], abs=0.02 if noise else 1e-3)
        assert (squares.points >= 0.0).all() and (squares.points <= 1.0).all()
        assert errors(best, everyone).mean() == pytest.approx(squares.losses().min())


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_an_interval_is_as_wide_as_what_other_parameters_make_up_for(share):
    """Two columns of unit slopes with this correlation: others unchanged each interval would be narrower by
    sqrt(1 - share^2), the ratio of conditional to marginal deviations of a linear model.
    """
    time, random = np.linspace(0.0, 1.0, 200), np.random.default_rng(5)
    first, other = np.linalg.qr(random.normal(size=(time.size, 2)))[0].T
    columns = np.column_stack([first, share * first + np.sqrt(1.0 - share**2) * other])
    noise = 0.02 * random.normal(size=(12, time.size)) / np.sqrt(time.size)

    def vectors(x, which):
        return [[columns @ (x - 0.5) + noise[i]] for i in which]

    ranges = {name: Range(0.0, 1.0) for name in ("a", "b")}
    best = 0.5 - np.linalg.lstsq(columns, noise.mean(axis=0))[0]
    at_best = np.array([np.linalg.norm(own[0]) for own in vectors(best, np.arange(12))])
    found, _ = estimates(vectors, ranges, best, at_best, 1.0, np.ones(2, dtype=bool))
    alone, _ = estimates(vectors, ranges, best, at_best, 1.0, np.array([True, False]))
    ratio = (alone[0].high - alone[0].low) / (found[0].high - found[0].low)
    assert ratio == pytest.approx(np.sqrt(1.0 - share**2), abs=0.08)


def test_cross_validation_never_sees_the_trials_it_judges_on():
    """Each trial has an optimum of its own, at random: a search that sees it looks better than one that does not."""
    random = np.random.default_rng(2)
    own = random.uniform(0.0, 1.0, (12, 4))
    asked = []

    def errors(x, which):
        asked.append(which)
        return np.linalg.norm(own[which] - x, axis=1)

    def searched(own, number):
        found = search(own, np.full(4, 0.5), number, 60, 0, scale=1.0)
        return found.points[[found.best()]]

    found = cross_validated(errors, searched, 12, 2, 0, scale=1.0)
    halves = {tuple(sorted(which)) for which in asked if len(which) == 6}
    assert len(halves) == 2 and sorted(np.concatenate([list(half) for half in halves])) == list(range(12))
    best = [np.linalg.norm(own[list(half)] - point, axis=1).mean() for half in halves for point in found.points[:, 0]]
    assert found.missed.mean() > min(best)


def flown(number, rate, noise=0.0, gravity=9.81, seed=3):
    """Tosses in closed form: a parabola and a constant spin until the ground stops both at z = 0.1 m."""
    random = np.random.default_rng(seed)
    found, starts = [], []
    for i in range(number):
        velocity, spin = random.normal(0.0, 1.0, 3), random.normal(0.0, 4.0, 3)
        time = np.arange(40) / rate
        z = 0.2 + velocity[2] * time - 0.5 * gravity * time**2
        time = np.where(np.minimum.accumulate(z) > 0.1, time, time[np.argmax(z <= 0.1) - 1])
        place = np.outer(time, velocity) + np.array([0.0, 0.0, 0.2])
        place[:, 2] -= 0.5 * gravity * time**2
        half = 0.5 * np.outer(time, spin)
        angle = np.linalg.norm(half, axis=1, keepdims=True)
        turn = np.hstack([np.cos(angle), half * np.sinc(angle / np.pi)])
        qpos = np.hstack([place + random.normal(0.0, noise, place.shape), turn])
        found.append(Toss(f"flown {i}", rate, qpos, random.normal(0.0, 1.0, 6), 0.1))
        starts.append(np.concatenate([velocity, spin]))
    return found, np.array(starts)


def test_a_toss_starts_with_the_velocities_of_its_flight():
    exact, truth = flown(8, 150.0)
    for one, start in zip(started_from_flight(exact), truth, strict=True):
        assert np.allclose(one.qvel, start, atol=1e-6)
        assert one.gravity == pytest.approx(9.81, rel=1e-9)
    # Places with noise s at n frames over T seconds give a slope with error s sqrt(12 / n) / T: 3 mm/s for 0.1 mm and
    # seven frames, the shortest flight here; a difference of two frames has 21 mm/s.
    noisy, truth = flown(40, 150.0, noise=1e-4)
    found = np.array([one.qvel for one in started_from_flight(noisy)])
    assert np.sqrt(np.mean((found - truth)[:, :3] ** 2)) < 4e-3


def test_gravity_shows_a_clock_that_is_wrong_and_units_that_cannot_be():
    slow, _ = flown(30, 150.0)
    slow = [replace(one, rate=148.5) for one in slow]  # one per cent slow: gravity looks two per cent smaller
    assert started_from_flight(slow)[0].gravity == pytest.approx(9.81 * 0.99**2, rel=1e-6)
    inches = [replace(one, qpos=one.qpos * np.r_[np.full(3, 39.37), np.ones(4)]) for one in slow]
    with pytest.raises(StudyError, match="fall with 378"):
        started_from_flight(inches)
    few = [replace(one, qpos=one.qpos[:3]) for one in slow]  # no flight to speak of: velocities stay
    assert all(a.qvel is b.qvel and a.gravity == 9.81 for a, b in zip(started_from_flight(few), few, strict=True))


def test_a_fit_is_taken_where_its_gain_is_more_than_chance():
    default = np.array([1.0, 1.1, 0.9, 1.0])
    assert better(default - 0.1, default)
    assert not better(default, default)
    assert not better(default + np.array([0.3, -0.4, 0.35, -0.3]), default)  # two gain and two lose


def test_side_and_inertia_of_the_cube_are_found():
    """Tumbling tosses of a cube that differs from the one assumed."""
    body = cube(side=0.098, inertia=0.0011)
    sim = ff.Simulation(body, ground=ff.Ground.plane(friction=0.3, height=0.002), law="time-stepping", dt=1e-3)
    random = np.random.default_rng(5)
    tosses = []
    for i in range(3):
        turn = random.normal(size=4)
        qpos = np.array([0.0, 0.0, 0.12, *(turn / np.linalg.norm(turn))])
        qvel = np.array([*random.uniform(-0.5, 0.5, 3), *random.uniform(-4.0, 4.0, 3)])
        tosses.append(Toss(f"made {i}", RATE, sim.run(0.25, qpos=qpos, qvel=qvel, record_dt=0.01).qpos, qvel, 0.1048))
    ranges = {"robot.inertia": (6e-4, 2e-3, "log", 0.00081), "robot.side": (0.094, 0.106, "linear", 0.1048)}
    found = fit("time-stepping", tosses, ranges, ground={"friction": 0.3, "height": 0.002}, evaluations=40, workers=1)
    # Seen within 1 % of the inertia and 0.1 mm; a tumble of a quarter second doubles neither.
    assert found.robot["inertia"] == pytest.approx(0.0011, rel=0.02)
    assert found.robot["side"] == pytest.approx(0.098, abs=2e-4)


def test_errors_of_trajectories_have_their_closed_forms():
    q = np.array([[1.0, 0.0, 0.0, 0.0], [np.cos(0.1), 0.0, np.sin(0.1), 0.0]])
    assert np.allclose(turned(q, -q), 0.0)
    assert np.allclose(np.linalg.norm(turned(q, q[:1]), axis=1), [0.0, 0.2])
    ahead, behind = (turned([[np.cos(a), 0.0, np.sin(a), 0.0]], q[:1]) for a in (0.1, -0.1))
    assert np.allclose([ahead[0, 2], behind[0, 2]], [0.2, -0.2], atol=1e-3)
    assert np.allclose(position_error([[0.3, 0.4, 0.0]], [[0.0, 0.0, 0.0]], 0.25), [2.0])
    sim = ff.Simulation("brick", law="time-stepping", dt=1e-3)
    fallen = planar_impact((0.0, -1.0), (0.0, -1.0, 0.0), (0.0, 0.5, 0.0), mass=2.0, inertia=8.0)
    assert np.linalg.norm(follow_impact(sim, fallen)["velocity_energy"]) == pytest.approx(0.5)  # it does not bounce
    forces = {f"total.force.{axis}": np.full(20, 2.0 * sim.robot.weight * (axis == "z")) for axis in "xyz"}
    twice = Measured(np.arange(20) * 1e-3, forces, dict.fromkeys(forces, "N"), "z", "standing")
    assert np.linalg.norm(follow_forces(sim, ForceTrial(twice))["force_weights"]) == pytest.approx(1.0, abs=1e-6)


def test_a_saved_fit_gives_the_law_back(tmp_path):
    tosses = thrown(3, "time-stepping", 0.3)
    found = fit("time-stepping", tosses, {"law.restitution": (0.0, 0.5)}, ground={"friction": 0.3}, evaluations=4)
    assert ff.law(json.loads(found.save(tmp_path / "fit.json").read_text())["law"]) == found.law


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda t: fit("time-stepping", []), "no trial"),
        (lambda t: fit("time-stepping", t, {}), "nothing to fit"),
        (lambda t: fit("time-stepping", t, {"law.restitution": (1.0, 0.0)}), "do not make an interval"),
        (lambda t: fit("time-stepping", t, {"law.restitutoin": (0.0, 1.0)}), "no option 'restitutoin'"),
        (lambda t: fit("time-stepping", t, {"law.restitution": (0.0, 1.0, "log")}), "positive lower bound"),
        (lambda t: split(t, 3, 1, 0), "cannot fit on 3"),
        (lambda t: load_tosses("nowhere.npz"), "cannot read tosses"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(call, sentence):
    still = Toss("still", RATE, np.tile([0.0, 0.0, 0.06, 1.0, 0.0, 0.0, 0.0], (3, 1)), np.zeros(6), 0.1)
    with pytest.raises(ff.FootfallError, match=sentence):
        call([still, replace(still)])


def test_errors_of_ones_own_are_added_and_weights_of_others_are_refused():
    def miss(sim, trial):
        return {"one": abs(sim.ground.dynamic_friction - 0.4), "other": 0.01 * trial}

    given = {"parameters": {"ground.friction": (0.1, 1.0)}, "robot": ff.load_robot("ball"), "simulate": miss}
    found = fit("spring-damper", [1, 2, 3], evaluations=40, **given)
    assert found.parameters[0].value == pytest.approx(0.4, abs=0.01)
    assert found.errors.mean() == pytest.approx(0.02, abs=0.01)
    with pytest.raises(StudyError, match="names an error 'none', and simulate returns one, other"):
        fit("spring-damper", [1, 2, 3], weights={"none": 1.0}, **given)
    with pytest.raises(StudyError, match=r"simulate returned 3\.0, but it must be a mapping"):
        fit("spring-damper", [1, 2, 3], **given | {"simulate": lambda sim, trial: 3.0})


def test_damaged_toss_files_are_refused(tmp_path):
    for name, arrays, sentence in (
        ("a", {"state": np.zeros((3, 13))}, "no array 'toss'"),
        ("b", {"state": np.zeros((3, 12)), "toss": np.zeros(3)}, "has shape"),
        ("c", {"state": np.full((3, 13), np.nan), "toss": np.zeros(3)}, "not finite"),
    ):
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(StudyError, match=sentence):
            load_tosses(tmp_path / f"{name}.npz")


@pytest.mark.slow
def test_the_command_ranks_laws_on_real_tosses(capsys):
    command = ["identify", "tosses", str(shared_file(DATA)), "--laws", "spring-damper", "hunt-crossley"]
    assert main([*command, "--trials", "3", "--judge", "3", "--evaluations", "4", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["law"]["name"] for row in rows} == {"spring-damper", "hunt-crossley"}
    errors = [row["judged"]["position_widths"] for row in rows]
    assert errors == sorted(errors) and errors[0] < 0.4  # a third of a width is what friction far off would give
    friction = rows[0]["parameters"]["ground.friction"]["value"]
    assert 0.12 < friction < 0.25  # near 0.18, by hand


def test_a_fit_that_makes_what_is_judged_worse_keeps_the_defaults():
    """The loss falls with restitution and the place, which is judged too, gets worse."""

    def errors(sim, trial):
        e = sim.law.restitution
        return {"turn": 1.0 - e + 0.01 * trial, "place": 1.0 + e}

    given = {"parameters": {"law.restitution": (0.0, 0.8, "linear", 0.0)}, "robot": cube(), "evaluations": 12}
    kept = fit("time-stepping", [0, 1, 2, 3], simulate=errors, weights={"turn": 1.0}, **given)
    assert kept.kept_defaults and kept.loss < kept.default_loss
    alone = fit(
        "time-stepping", [0, 1, 2, 3], simulate=lambda sim, trial: {"turn": errors(sim, trial)["turn"]}, **given
    )
    assert alone.law.restitution > 0.7


def test_laws_that_differ_by_less_than_chance_cannot_be_told_apart():
    random = np.random.default_rng(0)
    own = random.normal(1.0, 0.1, 50)
    near = gain_of(own, own + random.normal(0.0, 0.1, 50))
    far = gain_of(own, own + random.normal(0.05, 0.05, 50))
    assert not near.told and far.told
    assert far.mean == pytest.approx(0.05, abs=0.03) and far.error == pytest.approx(0.05 / 50**0.5, rel=0.3)
    assert not gain_of(own[:1], own[:1] + 1.0).told  # a single trial tells nothing
    assert gain_of(np.array([1.0, np.nan, 2.0]), np.array([2.0, 5.0, 3.0])).mean == 1.0  # failed ones are left out
