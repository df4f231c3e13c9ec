"""A picture of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.errors import StudyError, did_you_mean
from footfall.show.style import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.study.sweep.table import SweepTable


def scatter(table: SweepTable, output: str, over: str | None) -> Figure:
    """One output over one numeric input (the first that varies), a colour for each value of a text input."""
    import matplotlib.pyplot as plt

    numeric = [name for name in table.inputs if table[name].dtype.kind in "if" and np.ptp(table[name]) > 0]
    texts = [name for name in table.inputs if table[name].dtype.kind in "UO"]
    if output not in table.outputs:
        raise StudyError(f"the study has no output '{output}': {did_you_mean(output, table.outputs)}")
    along = over if over is not None else next(iter(numeric), None)
    if along not in numeric:
        raise StudyError(f"'{along}' is no input with different numbers; such are: {', '.join(numeric) or 'none'}")
    figure, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    groups = np.array(["" for _ in range(len(table))]) if not texts else table[texts[0]]
    for g, group in enumerate(np.unique(groups)):
        own = groups == group
        color = COLORS[g % len(COLORS)]
        ax.scatter(table[along][own], table[output][own].astype(float), s=14, alpha=0.7, color=color, label=str(group))
    ax.set_xlabel(along)
    ax.set_ylabel(output)
    ax.set_title(f"{output} of {len(table)} cases")
    if texts:
        figure.legend(loc="outside lower center", ncols=4)
    return figure
