#!/bin/sh
# Usage: lock.sh UV [uv options, such as --upgrade]. Writes requirements/run.txt (what a user needs) and
# requirements/dev.txt (what the tests need besides), which fit each other and are installed side by side. Settings
# of this machine are set aside, lest a file from another source than the ordinary index be locked.
set -eu

uv=$1
shift

compile() {
    target=$1
    shift
    echo "Resolving ${target}."
    env -u UV_FIND_LINKS -u UV_INDEX -u UV_EXTRA_INDEX_URL -u UV_INDEX_URL -u UV_DEFAULT_INDEX \
        UV_CUSTOM_COMPILE_COMMAND="make lock" \
        "$uv" pip compile --quiet --no-config --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
        --output-file "$target" "$@"
}

whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
cat requirements/run.txt requirements/dev.txt >"$whole" # versions are kept where they can be
compile "$whole" pyproject.toml --extra plot --extra dev "$@"
printf 'hatchling\neditables\n' |
    compile requirements/run.txt pyproject.toml - --extra plot --constraint "$whole"
awk '/^[^ #]/ { split($1, name, "=="); known = name[1] in run } NR == FNR { run[name[1]] } NR != FNR && !known' \
    requirements/run.txt "$whole" >requirements/dev.txt
