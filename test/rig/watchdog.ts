/**
 * A tiny process that outlives us by a moment: it kills the process groups and removes the folders
 * it was told of as soon as its standard input closes, which the kernel does however we die.
 */

const SCRIPT = `
trap '' INT TERM HUP
pids=' '
while read -r verb arg; do
  case $verb in
    add) pids="$pids$arg " ;;
    del) case $pids in *" $arg "*) pids="\${pids%% $arg *} \${pids#* $arg }" ;; esac ;;
    dir) set -- "$@" "$arg" ;;
  esac
done
for pid in $pids; do kill -s KILL -- "-$pid" 2>/dev/null; done
for dir in "$@"; do
  for attempt in 1 2 3 4 5; do rm -rf -- "$dir" 2>/dev/null && break; sleep 0.2; done
done
`;

type Sink = { write(text: string): unknown; flush(): unknown };

const processes = new Set<number>();
const folders = new Set<string>();
let sink: Sink | undefined;

function start(): Sink {
  const dog = Bun.spawn(['/bin/sh', '-c', SCRIPT, 'rig-watchdog'], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    detached: true,
  });
  dog.unref();
  const stdin = dog.stdin as Sink;
  // `bun test` kills every process it can see when a test times out, this one too.
  void dog.exited.then(() => {
    sink = undefined;
    if (processes.size + folders.size > 0) sink = start();
  });
  for (const pid of processes) stdin.write(`add ${pid}\n`);
  for (const path of folders) stdin.write(`dir ${path}\n`);
  stdin.flush();
  return stdin;
}

function say(line: string): void {
  if (sink === undefined) {
    sink = start();
    return;
  }
  sink.write(`${line}\n`);
  sink.flush();
}

/** From now on the process group `pid` dies with this process. */
export function guardProcess(pid: number): void {
  processes.add(pid);
  say(`add ${pid}`);
}

/** The process group is gone: its number may be somebody else's soon. */
export function releaseProcess(pid: number): void {
  processes.delete(pid);
  say(`del ${pid}`);
}

/** From now on the folder is removed when this process ends. */
export function guardFolder(path: string): void {
  folders.add(path);
  say(`dir ${path}`);
}
