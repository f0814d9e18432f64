#!/usr/bin/env bash
# Boots the machine's own systemd as pid 1 of new namespaces, over a throw-away copy of the file
# system, with no services but one that runs FOLDER/go.sh and then ends it. FOLDER is /host inside.
# Usage, as root: boot.sh FOLDER
set -euo pipefail

folder=$(realpath "$1")
name=holdfast-boot-$$

if [ "${2:-}" = inside ]; then
  root=$folder/root
  mount --make-rprivate /
  mkdir -p "$folder/layer" "$root"
  mount -t tmpfs tmpfs "$folder/layer"
  mkdir "$folder/layer/upper" "$folder/layer/work"
  mount -t overlay overlay \
    -o "lowerdir=/,upperdir=$folder/layer/upper,workdir=$folder/layer/work" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  for one in run tmp dev; do mount -t tmpfs -o mode=0755 tmpfs "$root/$one"; done
  for one in null zero full random urandom tty; do
    cp -a "/dev/$one" "$root/dev/$one"
  done
  mkdir -p "$root/dev/shm" "$root/dev/pts"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  chmod 1777 "$root/tmp" "$root/dev/shm"
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  else
    mount -t tmpfs -o mode=0755 tmpfs "$root/sys/fs/cgroup"
    mkdir "$root/sys/fs/cgroup/"{systemd,unified,memory,pids}
    for one in memory pids; do mount -t cgroup -o $one cgroup "$root/sys/fs/cgroup/$one"; done
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
  fi
  units=$root/etc/systemd/system
  rm -rf "${units:?}"/*
  : > "$root/etc/fstab"
  for one in systemd-udevd.service systemd-udev-trigger.service systemd-remount-fs.service \
    systemd-sysctl.service systemd-modules-load.service systemd-random-seed.service \
    dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
    avahi-daemon.service avahi-daemon.socket cryptsetup.target; do
    ln -s /dev/null "$units/$one"
  done
  mkdir -p "$root/host" "$units/go.target.wants"
  mount --bind "$folder" "$root/host"
  printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' > "$units/go.target"
  cat > "$units/go.service" <<'UNIT'
[Unit]
After=basic.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/bash /host/go.sh
ExecStopPost=/bin/systemctl exit --force
StandardOutput=append:/host/go.log
StandardError=append:/host/go.log
UNIT
  ln -s ../go.service "$units/go.target.wants/go.service"
  mkdir "$root/oldroot"
  cd "$root"
  pivot_root . oldroot
  umount -l /oldroot
  exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=go.target --log-target=journal --show-status=no
fi

# The namespace of control groups begins where this process is: in groups of its own.
groups=(/sys/fs/cgroup)
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
  groups=(/sys/fs/cgroup/{systemd,unified,memory,pids})
fi
for group in "${groups[@]}"; do
  mkdir "$group/$name"
  echo $$ > "$group/$name/cgroup.procs"
done
tidy() {
  for group in "${groups[@]}"; do
    echo $$ > "$group/cgroup.procs"
    find "$group/$name" -depth -type d -exec rmdir {} + || true
  done
}
trap tidy EXIT
unshare --mount --pid --fork --ipc --uts --cgroup --kill-child bash "$0" "$folder" inside
