#!/usr/bin/env bash
# Builds what a real node is made of into the rig's cache, keyed by the pins: containerd, its runc
# shim and ctr, the kubelet of the rig's Kubernetes version, and the pause program.
# Prints the folder of the binaries as its last line on stdout; progress goes to stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
containerd=github.com/containerd/containerd/v2
version=$(sed -nE "s|^(require )?\s*$containerd (v[0-9.]+).*|\2|p" "$here/go.mod" | head -n 1)
kubernetes=$(sed -nE "s|^\tk8s.io/kubernetes (v[0-9.]+).*|\1|p" "$here/kubelet/go.mod" | head -n 1)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" "$here/pause/main.go" \
  "$here/kubelet/go.mod" "$here/kubelet/go.sum" | sha256sum | cut -c1-16)
cache=${HOLDFAST_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-rig}
bin=$cache/$key
mkdir -p "$bin"
exec 9>"$cache/$key.lock"
flock 9

say() { echo "rig: $*" >&2; }
if ! grep -q "k8s.io/kubernetes $kubernetes\b" "$here/../rig/go.mod"; then
  say "test/e2e/kubelet/go.mod wants Kubernetes $kubernetes, test/rig/go.mod another: change both"
  exit 1
fi

build() {
  local folder=$1 name=$2 package=$3 flags=$4 guess=$5
  if [ -x "$bin/$name" ]; then return 0; fi
  local started=$SECONDS
  say "building $name (the first time takes about $guess on two cores)"
  (cd "$folder" && CGO_ENABLED=0 go build -trimpath -tags 'no_btrfs no_devmapper no_zfs' \
    -ldflags "-s -w $flags" -o "$bin/$name.part" "$package") >&2
  mv "$bin/$name.part" "$bin/$name"
  say "built $name in $((SECONDS - started)) s"
}

minor=${kubernetes#v1.}
minor=${minor%%.*}
stamp=k8s.io/component-base/version
flags="-X $stamp.gitVersion=$kubernetes -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor"
flags="$flags -X $stamp.gitTreeState=clean -X $stamp.buildDate=2026-01-01T00:00:00Z"
flags="$flags -X $stamp.gitCommit=0000000000000000000000000000000000000000"

build "$here" containerd $containerd/cmd/containerd "-X $containerd/version.Version=$version" "3 min"
build "$here" containerd-shim-runc-v2 $containerd/cmd/containerd-shim-runc-v2 "" "20 s"
build "$here" ctr $containerd/cmd/ctr "-X $containerd/version.Version=$version" "20 s"
build "$here" pause ./pause "" "5 s"
build "$here/kubelet" kubelet k8s.io/kubernetes/cmd/kubelet "$flags" "2 min"
echo "$bin"
