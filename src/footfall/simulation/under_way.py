"""Running worlds, which can be neither pickled nor copied."""

from __future__ import annotations

from typing import Any, NoReturn


class UnderWay:
    """An object whose memory compiled code works in."""

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is under way, and cannot be pickled or copied: send its simulation, and of a World "
            "its state(), which another restores"
        )
