"""A paper's experiments run, its claims judged and its figures drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from footfall.papers.base import VERDICTS, Assumption, Claim, Paper
from footfall.papers.drawing import draw_experiment
from footfall.simulation.task import perturbed_starts

#: m, rad, m/s and rad/s: by how much starts are moved to see whether a verdict hangs on their last digits.
OFF = 1e-9


@dataclass(frozen=True)
class Change:
    """A claim whose verdict is another one from a start that is off a little."""

    claim: Claim  # as it is
    seed: int  # of the perturbed start
    then: Claim  # as it is from there

    def __str__(self) -> str:
        values = (self.claim.values()[1], self.then.values()[1])
        return f"{self.claim.verdict} becomes {self.then.verdict} (seed {self.seed}: {values[0]} becomes {values[1]})"


@dataclass(frozen=True)
class PaperResult:
    """What came of a paper: its claims judged, and where its figures were drawn, both by experiment."""

    paper: Paper
    judged: dict[str, tuple[Claim, ...]]
    drawn: dict[str, Path]
    perturbed: int = 0  # runs from starts that are off by up to OFF
    changes: tuple[Change, ...] = ()  # what became of verdicts there

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of all experiments that were run."""
        return tuple(claim for claims in self.judged.values() for claim in claims)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the paper does not print and was chosen here."""
        return self.paper.assumptions

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims of which we say that they hold, and that do not."""
        return tuple(claim for claim in self.claims if claim.failed)

    @property
    def unstable(self) -> tuple[Change, ...]:
        """Verdicts that changed from a perturbed start without the claim being marked as fragile or timed."""
        return tuple(one for one in self.changes if not (one.claim.fragile or one.claim.timed))

    def counts(self) -> dict[str, int]:
        """How many claims the paper prints, and how many claims have each verdict."""
        printed = sum(claim.source in ("printed", "fitted") for claim in self.claims)
        return {"printed": printed} | {name: sum(c.verdict == name for c in self.claims) for name in VERDICTS}

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "paper": self.paper.name,
            "citation": self.paper.citation,
            "passed": not self.failures and not self.unstable,
            "counts": self.counts(),
            "claims": [asdict(claim) | {"verdict": claim.verdict} for claim in self.claims],
            "assumptions": [asdict(one) for one in self.assumptions],
            "perturbed": {
                "runs": self.perturbed,
                "off": OFF,
                "changes": [
                    {
                        "statement": one.claim.statement,
                        "seed": one.seed,
                        "then": one.then.verdict,
                        "ours": one.then.ours,
                    }
                    for one in self.changes
                ],
            },
            "missing": list(self.paper.missing),
            "figures": {name: str(path) for name, path in self.drawn.items()},
        }


def perform(
    paper: Paper,
    figures: Sequence[str] | None = None,
    out: Path | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    captions: bool = True,
    perturb: int = 0,
) -> PaperResult:
    """Run a paper's experiments and judge its claims; draw into the folder ``out`` if one is given.

    ``figures`` names the experiments or figures wanted. ``progress`` is called with what is being done. With
    ``captions`` the claims stand below the curves. ``perturb`` is how often everything is run again from starts that
    are off by up to ``OFF``.
    """
    changes: list[Change] = []
    judged: dict[str, tuple[Claim, ...]] = {}
    drawn: dict[str, Path] = {}
    for experiment in paper.chosen(figures):
        if progress is not None:
            progress(f"{', '.join(experiment.figures)}: {experiment.title}")
        data = experiment.run()
        judged[experiment.name] = tuple(experiment.judge(data))
        if out is not None:
            below = judged[experiment.name] if captions else ()
            drawn[experiment.name] = draw_experiment(paper, experiment, data, below, out)
        for seed in range(1, perturb + 1):
            if progress is not None:
                progress(f"{', '.join(experiment.figures)}: start {seed} of {perturb} that is off by {OFF:g}")
            with perturbed_starts(seed, OFF):
                again = experiment.judge(experiment.run())
            pairs = zip(judged[experiment.name], again, strict=True)
            changes += [Change(claim, seed, then) for claim, then in pairs if then.verdict != claim.verdict]
    return PaperResult(paper, judged, drawn, perturb, tuple(changes))
