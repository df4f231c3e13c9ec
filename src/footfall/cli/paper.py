"""`footfall paper`: run the experiments of a paper, claims beside measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.output import print_facts, print_json, print_table, sentences_bar
from footfall.cli.shared.usage import JsonOption, UsageError
from footfall.given_numbers import Whole

if TYPE_CHECKING:
    from footfall.papers import PaperResult

CELL = 22  # characters in a line of a value
WIDTHS = (12, 12, 40, 12, 70)  # characters in a line of each column of what is not reproduced
LEGEND = (
    "sentences: of the paper, each counted once, with the worst verdict of its claims. reproduced: holds. fitted: "
    "holds by parameters chosen with the result in view, or by definition. fragile: holds, but not with other values "
    "of what the paper leaves open. open: not reproduced. contradicted: the paper cannot be right, with proof. checks: "
    "claims derived from its equations or ours, and how many of them hold."
)


@dataclass(frozen=True)
class Paper(JsonOption):
    """Run the experiments of a paper: draw its figures, and print each claim beside what is measured.

    footfall paper rengifo2009 --only fig7,stability

    Without a name, the papers are listed; "all" runs all five and prints one table. Only sentences of a paper
    count as reproduced, each once. Exits with 1 where a claim that is listed as holding does not, or where a verdict
    changes in a challenge or with a perturbed start and is not marked as fragile.
    """

    name: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="[PAPER]", help_behavior_hint="")]] = None
    """name of a paper"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: runs/PAPER)")] = None
    """where the figures go"""
    only: Annotated[str | None, tyro.conf.arg(metavar="FIGURES")] = None
    """run only these figures or experiments, as in fig7,stability"""
    docs: Annotated[Path | None, tyro.conf.arg(metavar="PAGE.md")] = None
    """with "all": write a Markdown page, and one of each paper with every figure and claim; pictures in images/"""
    perturb: Annotated[Whole, tyro.conf.arg(metavar="N", help_behavior_hint="")] = 0
    """run everything N times more from starts that are off by up to 1e-9, and name verdicts that change"""
    challenge: bool = False
    """run everything again with other values of what the paper leaves open, and name verdicts that change"""

    def run(self) -> int:
        from footfall.papers import run_paper

        if self.name is None:
            _list(json=self.json)
            return 0
        if self.name == "all":
            return self._all()
        if self.docs is not None:
            raise UsageError("--docs is a page of all papers: footfall paper all --docs PAGE.md")
        wanted = [one.strip() for one in (self.only or "").split(",") if one.strip()]
        with sentences_bar(self.name) as progress:
            out = self.out or Path("runs") / self.name
            result = run_paper(self.name, wanted, out=out, progress=progress, **self._again)
        if self.json:
            print_json(result.to_dict())
        else:
            _show(result)
        return int(bool(result.failures or result.unstable))

    @property
    def _again(self) -> dict[str, Any]:
        return {"perturb": self.perturb, "challenge": self.challenge}

    def _all(self) -> int:
        from footfall.papers import papers, run_paper
        from footfall.papers.perform import PICTURES, not_reproduced, write_page

        if self.only is not None:
            raise UsageError("--only goes with one paper, not with all")
        plain = self.docs is not None
        out = self.docs.parent / PICTURES if self.docs is not None else self.out or Path("runs")
        with sentences_bar("all papers") as progress:
            found = [
                run_paper(name, out=out / name, progress=progress, captions=not plain, **self._again)
                for name in papers()
            ]
        if self.docs is not None:
            write_page(found, self.docs)
        if self.json:
            print_json([result.to_dict() for result in found])
        else:
            rows = [[result.paper.name, *map(str, result.counts().values())] for result in found]
            total = [sum(int(row[i]) for row in rows) for i in range(1, len(rows[0]))]
            columns = ("paper", *(f"{name}>" for name in found[0].counts()))
            print_table(columns, [*rows, ["all", *map(str, total)]], title="Sentences of the five papers")
            print(LEGEND)
            rows = [
                [fill(cell, size) for cell, size in zip(row, WIDTHS, strict=True)]
                for r in found
                for row in not_reproduced(r)
            ]
            print_table(("paper", "where", "the paper says", "verdict", "why"), rows, title="What is not reproduced")
            for result in found:
                _show_changes(result)
        return int(any(result.failures or result.unstable for result in found))


def _list(*, json: bool) -> None:
    from footfall.papers import paper, papers

    found = [paper(name) for name in papers()]
    if json:
        listed = [
            {
                "name": one.name,
                "citation": one.citation,
                "summary": one.summary,
                "experiments": [
                    {"name": e.name, "figures": list(e.figures), "title": e.title} for e in one.experiments
                ],
            }
            for one in found
        ]
        print_json(listed)
        return
    rows = [
        [
            one.name,
            f"{one.citation}\n{one.summary}",
            "\n".join(f"{', '.join(e.figures)}: {e.title}" for e in one.experiments) + "\n",
        ]
        for one in found
    ]
    print_table(("paper", "source", "what is run"), rows)
    print("footfall paper NAME runs one; --only fig7,stability a part of it.")


def _show(result: PaperResult) -> None:
    rows = []
    for claim in result.claims:
        said = [f'"{claim.sentence}":'] if claim.sentence else []
        said += [f"{claim.statement}."]
        said += [f"(tolerance {claim.tolerance})"] if claim.expected else []
        said += [f"({one})" for one in (claim.proof, claim.note) if one]
        said += [f"(fragile: {claim.fragile})"] if claim.fragile else []
        values = (fill(one, CELL) for one in (claim.paper, *claim.values()))
        rows.append([claim.figure, claim.source, "\n".join(said), *values, claim.verdict])
    columns = ("where", "source", "claim", "printed", "should be", "is", "verdict")
    print_table(columns, rows, title=f"{result.paper.name}: {result.paper.citation}")
    if result.assumptions:
        chosen = [[one.what, one.value, one.why] for one in result.assumptions]
        print_table(("assumed", "value", "why"), chosen, title="What the paper does not print")
    for text in result.paper.missing:
        print(f"Not here: {text}")
    if result.drawn:
        print_facts({name: str(path) for name, path in result.drawn.items()}, title="Figures")
    counted = ", ".join(f"{count} {name}" for name, count in result.counts().items() if count)
    print(f"Of the paper: {counted}.")
    _show_changes(result)


def _show_changes(result: PaperResult) -> None:
    """What became of verdicts in a challenge and from perturbed starts, if there were any."""
    if not result.perturbed + result.challenged:
        return
    for one in result.changes:
        mark = "fragile, as it says" if one.claim.fragile else "UNSTABLE"
        print(f"{result.paper.name}: {mark}: {one.claim.figure}: {one.claim.statement}: {one}.")
    for told in result.idle:
        print(f"{result.paper.name}: nothing that is measured depends on {told}.")
    changed = len({one.claim.statement for one in result.changes})
    print(
        f"{result.paper.name}: {len(result.claims) - changed} of {len(result.claims)} verdicts survive "
        f"{result.challenged} runs with other values of what the paper leaves open, and {result.perturbed} runs of "
        "each experiment from starts off by up to 1e-9 (m, rad, m/s, rad/s)."
    )
