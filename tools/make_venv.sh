#!/bin/sh
# Usage: make_venv.sh DIRECTORY [PYTHON]. Creates a virtual environment with a Python that Footfall supports:
# the one named, else python3, else the newest python3.1x on the path.
set -eu

directory=$1
wanted=${2:-}

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# Runs the candidate rather than trusting its name: a name on the path may be a shim with nothing behind it.
is_between() {
    "$1" -c "import sys; sys.exit(not ($2) <= sys.version_info[:2] <= ($3))" 2>/dev/null
}

python=
for candidate in ${wanted:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if is_between "$candidate" 3,11 3,14; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ] && is_between "${wanted:-python3}" 3,15 3,99; then
    python=${wanted:-python3}
    echo "Python $(version_of "$python") is newer than some of the locked packages: installing may need a C compiler."
fi
if [ -z "$python" ]; then
    version=$(version_of "${wanted:-python3}" || true)
    echo "Footfall needs Python 3.11 or newer; ${wanted:-python3} is ${version:-not there}." \
        "Install one, or name it: make PYTHON=python3.12 ..." >&2
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian ships these two modules apart from Python itself.
    package=python$(version_of "$python")-venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing ${package}, which ${python} needs to create environments."
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq </dev/null || true
        apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null || {
            echo "${package} could not be installed; install it by hand, then run make again." >&2
            exit 1
        }
    else
        echo "${python} cannot create environments: its module ensurepip is missing." \
            "On Debian or Ubuntu: sudo apt-get install ${package}" >&2
        exit 1
    fi
fi

echo "Creating ${directory} with $("$python" --version)."
"$python" -m venv --clear "$directory" || {
    rm -rf "$directory"
    exit 1
}
# The pip that Python brings is as old as Python; today's takes half the time. Without a network it stays.
"$directory/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --upgrade pip 2>/dev/null || true
