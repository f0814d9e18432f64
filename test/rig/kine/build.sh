#!/usr/bin/env bash
# Builds kine, k3s's stand-in for etcd over SQLite, from its pinned Go module into the rig's cache,
# keyed by the pin. It wants a C compiler. Prints the folder of the binary as its last line on
# stdout; progress goes to stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -nE "s|^\tgithub.com/k3s-io/kine (v[0-9.]+).*|\1|p" "$here/go.mod" | head -n 1)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" | sha256sum | cut -c1-16)
cache=${HOLDFAST_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-rig}
bin=$cache/$key
mkdir -p "$bin"
exec 9>"$cache/$key.lock"
flock 9

if [ ! -x "$bin/kine" ]; then
  started=$SECONDS
  echo "rig: building kine $version (the first time takes about 5 min on two cores)" >&2
  (cd "$here" && CGO_ENABLED=1 go build -trimpath -ldflags "-s -w" -o "$bin/kine.part" github.com/k3s-io/kine) >&2
  mv "$bin/kine.part" "$bin/kine"
  echo "rig: built kine in $((SECONDS - started)) s" >&2
fi
echo "$bin"
