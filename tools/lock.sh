#!/bin/sh
# Usage: lock.sh UV [uv options, such as --upgrade]. Writes requirements/dev.txt (all of it) and
# requirements/run.txt (what a user needs), with the same versions in both. Settings of this machine are set
# aside, lest a file from another source than the ordinary index be locked.
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

compile requirements/dev.txt pyproject.toml --extra plot --extra dev "$@"
printf 'hatchling\neditables\n' |
    compile requirements/run.txt pyproject.toml - --extra plot --constraint requirements/dev.txt
