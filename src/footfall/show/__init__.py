"""Pictures of recordings: the 3D viewer, the HTML report, videos.

    view(rec)                          # in the browser, needs the extra "view"
    write_report(rec, "report.html")   # one file that opens anywhere
    write_video(rec, "run.mp4")        # through MuJoCo's renderer
"""

from footfall.show.report import write_report
from footfall.show.video import write_video
from footfall.show.viewer import LiveView, Viewer, view

__all__ = ["LiveView", "Viewer", "view", "write_report", "write_video"]
