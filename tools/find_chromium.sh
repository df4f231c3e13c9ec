#!/bin/sh
# Makes sure that the browser tests find a Chromium, and says so when they will not. Never fails: the tests
# marked `browser` skip themselves without one.
set -u

find_chromium() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" && return
    done
    return 1
}

find_chromium >/dev/null && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing chromium for the browser tests (about 300 MB, once)."
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends chromium
    } </dev/null >/dev/null 2>&1
    find_chromium >/dev/null && exit 0
    echo "Chromium could not be installed: the browser tests will be skipped."
else
    echo "No chromium found: the browser tests will be skipped." \
        "Install it (Debian: sudo apt-get install chromium) or set CHROMIUM to its path."
fi
exit 0
