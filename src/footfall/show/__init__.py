"""Pictures of recordings: the 3D viewer, the HTML report, videos.

``view(rec)`` opens the browser, ``footfall.live.LiveView`` shows a run while it is computed, ``write_report(rec,
"report.html")`` writes one file that opens anywhere, ``write_video(rec, "run.gif")`` draws with MuJoCo's renderer.
"""

from footfall.show.report import write_report
from footfall.show.video import write_video
from footfall.show.viewer import Viewer, view

__all__ = ["Viewer", "view", "write_report", "write_video"]
