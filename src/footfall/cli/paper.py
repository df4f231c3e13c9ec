"""`footfall paper`: the experiments of a paper, claimed against measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import tyro

from footfall.cli.output import print_facts, print_json, print_table, say

if TYPE_CHECKING:
    from footfall.papers import PaperResult

CELL = 22  # characters in a line of a value


@dataclass(frozen=True)
class Command:
    """Run the experiments of a paper: draw each figure beside the paper's statement, print claimed against measured.

    footfall paper rengifo2009 --only fig4,fig7

    Without a name, the papers are listed. Exits with 1 where a claim that we say we reproduce does not hold.
    """

    name: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="[PAPER]", help_behavior_hint="")]] = None
    """name of a paper"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: runs/PAPER)")] = None
    """where the figures go"""
    only: Annotated[str | None, tyro.conf.arg(metavar="FIGURES", help_behavior_hint="")] = None
    """run only these figures or experiments, as in fig4,fig7"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.papers import run_paper

        if self.name is None:
            _list(json=self.json)
            return 0
        wanted = [one.strip() for one in (self.only or "").split(",") if one.strip()]
        result = run_paper(self.name, wanted, out=self.out or Path("runs") / self.name, progress=say)
        if self.json:
            print_json(result.to_dict())
        else:
            _show(result)
        return int(bool(result.failures))


def _list(*, json: bool) -> None:
    from footfall.papers import paper, papers

    found = [paper(name) for name in papers()]
    if json:
        told = [
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
        print_json(told)
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
    print("footfall paper NAME runs one; --only fig4,fig7 a part of it.")


def _show(result: PaperResult) -> None:
    rows = []
    for claim in result.claims:
        said = [f"{claim.statement}.", f"(tolerance {claim.tolerance})" if claim.reproduced else f"({claim.note})"]
        if claim.reproduced and claim.note:
            said.append(f"({claim.note})")
        rows.append([claim.figure, "\n".join(said), *(fill(one, CELL) for one in claim.values()), claim.verdict])
    columns = ("where", "the paper says", "claimed", "measured", "verdict")
    print_table(columns, rows, title=f"{result.paper.name}: {result.paper.citation}")
    if result.assumptions:
        chosen = [[one.what, one.value, one.why] for one in result.assumptions]
        print_table(("assumed", "value", "why"), chosen, title="What the paper does not print")
    for text in result.paper.missing:
        print(f"Not here: {text}")
    if result.drawn:
        print_facts({name: str(path) for name, path in result.drawn.items()}, title="Figures")
    claimed_ones = [claim for claim in result.claims if claim.reproduced]
    others = len(result.claims) - len(claimed_ones)
    print(
        f"{len(claimed_ones) - len(result.failures)} of {len(claimed_ones)} claims that we say we reproduce hold"
        + (f"; {others} more are reported as they are." if others else ".")
    )
