/**
 * `make run`: a small real cluster with the compiled Holdfast and sample workloads, in .run/.
 * With --kubeconfig FILE the binary runs against that cluster instead. Arguments after -- are
 * handed to the manager. --manager=reference runs kube-controller-manager, to compare.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  binariesFolder,
  type Cluster,
  HoldfastManager,
  type Manager,
  REPOSITORY,
  simulateNodesApart,
  startCluster,
} from '../test/rig/index.ts';
import { howToLook } from './demo/look.ts';
import { applySample, scaleUp, showOthers, showPods, untilPods } from './demo/sample.ts';
import { endSession, RUN_FOLDER, runningSession, writeSession } from './demo/session.ts';

const NODES = 2;
const REPLICAS = 4;
const NEW_POD_TIMEOUT_MS = 120_000;

const { values, positionals: managerFlags } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    manager: { type: 'string', default: 'holdfast' },
  },
  allowPositionals: true,
});

let cluster: Cluster | undefined;
let manager: Manager | undefined;
let stopping = false;

function tell(line: string): void {
  console.log(line);
}

async function timed<T>(what: string, work: Promise<T>): Promise<T> {
  const since = performance.now();
  const result = await work;
  tell(`${what} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
  return result;
}

/** Stops all that was started here; .run/ stays for looking. */
async function stop(code: number): Promise<never> {
  if (!stopping) {
    stopping = true;
    tell('\nstopping …');
    await manager?.stop();
    await cluster?.stop();
    endSession();
    tell(`stopped; logs and state are in ${RUN_FOLDER}`);
    process.exit(code);
  }
  return new Promise<never>(() => undefined);
}

/** Starts the manager, on the state of the one before if there was one. */
async function startManager(on: Cluster): Promise<Manager> {
  const before = manager;
  const options = { flags: managerFlags, port: before?.port };
  manager =
    values.manager === 'reference'
      ? await on.startReference({ ...options, name: 'kube-controller-manager' })
      : await on.startHoldfast({
          ...options,
          name: 'holdfast',
          compiled: true,
          stateDir: before instanceof HoldfastManager ? before.stateDir : join(on.dir, 'state'),
          runtimeDir: before instanceof HoldfastManager ? before.runtimeDir : join(on.dir, 'run'),
        });
  writeSession({ owner: process.pid, manager: manager.pid });
  return manager;
}

/** Starts the manager again after a kill and shows how soon it works. */
async function carryOn(on: Cluster): Promise<void> {
  tell('\nThe manager was killed. A pod more is asked for while it is dead, then it starts again.');
  const wanted = await scaleUp(on);
  const since = performance.now();
  const next = await startManager(on);
  const serving = next.waitServing().then(() => performance.now() - since);
  const created = await untilPods(on, wanted, NEW_POD_TIMEOUT_MS);
  tell(`  serving after ${((await serving) / 1000).toFixed(2)} s`);
  tell(`  first new pod after ${(created / 1000).toFixed(2)} s`);
}

/** Keeps the manager running: after a kill -9 it starts again, after any other end all stops. */
async function keepRunning(on: Cluster): Promise<never> {
  for (;;) {
    const current = manager;
    if (current === undefined) throw new Error('no manager was started');
    const exit = await current.ended;
    if (stopping) return stop(0);
    if (exit.signal !== 'SIGKILL') {
      console.error(`the manager ended by itself (${exit.signal ?? `exit code ${exit.code}`})`);
      console.error(current.tail());
      return stop(1);
    }
    await carryOn(on);
    keysHelp();
  }
}

function keysHelp(): void {
  const kill = process.stdin.isTTY ? 'press k here' : '`make run-kill` in a second terminal';
  tell(`\nkill -9 it: ${kill}; stop everything: Ctrl-C`);
}

function listenToKeys(): void {
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(true);
  process.stdin.on('data', (keys: Buffer) => {
    const key = keys.toString();
    if (key === 'k') manager?.kill('SIGKILL');
    if (key === 'q' || key === '\u0003') void stop(0);
  });
}

async function runHere(): Promise<void> {
  const other = runningSession();
  if (other) throw new Error(`make run is running already (process ${other.owner}): stop it first`);
  rmSync(RUN_FOLDER, { recursive: true, force: true });
  mkdirSync(RUN_FOLDER, { recursive: true });
  tell('the real etcd and Kubernetes binaries: a few minutes the first time, then at once');
  const binaries = await timed('binaries ready', binariesFolder());
  const on = await timed('etcd and kube-apiserver run', startCluster({ dir: RUN_FOLDER }));
  cluster = on;
  const kubectl = `exec ${join(binaries, 'kubectl')} --kubeconfig ${on.kubeconfig()} "$@"\n`;
  writeFileSync(join(RUN_FOLDER, 'kubectl'), `#!/bin/sh\n${kubectl}`, { mode: 0o755 });
  await on.startScheduler();
  // Taints are cleared here so that a run with few controllers gets its pods scheduled too.
  const nodes = simulateNodesApart(on, { count: NODES, clearTaint: true });
  await timed(`${NODES} simulated nodes registered`, nodes);
  const first = await startManager(on);
  await timed(`${first.name} serves`, first.waitServing());
  tell(`a Deployment of ${REPLICAS} pods:`);
  await applySample(on, REPLICAS);
  const dead = first.ended.then(() => {
    throw new Error(`${first.name} ended before the pods were ready\n${first.tail()}`);
  });
  await Promise.race([showPods(on, REPLICAS, tell), dead]);
  tell('and the other samples:');
  await Promise.race([showOthers(on, REPLICAS, tell), dead]);
  dead.catch(() => undefined);
  tell(`\n${howToLook(on, first)}`);
  listenToKeys();
  keysHelp();
  await keepRunning(on);
}

/** Runs the binary against a cluster that is there already, in the foreground. */
async function runAgainst(kubeconfig: string): Promise<void> {
  const path = resolve(kubeconfig);
  if (!existsSync(path)) throw new Error(`KUBECONFIG=${kubeconfig}: no such file`);
  const at = join(REPOSITORY, '.run', 'against');
  tell(`running dist/holdfast against ${path}; its state is in ${at}, Ctrl-C ends it`);
  tell('it waits for the Lease kube-system/kube-controller-manager like any second manager');
  const run = Bun.spawn(
    [
      join(REPOSITORY, 'dist', 'holdfast'),
      `--kubeconfig=${path}`,
      `--authentication-kubeconfig=${path}`,
      `--authorization-kubeconfig=${path}`,
      `--state-dir=${join(at, 'state')}`,
      `--state-runtime-dir=${join(at, 'run')}`,
      ...managerFlags,
    ],
    { stdio: ['inherit', 'inherit', 'inherit'] },
  );
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => run.kill('SIGTERM'));
  process.exit(await run.exited);
}

try {
  if (values.kubeconfig !== undefined) {
    await runAgainst(values.kubeconfig);
  } else {
    process.on('SIGINT', () => void stop(0));
    process.on('SIGTERM', () => void stop(0));
    await runHere();
  }
} catch (error) {
  if (!stopping) {
    console.error(error instanceof Error ? error.message : error);
    await stop(1);
  }
}
