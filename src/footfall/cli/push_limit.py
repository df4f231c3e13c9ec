"""`footfall push-limit`: the largest push that a robot survives under each law."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from footfall.cli.shared.output import LawsOptions, given, print_json, print_table, say, sentences_bar
from footfall.cli.shared.task import PushOptions, SettingOptions, parse_push
from footfall.cli.shared.usage import JsonOption, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footfall.robot import Robot
    from footfall.study.largest_push import PushLimit as Limit

#: The first try where no push is given, times the weight.
FIRST = 0.1


class PushLimit(SettingOptions, PushOptions, LawsOptions, JsonOption):
    """Find the largest push that a robot survives under each contact law, by bisection.

    footfall push-limit spatial-biped

    footfall push-limit torque-biped --controller balance --push "70 N y hip 0.05 s at 0.2 s"

    Without --push the root is pushed forward, back, left and right for 0.1 s. The size of the push is only the first
    try. A robot survives if it has not fallen some time after the push and its capture point is within the support; of
    one that walks only the fall counts.
    """

    wait: float = option(1.5, "time after the push at which the robot must be safe", unit="s")
    within: float = option(0.05, "relative accuracy of the answer")

    def run(self) -> int:
        from footfall.study.largest_push import largest_pushes

        robot, laws = self.chosen_robot(), list(self.chosen_laws())
        task: dict[str, Any] = {"controller": self.chosen_controller(), "ground": self.chosen_ground()}
        task |= given(self, "dt", "wait", "within")
        first = f"{FIRST * robot.weight:.3g}"
        texts = self.push or tuple(f"{first} N {way} base 0.1 s at 0.5 s" for way in ("x", "-x", "y", "-y"))
        pushes = [parse_push(text, robot) for text in texts]
        with sentences_bar(robot.name) as report:

            def show(law: str, i: int, size: float, survived: bool) -> None:
                push = f"{size:.4g} {texts[i].split(maxsplit=1)[-1]}"
                report(f"{law}: {push} {'is survived' if survived else 'is too much'}")

            try:
                limits = largest_pushes(robot, pushes, laws=laws, progress=show, **task)
            except KeyboardInterrupt as interrupt:
                self._show(robot, texts, getattr(interrupt, "found", []))
                raise
        self._show(robot, texts, limits)
        return 0

    def _show(self, robot: Robot, texts: Sequence[str], limits: list[tuple[Limit, ...]]) -> None:
        """The limits of each push, as far as they were found."""
        found = [(text, one) for text, several in zip(texts, limits, strict=False) for one in several]
        if self.json:
            print_json([{"push": text, **asdict(one)} for text, one in found])
            return
        if not found:
            return
        rows = []
        for text, one in found:
            too_much = f"{one.failed:.4g} {one.unit}" if one.failed < math.inf else "–"
            rows.append([text, one.law, f"{one.survived:.4g} {one.unit}", too_much, one.why])
        columns = ("push like", "law", "survived>", "too much>", "what then")
        print_table(columns, rows, title=f"{robot.name}: the largest push that is survived")
        say(f"{sum(one.runs for _, one in found)} runs")
