#!/usr/bin/env bash
# `make e2e`: runs the tests of this folder in namespaces of their own (processes, mounts, network)
# under control groups of their own, so that whatever they start ends with them and no bridge, mount
# or process of theirs is ever the machine's. Says why where a machine can't. Arguments are handed on
# to `bun test`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
name=holdfast-e2e-$$
work=${TMPDIR:-/tmp}/$name

skip() {
  echo "skipped: containers on real nodes ($1)"
  exit 0
}

# Where control groups are made: the hierarchies of version 1 and, beside or instead of them, that of
# version 2, where runc makes groups too.
hierarchies() {
  awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/self/mounts
}

# Groups of a run lose their name when the last process is gone, a moment after it was killed.
remove_groups() {
  local top attempt
  for top in $(hierarchies); do
    for attempt in {1..50}; do
      [ -d "$top/$1" ] || break
      find "$top/$1" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.1
    done
    [ ! -d "$top/$1" ] || echo "left behind: the control group $top/$1" >&2
  done
}

# What a run that was killed with -9 could not remove any more.
remove_stale() {
  local path one
  for path in "${TMPDIR:-/tmp}"/holdfast-e2e-[0-9]*; do
    one=${path##*/}
    if [ ! -d "$path" ] || [ -e "/proc/${one##*-}" ] || [ -e "$path/keep" ]; then continue; fi
    remove_groups "$one"
    rm -rf -- "$path"
  done
}

tidy() {
  remove_groups "$name"
  if [ "${HOLDFAST_RIG_KEEP:-}" = 1 ]; then
    touch "$work/keep"
    echo "kept: $work" >&2
  else
    # Who was killed a moment ago may still write.
    for _ in {1..20}; do
      rm -rf -- "$work" 2> /dev/null && break
      sleep 0.2
    done
  fi
}

[ "$(id -u)" = 0 ] || skip 'not root'
for tool in unshare nsenter setpriv flock awk; do
  command -v "$tool" > /dev/null || skip "no $tool"
done
grep -qw overlay /proc/filesystems || skip 'no overlay file system'
lack=$("$here/tools.sh") || skip "$lack"
[ -n "$(hierarchies)" ] || skip 'no control groups'
remove_stale
mkdir -m 0700 "$work"
trap tidy EXIT
for top in $(hierarchies); do
  mkdir "$top/$name" 2> /dev/null || skip "control groups can not be made in $top"
done
apart=(unshare --mount --net --pid --fork --mount-proc --kill-child)
"${apart[@]}" ip link add probe type bridge 2> /dev/null || skip 'no namespaces, or no bridges in them'
"${apart[@]}" ip link add probe type veth 2> /dev/null || skip 'no pairs of network interfaces'

bin=$("$here/build.sh")
test/rig/build.sh > /dev/null
export HOLDFAST_E2E_GROUP=$name HOLDFAST_E2E_BIN=$bin TMPDIR=$work
inside='ip link set lo up; "$@"; exit $?'
setpriv --pdeathsig KILL "${apart[@]}" bash -c "$inside" e2e \
  node_modules/.bin/bun test --timeout=600000 "$@" test/e2e < /dev/null &
started=$!
trap 'kill -KILL $started 2> /dev/null || true' INT TERM
status=0
wait "$started" || status=$?
exit "$status"
