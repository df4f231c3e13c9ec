"""Pictures of recordings: the 3D viewer, the HTML report, videos.

``view(rec)`` opens the browser, ``footfall.live.LiveView`` shows a run while it is computed, ``write_report(rec,
"report.html")`` writes one file that opens anywhere, ``write_video(rec, "run.gif")`` draws with MuJoCo's renderer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footfall.show.report import write_report
    from footfall.show.video import write_video
    from footfall.show.viewer import Viewer, view

# Where each public name lives; imported on first use: a plot needs no server and no renderer.
_HOMES = {"Viewer": "viewer", "view": "viewer", "write_report": "report", "write_video": "video"}

__all__ = ["Viewer", "view", "write_report", "write_video"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"footfall.show.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'footfall.show' has no attribute '{name}'")
