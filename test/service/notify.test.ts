/** What systemd hears of a whole process on a real cluster: leading, standing by, reload, stop. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Listener, listen } from '../../src/service/testing/listener.ts';
import { type Cluster, eventually, type HoldfastManager, startCluster } from '../rig/index.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;
let serial = 0;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster?.stop());

class Systemd {
  readonly heard: string[] = [];
  readonly config: string;
  readonly #listener: Listener;
  readonly #name: string;

  constructor() {
    this.#name = join(cluster.dir, `notify-${++serial}`);
    this.config = join(cluster.dir, `config-${serial}.yaml`);
    this.#listener = listen(this.#name);
    this.configure('v: 1');
  }

  configure(flags: string): void {
    writeFileSync(this.config, `kind: HoldfastConfiguration\n${flags}\n`);
  }

  start(compiled = false): Promise<HoldfastManager> {
    return cluster.startHoldfast({
      compiled,
      flags: ['--controllers=replicaset', `--config=${this.config}`],
      env: { NOTIFY_SOCKET: this.#name, WATCHDOG_USEC: '400000' },
    });
  }

  /** Waits for a line; gives everything up to it and forgets that. */
  async until(line: string | RegExp): Promise<string[]> {
    const matches = (one: string) => (typeof line === 'string' ? one === line : line.test(one));
    await eventually(
      () => {
        this.heard.push(...this.#listener.read());
        return this.heard.some(matches);
      },
      { describe: `systemd hears ${line}`, everyMs: 10 },
    );
    return this.heard.splice(0, this.heard.findIndex(matches) + 1);
  }
}

test('ready when leading and when standing by, a reload, the watchdog, the stop', async () => {
  const first = new Systemd();
  const leader = await first.start();
  const starting = await first.until('READY=1');
  expect(starting[0]).toBe('STATUS=Starting');
  expect(starting).toContain('EXTEND_TIMEOUT_USEC=30000000');
  await first.until('STATUS=Leading kube-system/kube-controller-manager');
  await first.until('WATCHDOG=1');

  const second = new Systemd();
  const standby = await second.start();
  await second.until('READY=1');
  await second.until(/^STATUS=Standing by, .+ leads$/);
  await second.until('WATCHDOG=1');

  first.configure('v: 4');
  leader.kill('SIGHUP');
  await first.until('RELOADING=1');
  const reloading = await first.until('READY=1');
  expect(reloading[0]).toMatch(/^MONOTONIC_USEC=[1-9]\d*$/);
  expect(leader.log()).toContain('"Reloaded the certificates and the log level" v=4');

  leader.kill('SIGTERM');
  await first.until('STOPPING=1');
  await first.until('STATUS=Stopping: SIGTERM');
  expect(await leader.waitExit()).toEqual({ code: 0, signal: null });
  await second.until('STATUS=Leading kube-system/kube-controller-manager');
  expect(second.heard).not.toContain('READY=1');
  expect((await standby.stop()).code).toBe(0);
});

test('a start that waits for the API server is not ready and asks for patience', async () => {
  const systemd = new Systemd();
  const { kubeconfig } = await deadServer();
  const process = await cluster.startHoldfast({
    kubeconfig,
    env: { NOTIFY_SOCKET: join(cluster.dir, `notify-${serial}`) },
    flags: ['--controllers=replicaset'],
  });
  await systemd.until(/^STATUS=Waiting for the Lease/);
  const waited = [
    ...(await systemd.until(/^EXTEND_TIMEOUT/)),
    ...(await systemd.until(/^EXTEND_TIMEOUT/)),
  ];
  expect(waited).not.toContain('READY=1');
  expect((await process.stop()).code).toBe(0);
});

/** A kubeconfig of a server where nobody listens. */
async function deadServer(): Promise<{ kubeconfig: string }> {
  const path = join(cluster.dir, 'dead.kubeconfig');
  const text = await Bun.file(cluster.kubeconfig('kube-controller-manager')).text();
  writeFileSync(path, text.replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:1'));
  return { kubeconfig: path };
}
