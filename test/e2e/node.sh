#!/usr/bin/env bash
# Is a node: process 1 of its own namespaces, with containerd and a kubelet on their usual paths. What
# they write to /etc and /var goes to layers in DIR, /run is empty as after a boot. Ends when one of
# them does; whoever kills it takes every container with it.
# Usage: node.sh DIR BIN KUBELET-FLAG...
set -euo pipefail
dir=$1 bin=$2
shift 2

for one in etc var; do
  mkdir -p "$dir/over/$one" "$dir/work/$one"
  mount -t overlay overlay \
    -o "lowerdir=/$one,upperdir=$dir/over/$one,workdir=$dir/work/$one" "/$one"
done
mount -t tmpfs -o mode=0755 tmpfs /run
for one in containerd kubelet; do
  mkdir -p "$dir/$one" "/var/lib/$one"
  mount --bind "$dir/$one" "/var/lib/$one"
done
mkdir -p /etc/containerd /etc/cni/net.d
cp "$dir/containerd.toml" /etc/containerd/config.toml
cp "$dir/cni.conflist" /etc/cni/net.d/10-pods.conflist
if [ -d "$dir/kubernetes" ]; then
  mkdir -p /etc/kubernetes
  mount --bind "$dir/kubernetes" /etc/kubernetes
fi

# The kubelet wants these, and sets what is not so: it is shown them, and the machine keeps its own.
show() {
  mkdir -p /run/shown
  echo "$2" > "/run/shown/${1//\//.}"
  mount --bind "/run/shown/${1//\//.}" "/proc/sys/$1"
}
show vm/overcommit_memory 1
show vm/panic_on_oom 0
show kernel/panic 10
show kernel/panic_on_oops 1
show kernel/keys/root_maxkeys 1000000
show kernel/keys/root_maxbytes 25000000

export PATH=$bin:$PATH
containerd >> "$dir/containerd.log" 2>&1 &
daemon=$!
for _ in {1..300}; do
  if ctr version > /dev/null 2>&1; then break; fi
  kill -0 $daemon 2> /dev/null || break
  sleep 0.1
done
for image in "$dir"/../images/*.tar; do
  ctr --namespace k8s.io images import --local "$image" >> "$dir/containerd.log" 2>&1
done
kubelet "$@" >> "$dir/kubelet.log" 2>&1 &
status=0
wait -n || status=$?
echo "containerd or the kubelet ended: $status"
exit 1
