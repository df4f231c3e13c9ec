"""The same push under three laws: a table, a figure, and one page with the replays side by side."""

import footfall as ff
from footfall.show.plots import save_plot

found = ff.compare(
    "spatial-biped",
    laws=["spring-damper", "linearizing-penalty", "time-stepping"],
    controller="posture",
    pushes=[ff.Push("trunk", force=(60, 30, 0), start=0.5, duration=0.1)],  # N, s
    duration=1.5,
)
print(found)
save_plot(found.plot("grf"), "grf.png")
page = found.report("laws.html")
print(f"open {page} in a browser: sort the table, choose a law to differ from, play")
