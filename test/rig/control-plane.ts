/** etcd and kube-apiserver of one rig: their command lines, and starting them until they answer. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Api } from './api.ts';
import { apiServerBinary, binary, EMULATED_VERSION, kineBinary } from './binaries.ts';
import { Child } from './child.ts';
import type { ClusterFiles } from './identities.ts';

const READY_TIMEOUT_MS = 90_000;
const LOOK_EVERY_MS = 40;

/** Ports of one control plane. */
export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
}

async function waitReady(child: Child, what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  let last = 'no answer yet';
  while (performance.now() < deadline) {
    if (!child.running) throw new Error(`${what} ended while starting\n${child.tail()}`);
    try {
      if (await look()) return;
      last = 'it answers that it is not ready';
    } catch (error) {
      last = String(error);
    }
    await Bun.sleep(LOOK_EVERY_MS);
  }
  throw new Error(`${what} was not ready after ${READY_TIMEOUT_MS} ms (${last})\n${child.tail()}`);
}

/** Starts etcd on the given data folder and waits until it is healthy. */
export async function startEtcd(dir: string, dataDir: string, ports: Ports): Promise<Child> {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  const child = new Child({
    name: 'etcd',
    logPath: join(dir, 'etcd.log'),
    cwd: dir,
    command: [
      await binary('etcd'),
      '--name=rig',
      `--data-dir=${dataDir}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=rig=${peer}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
  });
  await waitReady(child, 'etcd', async () => {
    const answer = await fetch(`${client}/health`, { proxy: false });
    return answer.ok && (await answer.text()).includes('"health":"true"');
  });
  return child;
}

/**
 * Starts kine over an SQLite file in the given data folder, as k3s does, in the place of etcd, and
 * waits until it answers.
 */
export async function startKine(dir: string, dataDir: string, ports: Ports): Promise<Child> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'state.db');
  const child = new Child({
    name: 'kine',
    logPath: join(dir, 'kine.log'),
    cwd: dir,
    command: [
      await kineBinary(),
      `--endpoint=sqlite://${file}?_journal=WAL&cache=shared&_busy_timeout=30000`,
      `--listen-address=127.0.0.1:${ports.etcd}`,
      '--metrics-bind-address=0',
    ],
  });
  await waitReady(child, 'kine', async () => await listens(ports.etcd));
  return child;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

export interface ApiServerOptions {
  readonly dir: string;
  readonly files: ClusterFiles;
  readonly ports: Ports;
  readonly audit: boolean;
  readonly flags: readonly string[];
  readonly api: Api;
}

function apiServerFlags({ files, ports, audit }: ApiServerOptions): string[] {
  const auditFlags = [
    `--audit-policy-file=${files.auditPolicy}`,
    `--audit-log-path=${files.auditLog}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=10000',
  ];
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--secure-port=${ports.apiServer}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--client-ca-file=${files.ca}`,
    `--tls-cert-file=${files.servingCert}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${files.frontProxyCert}`,
    `--proxy-client-key-file=${files.frontProxyKey}`,
    '--endpoint-reconciler-type=none',
    '--enable-aggregator-routing=true',
    ...(audit ? auditFlags : []),
    ...(EMULATED_VERSION === undefined ? [] : [`--emulated-version=${EMULATED_VERSION}`]),
  ];
}

/** Starts kube-apiserver and waits until /readyz says ok. */
export async function startApiServer(options: ApiServerOptions): Promise<Child> {
  const child = new Child({
    name: 'kube-apiserver',
    logPath: join(options.dir, 'kube-apiserver.log'),
    cwd: options.dir,
    command: [await apiServerBinary(), ...apiServerFlags(options), ...options.flags],
  });
  await waitReady(child, 'kube-apiserver', async () => {
    const answer = await options.api.raw('/readyz');
    await answer.text();
    return answer.ok;
  });
  return child;
}
