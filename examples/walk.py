"""A biped plans five steps and walks them; how fast, how hard it lands, and a page with the replay."""

import footfall as ff
from footfall.control import Walk
from footfall.measure import impacts, momentum, phases

rec = ff.Simulation("spatial-biped", law="linearizing-penalty").run(4.0, controller=Walk(speed=0.4, steps=5))
travelled = momentum(rec).com[-1, 0] - momentum(rec).com[0, 0]
stances = phases(rec).stances
print(f"{travelled:.2f} m in {rec.duration:.1f} s, {len(stances)} stances, fell: {rec.summary()['fell']}")
for hit in impacts(rec):
    print(hit)
print(f"open {rec.report('walk.html')} in a browser")
