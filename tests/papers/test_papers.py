"""The papers: every claim that we say we reproduce holds, and what a paper is."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import footfall as ff
from footfall.control.body.stance import size_of
from footfall.errors import FootfallError
from footfall.papers import PaperResult, paper, papers, run_paper
from footfall.papers.base import CITED, Claim, Finding, Paper, Sentence, Wording, near, seen, unlike
from footfall.papers.bravo2021 import landing
from footfall.papers.bruneau1999 import drop, man, sliding, walking
from footfall.papers.bruneau1999.man import LAW, sprung_man
from footfall.papers.moraud2008 import jump, toes
from footfall.papers.ott2011 import force_distribution, pushes
from footfall.papers.perform import cell
from footfall.papers.rengifo2009 import ball, biped, ramp
from footfall.standing import at_home
from tests.shared_files import shared_file

PAGES = Path(__file__).parents[2] / "docs" / "papers"
FIELDS = {"statement", "paper", "target", "ours", "unit", "tolerance", "holds", "expected", "source", "verdict"}
SLOW = {
    "ball",
    "drop",
    "gait",
    "jump",
    "landing",
    "sliding",
    "walking",
    "lateral",
    "directions",
    "quadruped-walk",
    "symmetric",
    "pendulum",
    "contacts",
}
#: s, twice the steps of the paper's ground, or a little more: no verdict changes, and no bound is near.
COARSER = {
    (drop, "DT"): 4e-5,
    (sliding, "DT"): 1e-4,
    (walking, "DT"): 1e-4,
}
EXPERIMENTS = [
    pytest.param(name, one, id=f"{name}-{one.name}", marks=[pytest.mark.slow] if one.name in SLOW else [])
    for name in papers()
    for one in paper(name).experiments
]


def named(text: str) -> str:
    """A statement without its numbers, by which it is found on the page whatever the processor's last digits."""
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", text)


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize(("name", "experiment"), EXPERIMENTS)
def test_every_claim_that_we_say_holds_does(name, experiment, tmp_path, monkeypatch):
    # Times per step are shown, not judged: one round is enough.
    monkeypatch.setattr(jump, "ROUNDS", 1)
    # A man who has settled for a second slides as one who has for longer.
    monkeypatch.setattr(sliding, "SETTLE", 1.0)
    # A hundred states at random are enough to lose some of them.
    monkeypatch.setattr(toes, "STATES", 100)
    for (module, constant), step in COARSER.items():
        monkeypatch.setattr(module, constant, step)
    walked = walking.walk

    def fewer_strides(*, forces: bool):
        """Four to measure, with the stances that claims ask for, and two where a mean is looked at."""
        monkeypatch.setattr(walking, "STRIDES", 6 if forces else 4)
        return walked(forces=forces)

    monkeypatch.setattr(walking, "walk", fewer_strides)
    result = run_paper(name, [experiment.name], out=tmp_path)
    for claim in result.claims:
        print(f"\n    {claim.verdict:15s} {claim.statement}: {' | '.join(claim.values())}", end="")
    failures = [claim.statement for claim in result.failures if not claim.timed]
    assert not failures, failures
    others = [claim for claim in result.claims if not claim.expected]  # what is not reproduced says why
    assert all((claim.note or claim.proof or claim.timed) and not claim.failed for claim in others)
    told = json.loads(json.dumps(result.to_dict()))
    assert told["passed"] is not bool(result.failures)
    assert all(set(claim) >= FIELDS and isinstance(claim["ours"], float | str) for claim in told["claims"])
    drawn = [experiment.name] if experiment.draw else []
    assert told["figures"] == {name: str(tmp_path / f"{name}.png") for name in drawn}
    assert all(path.stat().st_size > 5_000 for path in result.drawn.values())
    # The page is made by `footfall paper all --docs docs/papers.md`; figures may differ in digits, claims may not.
    page = named((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    own = page.partition(f"## {experiment.name} (")[2].partition("\n##")[0]
    assert len(re.findall(r"\*\*\w+\*\* \(\w+\) \|$", own, re.M)) == len(result.claims)  # none is lost in silence
    for claim in result.claims:
        statement = named(cell(f"{claim.statement}."))
        rows = [line for line in page.splitlines() if statement in line]
        verdict = "" if claim.timed else f"**{claim.verdict}** ({claim.source})"
        assert any(verdict in row for row in rows), f"docs/papers is stale: {claim.statement}"


def test_the_page_has_every_figure_of_the_papers_and_no_more():
    images = PAGES.parent / "images" / "papers"
    for name in papers():
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        pictures = {one.name for one in paper(name).experiments if one.draw}
        assert set(re.findall(rf"images/papers/{name}/([^)]*)\.png", page)) == pictures
        assert {path.stem for path in (images / name).glob("*.png")} == pictures


# ---- what the papers say ------------------------------------------------------------------------------------------


def letters_of(text: str) -> str:
    """A text without commands of formulas, spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\\\\?[a-zA-Z]+", "", text.lower()))


@pytest.mark.parametrize("name", papers())
def test_sentences_are_the_papers_own_words(name):
    """Each piece of a quotation is in the paper's text, near the piece before, and so are its values."""
    text = letters_of(shared_file(f"papers/{name}.md").read_text(encoding="utf-8"))
    for key, sentence in paper(name).sentences.items():
        pieces = ".{0,400}?".join(map(letters_of, sentence.says.split(" ... ")))
        assert re.search(pieces, text), f"{key} is not in the text"
        for number in re.findall(r"[0-9][0-9.]*", sentence.prints):
            assert letters_of(number) in text, f"{key}: {number} is not printed"


@pytest.mark.parametrize("name", papers())
def test_every_sentence_is_judged_and_every_claim_measured(name):
    """Claims name the sentences that they are about, and functions the claims that they measure."""
    folder = Path(importlib.import_module(f"footfall.papers.{name}").__file__).parent
    code = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    claims = paper(name).claims
    cited = {key for one in claims.values() if one.source in CITED for key in one.place.split()}
    assert cited == set(paper(name).sentences)
    assert {key for key in claims if not re.search(rf'"{key}["\.]', code)} == set()
    assert set(re.findall(r'\b(?:near|seen|unlike)\(\s*"([\w-]+)"', code)) <= set(claims)


def test_the_counts_of_the_page_add_up_and_no_sentence_has_two_verdicts():
    page = PAGES.with_suffix(".md").read_text(encoding="utf-8")
    for name in papers():
        sentences, *verdicts, checks, hold = map(
            int, re.search(rf"\| \[{name}\].*?\) \|([\d |]*)\|", page)[1].split("|")
        )
        assert sentences == sum(verdicts) == len(paper(name).sentences)
        assert checks == hold


def challenged(name: str, experiment: str) -> PaperResult:
    return run_paper(name, [experiment], challenge=True)


@pytest.mark.parametrize(("name", "experiment"), [("bravo2021", "signs"), ("rengifo2009", "restitution")])
def test_verdicts_survive_a_challenge(name, experiment):
    """Of experiments that take no time; `footfall paper NAME --challenge` runs all."""
    result = challenged(name, experiment)
    assert result.challenged >= 1 and not result.unstable


def test_a_brick_rocks_through_shocks_in_ever_shorter_succession_and_a_low_one_does_not():
    """With e = 0: that a vertex which lands stays is no proof against it."""
    tall, low = (landing.rock("acceleration-complementarity", height) for height in (0.3, 0.05))
    assert tall.signals["impacts"].sum() > 15 and tall.signals["impacts"].max() > 5
    assert low.signals["impacts"].sum() == 1


@pytest.mark.parametrize(("posture", "time"), [((0.55, 0.02, 50.0), 12.08e-3), ((0.57, 0.005, 200.0), 12.28e-3)])
def test_limp_joints_take_the_papers_twelve_milliseconds(posture, time):
    """So that no scan of one posture contradicts them."""
    assert drop.jointed_time(*posture) == pytest.approx(time, abs=0.03e-3)


# ---- the paper as a value --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", papers())
def test_a_paper_tells_its_source_its_experiments_its_assumptions_and_what_is_missing(name):
    one = paper(name)
    assert one.name == name
    assert one.citation and one.summary and one.missing
    assert len({e.name for e in one.experiments}) == len(one.experiments)
    assert all(assumed.what and assumed.value and assumed.why for assumed in one.assumptions)
    assert all(e.varies for e in one.experiments)  # every paper leaves something open, and a challenge varies it
    named = {found for _, here in one.future for found in re.findall(r"experiment ([\w-]+)", here)}
    assert named <= {e.name for e in one.experiments}
    assert all("experiment " in here or here.startswith("not here: ") for _, here in one.future)


def test_experiments_are_chosen_by_name_or_by_figure():
    one = paper("rengifo2009")
    assert [e.name for e in one.chosen(["fig5"])] == ["ball"]
    assert [e.name for e in one.chosen(["section5", "ramp"])] == ["ramp", "stability"]
    assert one.chosen(None) == one.chosen([]) == one.experiments


def test_an_unknown_figure_or_paper_suggests_the_nearest():
    with pytest.raises(FootfallError, match=r"rengifo2009 has no figure 'fig44' here: did you mean 'fig4'"):
        run_paper("rengifo2009", ["fig44"])
    with pytest.raises(FootfallError, match="did you mean 'rengifo2009'"):
        run_paper("rengifo2008")


def claimed(found: Finding, source: str = "printed", **wording: str) -> Claim:
    """The claim of a finding, in a paper that has it alone."""
    words = Wording.read(**{"claim": "something", source: "fig1", **wording})
    said = {"fig1": Sentence("fig1", "in the paper's words")}
    whole = Paper(
        name="one", citation="", summary="", experiments=(), assumptions=(), sentences=said, claims={found.name: words}
    )
    return whole.claim(found)


@pytest.mark.parametrize(("ours", "holds"), [(1.0, True), (1.009, True), (1.02, False), (float("nan"), False)])
def test_a_number_holds_within_its_tolerance_and_nan_never(ours, holds):
    claim = claimed(near("one", 1.0, ours, unit="m", rel=0.01), why="for the test")
    assert claim.holds is holds
    assert claim.failed is not holds
    assert claim.tolerance == "1 %: for the test"
    assert claim.values()[0] == "1 m"


def test_a_claim_tells_what_is_measured_with_it():
    claim = claimed(seen("one", "a", should="a", holds=True, step=1e-3), claim="in steps of {step:g} s")
    assert claim.statement == "in steps of 0.001 s"


def test_a_claim_that_is_not_reproduced_is_no_failure():
    claim = claimed(unlike("one", "b", should="a"), note="because")
    assert not claim.holds and not claim.failed
    assert claimed(seen("one", "b", should="a", holds=False), why="rule").failed


@pytest.mark.parametrize(
    ("source", "verdict"), [("printed", "reproduced"), ("fitted", "fitted"), ("derived", "holds"), ("ours", "holds")]
)
def test_only_what_is_printed_and_not_fitted_is_reproduced(source, verdict):
    for ours, wanted in (("a", verdict), ("b", "FAILS")):
        assert claimed(seen("one", ours, should="a", holds=ours == "a"), source, why="rule").verdict == wanted


def test_a_contradiction_needs_a_proof():
    found = unlike("one", 24.0, should=28.0)
    assert claimed(found, proof="3 x 8 = 24").verdict == "contradicted"
    assert claimed(found, note="not tried").verdict == "open"


# ---- Rengifo ---------------------------------------------------------------------------------------------------


def test_the_closed_form_of_the_ball_is_the_one_of_the_notes():
    """To the digits that are known of it."""
    bounce = ball.closed_form(500.0, 250.0)
    assert bounce == pytest.approx((0.08668, 3.8766e-3, 19.564e-3), rel=5e-5)
    assert ball.closed_form(1e4, 10.0).restitution == pytest.approx(0.92669, rel=1e-5)
    assert ball.closed_form(1e4, 0.0).restitution == pytest.approx(1.0, rel=1e-12)


def test_restitution_stays_the_same_along_a_way_on_which_kp_over_kv_goes_from_0_to_infinity():
    """So that it goes from 0 to 1 only on ways that the paper does not name: one gain held, the other varied."""
    found = [ball.closed_form(kv * kv, kv).restitution for kv in (1e-3, 1.0, 1e3, 1e6)]
    assert found == pytest.approx([0.5463] * 4, rel=1e-4)


def test_the_brick_of_the_ramp_is_a_point_to_a_thousandth():
    """Friction mu f at half its height shifts mu h / length of the load."""
    assert ramp.FRICTION * ramp.HEIGHT / 0.2 < 1e-3


@pytest.fixture(scope="module")
def standing() -> ff.Recording:
    return ff.Simulation("spatial-biped").run(0.1, controller="posture")


def opened(rec: ff.Recording, first: int, count: int) -> ff.Recording:
    """The same, but for a point that is without force for some samples."""
    force = rec.force.copy()
    force[first : first + count, 3] = 0.0
    return dataclasses.replace(rec, force=force)


def test_a_false_impact_is_a_short_flight_that_ends_with_a_jump(standing):
    assert biped.false_impacts(standing) == []
    found = biped.false_impacts(opened(standing, 20, 5))
    assert [(one.point, round(one.time, 6)) for one in found] == [(3, 0.025)]
    assert found[0].jump == pytest.approx(standing.force[25, 3, 2])
    assert len(biped.false_impacts(opened(standing, 20, 10))) == 1
    assert biped.false_impacts(opened(standing, 20, 11)) == []  # longer than 10 ms: a flight
    assert biped.false_impacts(opened(standing, 0, 5)) == []  # it had not been loaded
    assert biped.false_impacts(opened(standing, 95, 10)) == []  # it does not come back


def test_a_force_that_comes_back_without_a_jump_is_no_impact(standing):
    rec = opened(standing, 20, 5)
    force = rec.force.copy()
    force[25:, 3, 2] = np.linspace(1e-3 * rec.robot.weight, 50.0, len(rec) - 25)
    assert biped.false_impacts(dataclasses.replace(rec, force=force)) == []


# ---- Bruneau ---------------------------------------------------------------------------------------------------


def test_the_law_has_the_papers_table():
    table = dict(kn=9950.0, mun=450.0, kt=90.0, mut=950.0, alpha=1.2, beta=0.02, mu_ts=1.0, t_slide=0.01, t_stick=0.01)
    assert {name: getattr(LAW, name) for name in table} == table


def test_eighteen_points_carry_736_newton_at_a_centimetre():
    assert 1e3 * man.formula(735.75 / 18) == pytest.approx(10.265, rel=1e-4)


@pytest.mark.parametrize("planar", [True, False])
def test_the_sprung_man_weighs_75_kg_and_has_no_motor(planar):
    robot = sprung_man(5000.0, planar=planar)
    assert robot.mass == pytest.approx(75.0)
    assert robot.model.nu == 0
    assert robot.point_count == 36
    held = robot.model.jnt_stiffness > 0
    assert held.sum() == robot.model.njnt - (3 if planar else 1)
    np.testing.assert_allclose(robot.model.dof_damping[robot.model.jnt_dofadr[held]], 100.0)


def test_a_man_whose_springs_carry_him_stands_as_he_was_set_down():
    """To the millimetres by which the ground gives way."""
    sim = ff.Simulation(sprung_man(20000.0, planar=True), ground=sliding.GROUND, law=LAW, dt=4e-5)
    rec = sim.run(0.5, record_dt=0.5)
    np.testing.assert_allclose(rec.qpos[-1, 2:], rec.qpos[0, 2:], atol=5e-3)


def test_the_pull_is_a_ramp_a_hold_and_a_release():
    sent = sliding.pushes(100.0)
    assert len(sent) == 2 * 350
    at = {side: [push for push in sent if push.body == f"{side}_foot"] for side in sliding.FEET}
    total = np.array([a.force[0] + b.force[0] for a, b in zip(at["left"], at["right"], strict=True)])
    time = np.array([push.start + 0.5 * push.duration for push in at["left"]])
    np.testing.assert_allclose(total, 100.0 * sliding.pull(time))
    assert total.max() == pytest.approx(74.0)
    assert (np.diff(total[:150]) > 0).all() and (np.diff(total[-99:]) < 0).all()


def test_phases_are_those_of_the_modes():
    """A block pushed until it slides and let go: the paper's six phases in their order, of known lengths."""
    robot = man.sole_block()
    sim = ff.Simulation(robot, ground=sliding.GROUND, law=LAW, dt=1e-4)
    start = sim.run(1.0, record_dt=1.0).qpos[-1]
    ramp_up = [
        ff.Push("brick", force=(0.0, 0.9 * robot.weight * k / 100, 0.0), start=1e-3 * k, duration=1e-3)
        for k in range(100)
    ]
    rec = sim.run(1.0, qpos=start, pushes=ramp_up)
    found = sliding.sliding_phases(rec, robot.feet[0].name)
    assert "".join(phase.letter for phase in found) == "abcdef"
    by = {phase.letter: phase for phase in found}
    assert by["c"].end - by["c"].start == pytest.approx(LAW.t_slide, abs=2e-4)
    assert all(one.end == two.start for one, two in pairwise(found))
    assert (rec.mode[(rec.time > by["d"].start) & (rec.time < by["d"].end - 1e-4)] == 2).all()
    assert found[0].start == 0.0 and found[-1].end == rec.time[-1]


def test_a_foot_that_never_slides_has_two_phases():
    robot = man.sole_block()
    sim = ff.Simulation(robot, ground=sliding.GROUND, law=LAW, dt=1e-4)
    pushed = [ff.Push("brick", force=(0.0, 0.3 * robot.weight, 0.0), start=0.05, duration=0.05)]
    rec = sim.run(0.1, pushes=pushed)
    assert [phase.letter for phase in sliding.sliding_phases(rec, robot.feet[0].name)] == ["a", "b"]


def test_a_block_sticks_again_by_eq_21_whatever_pulls_less_than_its_friction():
    """So the paper's 'impossible' is contradicted: without any viscous part the constant friction stops it."""
    robot = man.sole_block()
    law = dataclasses.replace(LAW, mu_ts=0.0)
    sim = ff.Simulation(robot, ground=sliding.GROUND, law=law, dt=1e-4)
    rec = sim.run(0.4, qvel=[0.5, 0, 0, 0, 0, 0], qpos=sim.run(1.0, record_dt=1.0).qpos[-1])
    assert (rec.mode[rec.time < 0.05] == 2).all(axis=1).any()
    assert (rec.mode[-1] == 1).all() and (rec.force[-1, :, 2] > 0).all()


# ---- Ott -------------------------------------------------------------------------------------------------------


def test_the_push_at_the_hip_is_at_the_joints_of_the_hips():
    robot = ff.load_robot(pushes.ROBOT)
    data = at_home(robot)
    hips = data.xanchor[robot.model.joint("left_hip_roll").id, 2] - data.xipos[robot.model.body(pushes.TRUNK).id, 2]
    assert hips == pytest.approx(pushes.HIP, abs=1e-9)
    push = pushes.sideways(0.0)
    assert push.torque[0] == pytest.approx(-pushes.HIP * push.force[1])


def test_the_pseudo_inverse_breaks_the_cones_that_the_optimisation_keeps():
    """Eq. (17) knows no inequality: leaned on sideways, a point of the unloaded foot should pull by it."""
    rec = pushes.stand(0.3, pushes.sideways(0.05, 300.0))
    arms = rec.position - ff.measure.momentum(rec).com[:, None]
    broken, kept = force_distribution._broken(rec, arms)
    assert broken > 0.0 and kept == 0.0


def test_a_robot_does_not_carry_the_pendulum_of_its_scene():
    robot = pushes.with_pendulum()
    assert robot.mass == pytest.approx(55.0)
    assert size_of(robot, robot.point_count).mass == pytest.approx(50.0)
