/** Asks a real kube-controller-manager what it says to a command line, for fixtures. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a manager said to a command line that it was given. */
export interface Answer {
  readonly args: readonly string[];
  /** "Error: x" of bad syntax, "command failed: x" of anything later, "accepted". */
  readonly says: string;
  /** Lines about deprecated flags. */
  readonly notices?: readonly string[];
}

/** What a manager that runs with a command line shows of it. */
export interface Shown {
  readonly args: readonly string[];
  readonly configz: object;
  readonly flagz: Readonly<Record<string, string>>;
  readonly gates: Readonly<Record<string, boolean>>;
}

/** Flags that the capture itself needs; left out of what is compared. */
export const CAPTURE_FLAGS: readonly string[] = [
  'authorization-always-allow-paths',
  'bind-address',
  'kubeconfig',
  'secure-port',
];

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
const COMMAND_FAILED = /"command failed" err=("(?:[^"\\]|\\.)*")/;
const TRIES_MAX = 80;
const TRY_DELAY_MS = 250;
const TIME_LIMIT_MS = 10_000;

function freePort(): number {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: () => undefined },
  });
  const { port } = listener;
  listener.stop(true);
  return port;
}

function kubeconfigFile(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'reference-')), 'kubeconfig');
  writeFileSync(file, KUBECONFIG);
  return file;
}

function saysOf(stderr: string, code: number | null, acceptedEnd: string): string {
  const failed = COMMAND_FAILED.exec(stderr)?.[1];
  if (failed !== undefined) {
    const text = JSON.parse(failed) as string;
    return text === acceptedEnd ? 'accepted' : `command failed: ${text}`;
  }
  const error = stderr.slice(stderr.search(/^Error: /m)).trimEnd();
  return error === '' ? `exit ${code}` : error;
}

/** Its answer to a command line which it refuses, or which ends for want of a kubeconfig. */
export function ask(binary: string, args: readonly string[], late: boolean): Answer {
  const needed = late
    ? [
        `--kubeconfig=${kubeconfigFile()}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${freePort()}`,
      ]
    : ['--kubeconfig=/nonexistent'];
  const run = Bun.spawnSync([binary, ...needed, ...args], { timeout: TIME_LIMIT_MS });
  const stderr = run.stderr.toString();
  const notices = stderr.split('\n').filter((line) => line.startsWith('Flag --'));
  const says = saysOf(stderr, run.exitCode, 'stat /nonexistent: no such file or directory');
  return notices.length === 0 ? { args, says } : { args, says, notices };
}

function get(port: number, path: string): string | undefined {
  const url = `https://127.0.0.1:${port}${path}`;
  const run = Bun.spawnSync(['curl', '-skf', '-m', '5', url]);
  return run.exitCode === 0 ? run.stdout.toString() : undefined;
}

function gatesOf(metrics: string): Record<string, boolean> {
  const gates: Record<string, boolean> = {};
  for (const match of metrics.matchAll(/^kubernetes_feature_enabled\{name="(\w+)".*\} ([01])$/gm)) {
    gates[match[1] ?? ''] = match[2] === '1';
  }
  return gates;
}

function flagzOf(text: string): Record<string, string> {
  const lines = text
    .split('\n')
    .slice(3)
    .filter((line) => line !== '');
  const separator = /^allocate-node-cidrs(\W+?)(?:true|false)$/.exec(lines[0] ?? '')?.[1] ?? ' ';
  const pairs = lines.map((line) => {
    const at = line.indexOf(separator);
    return [line.slice(0, at), line.slice(at + separator.length)];
  });
  return Object.fromEntries(pairs.filter(([name]) => !CAPTURE_FLAGS.includes(name ?? '')));
}

/** Starts it with a command line (without a cluster), reads what it shows, and stops it. */
export function show(binary: string, args: readonly string[]): Shown {
  const port = freePort();
  const needed = [
    `--kubeconfig=${kubeconfigFile()}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--authorization-always-allow-paths=/*',
  ];
  const process = Bun.spawn([binary, ...needed, ...args], { stdout: 'ignore', stderr: 'ignore' });
  try {
    let configz: string | undefined;
    for (let tries = 0; configz === undefined && tries < TRIES_MAX; tries += 1) {
      Bun.sleepSync(TRY_DELAY_MS);
      configz = get(port, '/configz');
    }
    const config = JSON.parse(configz ?? '{}')['kubecontrollermanager.config.k8s.io'];
    config.Generic.ClientConnection.kubeconfig = '';
    return {
      args,
      configz: config,
      flagz: flagzOf(get(port, '/flagz') ?? ''),
      gates: gatesOf(get(port, '/metrics') ?? ''),
    };
  } finally {
    process.kill();
  }
}

/** The text of --help on a terminal of so many columns, from "Usage:" on. */
export function helpOnTerminal(binary: string, columns: number): string {
  const command = `stty cols ${columns}; exec ${binary} --help`;
  const run = Bun.spawnSync(['script', '-qec', command, '/dev/null']);
  const text = run.stdout.toString().replaceAll('\r', '');
  return text.slice(text.indexOf('Usage:\n'));
}
