#!/usr/bin/env bash
# Builds the kube-apiserver of another Kubernetes version, given as 1.35, from its pinned Go module
# into the rig's cache, keyed by the pin. Prints the folder of the binary as its last line on stdout;
# progress goes to stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wanted=${1:-}
if [ -z "$wanted" ] || [ ! -f "$here/$wanted/go.mod" ]; then
  there=$(cd "$here" && printf '%s ' */go.mod | sed 's|/go.mod||g')
  echo "rig: no kube-apiserver \"$wanted\" is pinned; these are: ${there% }" >&2
  exit 1
fi
module=$here/$wanted
version=$(sed -nE "s|^\tk8s.io/kubernetes (v[0-9.]+).*|\1|p" "$module/go.mod" | head -n 1)
key=$(cat "$module/go.mod" "$module/go.sum" "$here/build.sh" | sha256sum | cut -c1-16)
cache=${HOLDFAST_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-rig}
bin=$cache/$key
mkdir -p "$bin"
exec 9>"$cache/$key.lock"
flock 9

stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=${wanted#1.}"
flags="$flags -X $stamp.gitTreeState=clean -X $stamp.gitCommit=0000000000000000000000000000000000000000"
flags="$flags -X $stamp.buildDate=2026-01-01T00:00:00Z"
if [ ! -x "$bin/kube-apiserver" ]; then
  started=$SECONDS
  echo "rig: building kube-apiserver $version (the first time takes about 7 min on two cores)" >&2
  (cd "$module" && CGO_ENABLED=0 go build -trimpath -ldflags "$flags" \
    -o "$bin/kube-apiserver.part" k8s.io/kubernetes/cmd/kube-apiserver) >&2
  mv "$bin/kube-apiserver.part" "$bin/kube-apiserver"
  echo "rig: built kube-apiserver in $((SECONDS - started)) s" >&2
fi
echo "$bin"
