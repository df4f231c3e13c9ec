#!/bin/sh
# A person's first hour after first_ten_minutes.sh: eight tasks with what the pages of docs/ show, each with its outcome
# asserted and its time told. Usage: first_hour.sh [REPOSITORY], in an empty folder, with footfall and its python on the
# PATH; fails at the first task that does not come to what it should.
set -eu

pages=$(cd "${1:-$(dirname "$0")/..}/docs" && pwd)
begin=$(date +%s)
passed() { echo "== $(($(date +%s) - begin)) s: $1"; }
# The programs of a page, from the first to that number.
programs() { python -c '
import re, sys
page, count = open(sys.argv[1], encoding="utf-8").read(), int(sys.argv[2])
for text in re.findall(r"```python\n(.*?)```", page, re.S)[:count]:
    exec(compile(text, sys.argv[1], "exec"))' "$pages/$1" "$2"; }
# Whether something that Python says of a file is true.
holds() { python -c "import json, csv, sys; assert $1, sys.argv" "$2"; }

programs start/your-robot.md 1
footfall run robot.urdf --duration 2s
footfall walk robot.urdf --steps 5 --out runs/walker
footfall report runs/walker
test -s runs/walker/report.html
passed "1 of 8: a URDF of one's own stands and walks"
footfall push-limit robot.urdf --laws linearizing-penalty --within 0.3 --json > limits.json
holds "all(0 < one['survived'] < one['failed'] for one in json.load(open('limits.json')))" limits.json
passed "2 of 8: the largest push from four sides is known"
footfall compare robot.urdf --laws spring-damper time-stepping mujoco --duration 2s --out runs/laws
test -s runs/laws/report.html
passed "3 of 8: it stands under three laws, compared on one page"
footfall new law rubber
python rubber.py
footfall run brick --import rubber.py --law rubber --duration 1s
passed "4 of 8: a law of one's own"
footfall new controller hold
footfall run spatial-biped --controller hold.py --duration 1s
passed "5 of 8: a controller of one's own"
cat > friction.toml << 'END'
measures = ["slip_distance_m", "fell"]
[simulation]
robot = "brick"
duration = 0.5
push = { body = "brick", size = 3.0, angle = 0.0, start = 0.1, duration = 0.2 }
[grid]
"ground.friction" = [0.05, 0.2, 0.8]
END
footfall sweep friction.toml --plot friction.png
holds "[float(r['slip_distance_m']) for r in csv.DictReader(open('friction/table.csv'))][-1] < 1e-3 < [float(r['slip_distance_m']) for r in csv.DictReader(open('friction/table.csv'))][0]" friction
passed "6 of 8: a sweep of friction, with its table and plot"
python -c 'import gymnasium' || python -m pip install --quiet gymnasium
programs guides/learn.md 1
passed "7 of 8: an environment for learning"
footfall export runs/walker walk.csv
footfall export runs/walker walk.mot
test -s walk.csv && test -s walk.mot
passed "8 of 8: exports for other tools"
test $(($(date +%s) - begin)) -le 3600
