"""Lanes of a simulated GPU: coroutines that run one after the other from barrier to barrier."""

from __future__ import annotations

from collections.abc import Callable

from greenlet import greenlet


class Lane(greenlet):
    """One lane of a block; what it raises reaches whoever lets lanes take turns."""

    def __init__(self, function: Callable[[], None], number: int) -> None:
        super().__init__(function)
        self.number = number

    def syncthreads(self) -> None:
        """Wait until all other lanes are here too."""
        self.parent.switch()


def take_turns(lanes: list[Lane]) -> None:
    """Run lanes to their ends, in order and against it by turns, so that a missing barrier is seen."""
    while lanes:
        for lane in lanes:
            lane.switch()
        lanes = [lane for lane in reversed(lanes) if not lane.dead]
