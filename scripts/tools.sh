#!/usr/bin/env bash
# Tools that a few tests look through: strace (who calls fsync), libfaketime (wrong clocks) and a
# browser (the page). In continuous integration they are installed if missing; elsewhere the tests
# that lack them are skipped, and this says so.
set -euo pipefail
missing=()
command -v strace > /dev/null || missing+=(strace)
command -v faketime > /dev/null || missing+=(faketime)
command -v chromium > /dev/null || command -v chromium-browser > /dev/null ||
  command -v google-chrome > /dev/null || missing+=(chromium)
[ "${#missing[@]}" -gt 0 ] || exit 0
if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq "${missing[@]}" > /dev/null && exit 0
fi
echo "without ${missing[*]}: the tests that need it are skipped"
