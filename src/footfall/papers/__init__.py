"""The papers behind Footfall: their experiments are run, their claims judged, their figures drawn.

    footfall paper rengifo2009
    result = run_paper("rengifo2009", ["fig4"])
    result.claims, result.assumptions

To add a paper: write a package here with its file ``paper.toml``, and add its name to ``_READ``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from footfall.arguments import public
from footfall.errors import FootfallError, did_you_mean
from footfall.papers.base import Assumption, Claim, Experiment, Paper
from footfall.papers.perform import PaperResult, perform

__all__ = ["Assumption", "Claim", "Experiment", "Paper", "PaperResult", "paper", "papers", "run_paper"]

#: By name: how the paper is read.
_READ: dict[str, Callable[[], Paper]] = {
    name: partial(Paper.read, f"{__name__}.{name}")
    for name in ("rengifo2009", "bruneau1999", "moraud2008", "ott2011", "bravo2021")
}


def papers() -> tuple[str, ...]:
    """Names of the papers, as ``run_paper`` takes them."""
    return tuple(_READ)


@public
def paper(name: str) -> Paper:
    """A paper by its name."""
    if name not in _READ:
        raise FootfallError(f"no paper is called '{name}': {did_you_mean(name, _READ)}")
    return _READ[name]()


@public
def run_paper(
    name: str,
    figures: Sequence[str] | None = None,
    *,
    out: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
    challenge: bool = False,
) -> PaperResult:
    """Run a paper's experiments, all or those of some ``figures``, and judge its claims.

    With ``out``, each experiment is drawn as a PNG into that folder. ``progress`` is called with what is being done.
    With ``challenge`` it is also run with other values of what the paper leaves open.
    """
    folder = None if out is None else Path(out)
    return perform(paper(name), figures, folder, progress or (lambda _: None), challenge=challenge)
