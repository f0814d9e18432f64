#!/usr/bin/env bash
# Builds the rig's real binaries (etcd, kube-apiserver, kube-scheduler, kubectl and the reference
# kube-controller-manager) from pinned Go modules into a cache outside the tree, keyed by the pins.
# Prints the folder of the binaries as its last line on stdout; progress goes to stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -nE "s|^\tk8s.io/kubernetes (v[0-9.]+).*|\1|p" "$here/go.mod" | head -n 1)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" | sha256sum | cut -c1-16)
cache=${HOLDFAST_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-rig}
bin=$cache/$key
mkdir -p "$bin"
exec 9>"$cache/$key.lock"
flock 9

say() { echo "rig: $*" >&2; }
minor=${version#v1.}
minor=${minor%%.*}
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor"
flags="$flags -X $stamp.gitTreeState=clean -X $stamp.gitCommit=0000000000000000000000000000000000000000"
flags="$flags -X $stamp.buildDate=2026-01-01T00:00:00Z"

build() {
  local name=$1 package=$2 guess=$3
  if [ -x "$bin/$name" ]; then return 0; fi
  local started=$SECONDS
  say "building $name $version (the first time takes about $guess on two cores)"
  (cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$bin/$name.part" "$package") >&2
  mv "$bin/$name.part" "$bin/$name"
  say "built $name in $((SECONDS - started)) s"
}

build etcd go.etcd.io/etcd/server/v3 "30 s"
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver "7 min"
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager "2 min"
build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler "30 s"
build kubectl k8s.io/kubernetes/cmd/kubectl "45 s"
echo "$bin"
