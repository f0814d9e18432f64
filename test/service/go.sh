# Runs under the booted systemd; prints one line "NAME: VALUE" for each thing that was seen.
# /host has holdfast.deb, config.yaml and kubeconfig. Each wait ends by itself.
export DEBIAN_FRONTEND=noninteractive

show() { systemctl show -p "$1" --value holdfast; }
say() { echo "$1: $2"; }
# Waits for a property to have a value that matches.
wait_for() {
  for _ in $(seq 600); do
    [[ "$(show "$1")" =~ $2 ]] && return
    sleep 0.1
  done
  systemctl status --no-pager holdfast
  journalctl -o cat -n 60
  exit 1
}

dpkg -i /host/holdfast.deb > /host/dpkg.log 2>&1
say installed $?
say 'after the installation' "$(show ActiveState) $(systemctl is-enabled holdfast)"
stat -c 'configuration: %a' /etc/holdfast/config.yaml

# No API server: the start goes on for longer than it may without asking for more time.
cat > /etc/holdfast/config.yaml <<'CONFIG'
kind: HoldfastConfiguration
flags: { master: 'https://127.0.0.1:1', secure-port: 0 }
CONFIG
mkdir -p /run/systemd/system/holdfast.service.d
printf '[Service]\nTimeoutStartSec=2\n' > /run/systemd/system/holdfast.service.d/short.conf
systemctl daemon-reload
systemctl start --no-block holdfast
wait_for StatusText '^Waiting for the Lease'
sleep 4
say 'without an API server' "$(show ActiveState), started again $(show NRestarts) times"
systemctl stop holdfast
rm /run/systemd/system/holdfast.service.d/short.conf

cp /host/config.yaml /etc/holdfast/config.yaml
install -m 0600 /host/kubeconfig /etc/holdfast/kubeconfig
# So that a hang is noticed within the patience of a test.
mkdir -p /etc/systemd/system/holdfast.service.d
printf '[Service]\nWatchdogSec=3\n' > /etc/systemd/system/holdfast.service.d/quick.conf
systemctl daemon-reload

timeout 60 systemctl enable --now holdfast 2> /dev/null
say started $?
say state "$(show ActiveState) $(show SubState)"
wait_for StatusText '^Leading'
say status "$(show StatusText)"
stat -c 'directory: %a %n' /var/lib/holdfast /run/holdfast
say memory "$(show MemoryMax)"
say capabilities "$(sed -n 's/^CapEff:\s*//p' "/proc/$(show MainPID)/status")"

printf 'v: 3\n' >> /etc/holdfast/config.yaml
timeout 30 systemctl reload holdfast
say reloaded $?
# The signal is sent when that returns, not obeyed yet.
logged() { journalctl -u holdfast -o cat | grep -c "$1"; }
for _ in $(seq 300); do [ "$(logged 'log level" v=3')" = 0 ] || break; sleep 0.1; done
say 'log of the reload' "$(logged 'log level" v=3')"

kill -9 "$(show MainPID)"
wait_for NRestarts '^1$'
wait_for ActiveState '^active$'
wait_for StatusText '^Leading'
say 'after kill -9' "$(show StatusText)"
say 'led again at once' "$(logged instant)"

kill -STOP "$(show MainPID)"
wait_for NRestarts '^2$'
wait_for ActiveState '^active$'
say 'watchdog' "$(logged 'Watchdog timeout')"
wait_for StatusText '^Leading'
say 'after a hang' "$(show StatusText)"

dpkg -i /host/holdfast.deb >> /host/dpkg.log 2>&1
wait_for ActiveState '^active$'
say 'upgraded' "$(show ActiveState), restarted by systemd $(show NRestarts) times"

timeout 60 systemctl stop holdfast
say stopped "$? $(show Result)"
say 'exit status' "$(show ExecMainStatus)"
say 'kept in /run' "$(ls /run/holdfast | grep -c '^lease-')"

systemctl start holdfast
dpkg -r holdfast >> /host/dpkg.log 2>&1
say removed "$? $(systemctl is-active holdfast) $(ls /var/lib/holdfast/state.db)"
dpkg -P holdfast >> /host/dpkg.log 2>&1
say purged "$? $(ls -d /var/lib/holdfast /etc/systemd/system/multi-user.target.wants/holdfast.service 2>/dev/null | wc -l)"
journalctl -u holdfast -o cat > /host/journal.log
say end ok
