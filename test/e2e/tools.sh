#!/usr/bin/env bash
# What a real node takes from the system: runc, the CNI plugins, a static busybox and ip. As root on
# Debian they are installed if missing. Fails, naming what is still missing.
set -euo pipefail

static_busybox() {
  [ -x /bin/busybox ] && ! ldd /bin/busybox > /dev/null 2>&1
}

cni_plugins() {
  [ -x "$1/bridge" ] && [ -x "$1/host-local" ] && [ -x "$1/loopback" ]
}

missing() {
  command -v runc > /dev/null || echo runc
  cni_plugins /usr/lib/cni || cni_plugins /opt/cni/bin || echo containernetworking-plugins
  static_busybox || echo busybox-static
  command -v ip > /dev/null || echo iproute2
}

mapfile -t wanted < <(missing)
if [ "${#wanted[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing ${wanted[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${wanted[@]}"; } \
    > /dev/null || true
  mapfile -t wanted < <(missing)
fi
if [ "${#wanted[@]}" -gt 0 ]; then
  echo "no ${wanted[*]}"
  exit 1
fi
