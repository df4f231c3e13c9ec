#!/bin/sh
# A person's first ten minutes, scripted and timed: from a clone to a robot of one's own that stands under three contact
# laws, with a comparison report; then the first hour, see first_hour.sh. Usage: first_ten_minutes.sh [REPOSITORY
# [FOLDER]]; fails if it takes longer.
set -eu

repository=$(cd "${1:-$(dirname "$0")/..}" && pwd)
folder=${2:-$(mktemp -d)}
begin=$(date +%s)
passed() { echo "== $(($(date +%s) - begin)) s: $1"; }

# A first start compiles: nothing that another start has kept, and no other copy, may help.
unset PYTHONPATH
FOOTFALL_CACHE="$folder/cache"
export FOOTFALL_CACHE
git clone --quiet "$repository" "$folder/footfall"
passed "cloned"
make --silent -C "$folder/footfall" install
passed "installed"
PATH="$folder/footfall/.venv/bin:$PATH"
cd "$folder"
python footfall/examples/own_robot.py
passed "a robot of one's own stands"
footfall compare stool.xml --laws spring-damper linearizing-penalty time-stepping --duration 2 --out runs/stool
test -s runs/stool/report.html
passed "it stands under three laws: open $folder/runs/stool/report.html"
test $(($(date +%s) - begin)) -le 600
mkdir hour
cd hour
sh ../footfall/tools/first_hour.sh ../footfall
