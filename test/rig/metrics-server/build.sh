#!/usr/bin/env bash
# Builds the real metrics-server from its pinned Go module into the rig's cache, keyed by the pin.
# Prints the folder of the binary as its last line on stdout; progress goes to stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -nE "s|^\tsigs.k8s.io/metrics-server (v[0-9.]+).*|\1|p" "$here/go.mod" | head -n 1)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" | sha256sum | cut -c1-16)
cache=${HOLDFAST_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-rig}
bin=$cache/$key
mkdir -p "$bin"
exec 9>"$cache/$key.lock"
flock 9

flags="-s -w -X k8s.io/client-go/pkg/version.gitVersion=$version"
if [ ! -x "$bin/metrics-server" ]; then
  started=$SECONDS
  echo "rig: building metrics-server $version (the first time takes about 2 min on two cores)" >&2
  (cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags "$flags" \
    -o "$bin/metrics-server.part" sigs.k8s.io/metrics-server/cmd/metrics-server) >&2
  mv "$bin/metrics-server.part" "$bin/metrics-server"
  echo "rig: built metrics-server in $((SECONDS - started)) s" >&2
fi
echo "$bin"
