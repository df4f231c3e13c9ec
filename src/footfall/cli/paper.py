"""`footfall paper`: run the experiments of a paper, claims beside measurements."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from footfall.cli.shared.output import print_facts, print_json, print_table, sentences_bar, tell
from footfall.cli.shared.usage import JsonOption, UsageError, argument, option
from footfall.papers import PaperResult, paper, papers, run_paper
from footfall.papers.perform import PICTURES, not_reproduced, write_page

CELL = 22  # characters in a line of a value
LEGEND = (
    "sentences: of the paper, each counted once, with the worst verdict of its claims. reproduced: holds. fitted: "
    "holds by parameters chosen with the result in view, or by definition. fragile: holds, but not with other values "
    "of what the paper leaves open. open: not reproduced. contradicted: the paper cannot be right, with proof. checks: "
    "claims derived from its equations or ours, and how many of them hold."
)


class Paper(JsonOption):
    """Run the experiments of a paper: draw its figures, and print each claim beside what is measured.

    footfall paper rengifo2009 --only fig7,stability

    Without a name, the papers are listed; "all" runs all five and prints one table. Only sentences of a paper
    count as reproduced, each once. Exits with 1 where a claim that is listed as holding does not, or where a verdict
    changes in a challenge and is not marked as fragile.
    """

    name: str | None = argument("[PAPER]", "name of a paper", None)
    out: Path | None = option(None, "where the figures go", "DIR", note="(default: runs/PAPER)")
    only: str | None = option(None, "run only these figures or experiments, as in fig7,stability", "FIGURES")
    docs: Path | None = option(
        None,
        'with "all": write a Markdown page, and one of each paper with every figure and claim; pictures in images/',
        metavar="PAGE.md",
    )
    challenge: bool = option(
        False, "run everything again with other values of what the paper leaves open, and name verdicts that change"
    )

    def run(self) -> int:
        if self.name is None:
            return _list(json=self.json)
        every = self.name == "all"
        if self.docs is not None and not every:
            raise UsageError("--docs is a page of all papers: footfall paper all --docs PAGE.md")
        if self.only is not None and every:
            raise UsageError("--only goes with one paper, not with all")
        wanted = [one.strip() for one in (self.only or "").split(",") if one.strip()]
        folder = self.out or Path("runs") if self.docs is None else self.docs.parent / PICTURES
        found = []
        with sentences_bar("all papers" if every else self.name) as progress:
            for name in papers() if every else (self.name,):
                out = folder if self.out is not None and not every else folder / name
                found.append(run_paper(name, wanted, out=out, progress=progress, challenge=self.challenge))
        if self.docs is not None:
            write_page(found, self.docs)
        if self.json:
            told = [result.to_dict() for result in found]
            print_json(told if every else told[0])
        elif every:
            _show_all(found)
        else:
            _show(found[0])
        return int(any(result.failures or result.unstable for result in found))


def _list(*, json: bool) -> int:
    found = [paper(name) for name in papers()]
    told = [
        {
            "name": one.name,
            "citation": one.citation,
            "summary": one.summary,
            "experiments": [{"name": e.name, "figures": list(e.figures), "title": e.title} for e in one.experiments],
        }
        for one in found
    ]

    def show() -> None:
        rows = []
        for one in found:
            run = "\n".join(f"{', '.join(e.figures)}: {e.title}" for e in one.experiments)
            rows.append([one.name, f"{one.citation}\n{one.summary}", f"{run}\n"])
        print_table(("paper", "source", "what is run"), rows)
        print("footfall paper NAME runs one; --only fig7,stability a part of it.")

    return tell(json, told, show)


def _show_all(found: list[PaperResult]) -> None:
    counts = [result.counts() for result in found]
    rows = [[result.paper.name, *map(str, own.values())] for result, own in zip(found, counts, strict=True)]
    total = ["all", *(str(sum(own[name] for own in counts)) for name in counts[0])]
    columns = ("paper", *(f"{name}>" for name in counts[0]))
    print_table(columns, [*rows, total], title="Sentences of the five papers")
    print(LEGEND)
    open_ones = (row for result in found for row in not_reproduced(result))
    print_table(("paper", "where", "the paper says", "verdict", "why"), open_ones, title="What is not reproduced")
    for result in found:
        _show_changes(result)


def _show(result: PaperResult) -> None:
    rows = []
    for claim in result.claims:
        values = (fill(one, CELL) for one in (claim.paper, *claim.values()))
        rows.append([claim.figure, claim.source, "\n".join(claim.told).replace("*", ""), *values, claim.verdict])
    columns = ("where", "source", "claim", "printed", "should be", "is", "verdict")
    print_table(columns, rows, title=f"{result.paper.name}: {result.paper.citation}")
    chosen = [[one.what, one.value, one.why] for one in result.assumptions]
    print_table(("assumed", "value", "why"), chosen, title="What the paper does not print")
    for text in result.paper.missing:
        print(f"Not here: {text}")
    print_facts({name: str(path) for name, path in result.drawn.items()}, title="Figures")
    counted = ", ".join(f"{count} {name}" for name, count in result.counts().items() if count)
    print(f"Of the paper: {counted}.")
    _show_changes(result)


def _show_changes(result: PaperResult) -> None:
    """What became of verdicts in a challenge, if there was one."""
    if not result.challenged:
        return
    for one in result.changes:
        mark = "fragile, as it says" if one.claim.fragile else "UNSTABLE"
        print(f"{result.paper.name}: {mark}: {one.claim.figure}: {one.claim.statement}: {one}.")
    changed = len({one.claim.statement for one in result.changes})
    print(
        f"{result.paper.name}: {len(result.claims) - changed} of {len(result.claims)} verdicts survive "
        f"{result.challenged} runs with other values of what the paper leaves open."
    )
