"""`footfall paper`: what it prints, what it leaves, and how it ends."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import footfall.papers
from footfall.cli import main
from footfall.errors import FootfallError
from footfall.papers import Assumption, Experiment, Paper, papers
from footfall.papers.base import Sentence, Vary, Wording, near, seen, unlike
from footfall.papers.perform import VERDICTS, Change, PaperResult, shrink


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The command leaves figures under the current directory."""
    monkeypatch.chdir(tmp_path)


FINGERS = 1.0


def invented(ours: float) -> Paper:
    """A paper that says 1."""

    def judge(data):
        return [
            near("counted", 1.0, data, unit="m", rel=0.1),
            near("again", FINGERS, data, unit="m", rel=0.1),
            unlike("pigs", "no", should="yes"),
            seen("pink", "yes", should="yes", holds=True),
        ]

    def draw(figure, data):
        figure.subplots().plot([0.0, data])

    experiment = Experiment(
        name="one",
        figures=("fig1",),
        title="counting",
        run=lambda: ours,
        judge=judge,
        draw=draw,
        height=2.0,
        varies=(Vary("fingers", __name__, "FINGERS", (1.01, 3.0)),),
    )
    return Paper(
        name="invented",
        citation="Nobody, Nowhere, never",
        summary="one",
        experiments=(experiment,),
        assumptions=(Assumption("pigs", "pink", "not printed"),),
        missing=("the rest",),
        sentences={"one": Sentence("fig1", "One is one", "1 m"), "pigs": Sentence("fig1", "Pigs fly")},
        claims={
            "counted": Wording("printed", "one", "counted", "a test"),
            "again": Wording("printed", "one", "counted again", "a test"),
            "pigs": Wording("printed", "pigs", "looked up", note="Physics"),
            "pink": Wording("ours", "fig1", "They are pink", "looked at"),
        },
    )


@pytest.fixture
def register(monkeypatch):
    def put(ours: float) -> None:
        monkeypatch.setitem(footfall.papers._READ, "invented", lambda: invented(ours))

    return put


def test_a_claim_that_does_not_hold_ends_with_one(register, capsys):
    register(2.0)
    assert main(["paper", "invented"]) == 1
    out = capsys.readouterr().out
    assert "FAILS" in out
    assert "Of the paper: 2 sentences, 1 open, 1 FAILS, 1 checks, 1 hold." in out


def test_claims_that_hold_end_with_zero_and_leave_a_figure(register, capsys, tmp_path):
    register(1.05)
    assert main(["paper", "invented"]) == 0
    out = capsys.readouterr().out
    for word in (
        "One is one",
        "counted again",
        "1.05 m",
        "10 %: a test",
        "reproduced",
        "open",
        "pigs",
        "pink",
        "Not here: the rest",
    ):
        assert word in out
    assert (tmp_path / "runs" / "invented" / "one.png").stat().st_size > 5000


def test_json_tells_the_same(register, capsys, tmp_path):
    register(2.0)
    assert main(["paper", "invented", "--json", "--out", str(tmp_path / "here")]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is False and told["counts"]["FAILS"] == 1
    assert [claim["verdict"] for claim in told["claims"]] == ["FAILS", "FAILS", "open", "holds"]
    assert [one["verdict"] for one in told["sentences"]] == ["FAILS", "open"]
    assert told["sentences"][0]["claims"] == ["counted", "counted again"]
    assert told["sentences"][0]["tried"] == ["fingers: 1.01, 3.0"]
    assert [one["prints"] for one in told["sentences"]] == ["1 m", ""]
    assert told["figures"]["one"] == str(tmp_path / "here" / "one.png")
    assert told["assumptions"][0]["what"] == "pigs"


def test_without_a_name_the_papers_are_listed(capsys):
    assert main(["paper"]) == 0
    out = capsys.readouterr().out
    for name in papers():
        assert name in out
    assert main(["paper", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told] == list(papers())
    assert "fig4" in told[0]["experiments"][0]["figures"]


def test_an_unknown_paper_or_figure_ends_with_one_sentence(capsys):
    assert main(["paper", "rengifo"]) == 1
    assert "no paper is called 'rengifo': did you mean 'rengifo2009'" in capsys.readouterr().err
    assert main(["paper", "rengifo2009", "--only", "fig99"]) == 1
    assert "has no figure 'fig99' here" in capsys.readouterr().err


def test_only_runs_a_part(monkeypatch, capsys, tmp_path):
    whole = invented(1.05)
    (one,) = whole.experiments
    parts = replace(whole, experiments=(one, replace(one, name="two", figures=("fig2", "section2"))))
    monkeypatch.setitem(footfall.papers._READ, "invented", lambda: parts)
    assert main(["paper", "invented", "--only", "fig2, ", "--out", str(tmp_path)]) == 0
    assert "Of the paper: 2 sentences, 1 reproduced, 1 open, 1 checks, 1 hold." in capsys.readouterr().out
    assert [path.name for path in tmp_path.glob("*.png")] == ["two.png"]


def test_all_papers_are_one_table(monkeypatch, capsys):
    monkeypatch.setattr(footfall.papers, "_READ", {"invented": lambda: invented(1.05)})
    assert main(["paper", "all"]) == 0
    out = capsys.readouterr().out
    assert "invented" in out and "sentences: of the paper, each counted once" in out
    assert "What is not reproduced" in out and "Pigs fly" in out and "Physics" in out
    assert "One is one" not in out
    assert main(["paper", "all", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    counts = told["counts"]
    assert counts["sentences"] == 2 == sum(counts[verdict] for verdict in VERDICTS)
    assert (counts["reproduced"], counts["open"], counts["checks"], counts["hold"]) == (1, 1, 1, 1)
    assert main(["paper", "all", "--only", "fig1"]) == 2


def test_all_papers_make_a_page_and_one_each(monkeypatch, tmp_path):
    """With a paper of one claim for all, so that it takes no minutes."""
    monkeypatch.setattr(footfall.papers, "_READ", {"invented": lambda: invented(1.0)})
    assert main(["paper", "all", "--docs", "site/papers.md"]) == 0
    index = (tmp_path / "site" / "papers.md").read_text(encoding="utf-8")
    assert "| [invented](papers/invented.md) |" in index
    page = (tmp_path / "site" / "papers" / "invented.md").read_text(encoding="utf-8")
    assert "![counting](../images/papers/invented/one.png)" in page
    assert (tmp_path / "site" / "images" / "papers" / "invented" / "one.png").stat().st_size > 1000
    row = "| fig. 1 | “One is one”: counted. *Tolerance: 10 %: a test.* | 1 m | 1 m | 1 m | **reproduced** (printed) |"
    assert row in page
    assert "| fig. 1 | “Pigs fly”: looked up. Physics. |  | yes | no | **open** (printed) |" in page
    assert "| invented | fig. 1 | “Pigs fly” | open | Physics |" in index
    assert "varied by a challenge: fingers: 1.01, 3.0." in page
    assert "| pigs | pink | not printed |" in page and "Not here: the rest" in page


def test_a_page_is_of_all_papers(register, capsys):
    register(1.0)
    assert main(["paper", "invented", "--docs", "page.md"]) != 0
    assert "footfall paper all --docs PAGE.md" in capsys.readouterr().err


def test_a_challenge_varies_what_the_paper_leaves_open(register, capsys):
    """Three fingers are not one; that there are ten of them in the end does not matter to the other claims."""
    register(1.0)
    assert main(["paper", "invented"]) == 0
    assert main(["paper", "invented", "--challenge", "--json"]) == 1
    told = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    (change,) = told["challenged"]["changes"]
    assert (change["statement"], change["changed"], change["then"]) == ("counted again", "fingers: 3.0", "FAILS")
    assert told["challenged"]["varied"] == 2 and FINGERS == 1.0
    assert main(["paper", "invented", "--challenge"]) == 1
    assert "UNSTABLE: fig1: counted again: reproduced becomes FAILS (fingers: 3.0" in capsys.readouterr().out


def test_a_claim_that_is_fragile_says_so_and_survives():
    one = invented(1.0)
    words = one.claims["counted"]._replace(fragile="on fingers")
    claim = replace(one, claims={"counted": words}).claim(near("counted", 1.0, 1.0, rel=0.1))
    assert claim.verdict == "fragile"
    result = PaperResult(one, {"one": (claim,)}, {}, changes=(Change(claim, "fingers: 3.0", "FAILS", "3"),))
    assert result.unstable == () and result.counts()["fragile"] == 1


def test_a_claim_or_a_sentence_that_the_paper_does_not_have_is_refused():
    one = replace(invented(1.0), claims={"counted": Wording("printed", "two", "counted", "a test")})
    with pytest.raises(FootfallError, match="no sentence 'two'"):
        one.claim(near("counted", 1.0, 1.0, rel=0.1))
    with pytest.raises(FootfallError, match="no claim 'told'"):
        one.claim(near("told", 1.0, 1.0, rel=0.1))


def test_a_thin_line_keeps_its_colour_in_a_small_picture(tmp_path):
    """Forty green pixels beside thousands in shades of blue are green afterwards."""
    image = pytest.importorskip("PIL.Image")
    rng, pixels = np.random.default_rng(0), np.full((200, 300, 3), 255, dtype=np.uint8)
    shade, places = rng.random((20_000, 1)), rng.integers((0, 0), (200, 300), (20_000, 2))
    pixels[places[:, 0], places[:, 1]] = 255 * (1 - shade) + np.array([0, 114, 178]) * shade
    pixels[100, :40] = (0, 158, 115)
    image.fromarray(pixels).save(tmp_path / "lines.png")
    shrink(tmp_path / "lines.png")
    with image.open(tmp_path / "lines.png") as small:
        line = np.asarray(small.convert("RGB"))[100, :40]
    assert np.abs(line.astype(int) - (0, 158, 115)).max() <= 2
