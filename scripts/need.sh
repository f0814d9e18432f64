#!/usr/bin/env bash
# Checks that the tools named are there and new enough: need.sh node=20 npm=10 go=1.26
# Says all that is missing at once, with the version wanted and what to do.
set -u
status=0

complain() {
  echo "missing: $1" >&2
  status=1
}

version_of() {
  case $1 in
    go) go env GOVERSION 2>/dev/null | sed 's/^go//' ;;
    *) "$1" --version 2>/dev/null | head -n 1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 ;;
  esac
}

hint() {
  case $1 in
    node | npm) echo "see https://nodejs.org" ;;
    go) echo "it builds the real etcd and Kubernetes binaries of the test rig, see https://go.dev/dl" ;;
    *) echo "install it with the package manager of your system" ;;
  esac
}

for want in "$@"; do
  tool=${want%%=*}
  least=${want#*=}
  if ! command -v "$tool" >/dev/null; then
    complain "$tool is not installed; version $least or newer is wanted ($(hint "$tool"))"
    continue
  fi
  found=$(version_of "$tool")
  if [ "$(printf '%s\n%s\n' "$least" "$found" | sort -V | head -n 1)" != "$least" ]; then
    complain "$tool $least or newer is wanted, found ${found:-an unknown version} ($(hint "$tool"))"
  fi
done
exit $status
